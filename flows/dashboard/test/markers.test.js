import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inside } from '../../lib/building/geometry.js';
import { LIFT_PX, MARKER_PX, createMarkers, drawnRooms, markerWidth, short } from '../src/lib/markers.js';
import { createSeating, seatsOf } from '../src/lib/seats.js';

const level = { width_m: 60, height_m: 36, rooms: [
  { id: 'hall', name: 'Hall', kind: 'room', limit: 40, polygon: [[0, 0], [20, 0], [20, 12], [0, 12]] },
  { id: 'ell', name: 'Ell', kind: 'lobby', limit: null, polygon: [[20, 0], [60, 0], [60, 36], [40, 36], [40, 12], [20, 12]] },
] };
const rooms = drawnRooms(level);
const crowd = (count, room = 'hall', from = 0) => Array.from({ length: count }, (_, i) => (
  { id: String(from + i), room, since: 0, ts: 0, state: i % 10 ? 'present' : 'stale' }));
const ids = (count) => Array.from({ length: count }, (_, i) => `sda-${i}`);

test('seats are inside, apart from each other, and off the name', () => {
  for (const room of rooms) {
    for (const step of [3.2, 1.1, 0.35]) {
      const seats = seatsOf(room, step, 1.3);
      assert.ok(seats.length > 5);
      const { x, y, width, height } = room.taken;
      for (const seat of seats) {
        assert.ok(inside(room.polygon, seat));
        assert.ok(!(seat[0] > x && seat[0] < x + width && seat[1] > y && seat[1] < y + height));
      }
      const [first, second] = [...seats].sort((a, b) => a[1] - b[1] || a[0] - b[0]);
      assert.ok(Math.hypot(first[0] - second[0], first[1] - second[1]) >= step);
    }
  }
});

test('no seat is on a gateway', () => {
  const [hall] = drawnRooms({ ...level, gateways: [{ room: 'hall', x_m: 10, y_m: 6 }] });
  assert.deepEqual(hall.avoid, [[10, 30]]);
  assert.ok(seatsOf(hall, 2, 1.3).every(([x, y]) => Math.hypot(x - 10, y - 30) >= 1.2));
  const ages = seatsOf(hall, 2, 1.3).map(([x, y]) => [x, y + 1]);
  assert.ok(ages.every(([x, y]) => Math.hypot(x - 10, y - 30) >= 1.2), 'nor is the age below somebody');
});

test('on a phone the name and number of a room stay free while there are other seats, and no seat is lost', () => {
  const [hall] = rooms;
  const { x, y, width, height } = hall.small;
  const covers = ([seatX, seatY]) => seatX > x && seatX < x + width && seatY > y && seatY < y + height;
  const everywhere = { ...hall, small: undefined };
  for (const step of [3.2, 2.1, 1.1]) {
    const seats = seatsOf(hall, step, 1.3);
    assert.deepEqual([...seats].sort(), seatsOf(everywhere, step, 1.3).sort(), 'none is lost');
    assert.ok(seats.some(covers), 'else this tries nothing');
    const seat = (room, count) => [...createSeating(new Map([['hall', room]]), 1.3).seat('hall', ids(count)).places.values()];
    const free = seats.filter((one) => !covers(one)).length;
    assert.equal(seat(hall, 5).filter(covers).length, 0);
    assert.equal(new Set(seat(hall, free).map(String)).size, free);
  }
  assert.ok(createSeating(new Map([['hall', hall]]), 1.3).seat('hall', ids(40)).places.size === 40);
});

test('people keep their seats while others come and go', () => {
  const seating = createSeating(new Map(rooms.map((room) => [room.id, room])), 1.3);
  const before = seating.seat('hall', ids(12)).places;
  const without = ids(12).filter((id) => id !== 'sda-3');
  const after = seating.seat('hall', [...without, 'new']).places;
  for (const id of without) assert.deepEqual(after.get(id), before.get(id));
  const seats = [...after.values()].map(String);
  assert.equal(new Set(seats).size, seats.length, 'nobody shares a seat');
});

test('the grid narrows with the number of people, and widens only with plenty of space', () => {
  const seating = createSeating(new Map(rooms.map((room) => [room.id, room])), 1.3);
  const steps = [5, 60, 300].map((count) => seating.seat('hall', ids(count)).step_m);
  assert.ok(steps[0] > steps[1] && steps[1] > steps[2], String(steps));
  const fresh = createSeating(new Map(rooms.map((room) => [room.id, room])), 1.3);
  const { step_m: full, places } = fresh.seat('hall', ids(300));
  assert.equal(places.size, 300);
  assert.equal(fresh.seat('hall', ids(298)).step_m, full, 'two who leave move nobody else');
  assert.equal(fresh.seat('hall', ids(5)).step_m, steps[0]);
});

test('a tiny room has as many seats as fit', () => {
  const tiny = { polygon: [[0, 0], [0.3, 0], [0.3, 0.3], [0, 0.3]], taken: { x: 0, y: 0, width: 0, height: 0 } };
  const { places } = createSeating(new Map([['tiny', tiny]]), 1.3).seat('tiny', ids(50));
  assert.ok(places.size <= 50);
});

test('at the scale of a laptop a dozen are markers, a hundred a cluster, and a close-up shows them all', () => {
  const { place } = createMarkers(rooms, 3);
  assert.equal(place(crowd(12), 14).markers.length, 12);
  const { markers, clusters } = place([...crowd(100), ...crowd(3, 'ell', 500)], 14);
  assert.deepEqual(clusters.map(({ room, count, stale }) => [room, count, stale]), [['hall', 100, 10]]);
  assert.deepEqual(markers.map(({ room }) => room), ['ell', 'ell', 'ell']);
  assert.equal(place(crowd(100), 60).markers.length, 100);
});

test('people off the screen are not drawn, but keep their seats', () => {
  const { place } = createMarkers(rooms, 3);
  const all = place(crowd(100), 60).markers;
  const { markers } = place(crowd(100), 60, { x: 0, y: 24, width: 10, height: 6 });
  assert.ok(markers.length > 10 && markers.length < 60, String(markers.length));
  for (const { id, x, y } of markers) assert.deepEqual(all.find((one) => one.id === id)?.x, x, String(y));
});

test('a single person is always shown, however small the room', () => {
  assert.equal(createMarkers(rooms, 3).place(crowd(1), 1).markers.length, 1);
});

test('in a small room the number is below the name', () => {
  const { place } = createMarkers(rooms, 3);
  const [hall] = rooms;
  const { clusters: [low] } = place(crowd(60), 5);
  assert.ok((low.y - hall.sign.y) * 5 >= 20 + 20 - 1e-6, 'the name has its line');
  assert.ok(inside(hall.polygon, [low.x, low.y]));
  assert.equal(place(crowd(60), 9).clusters[0].y, hall.centre[1], 'and in the middle where there is space');
});

test('in a narrow room a marker is lifted, so that the age below it is in the room too', () => {
  const corridor = { id: 'corridor', name: 'Way', kind: 'room', limit: null, polygon: [[0, 0], [60, 0], [60, 2.2], [0, 2.2]] };
  const [drawn] = drawnRooms({ ...level, rooms: [corridor] });
  const { markers } = createMarkers([drawn], 1).place(crowd(3, 'corridor'), 20);
  assert.deepEqual(markers.map(({ aged, lifted }) => [aged, lifted]), [[true, true], [true, true], [true, true]]);
  const lowest = (y, lifted) => y + (MARKER_PX / 2 + 11 - (lifted ? LIFT_PX.marker + LIFT_PX.age : 0)) / 20; // the line the age stands on
  for (const { x, y } of markers) {
    assert.deepEqual([false, true].map((lifted) => inside(drawn.polygon, [x, lowest(y, lifted)])), [false, true]);
  }
  assert.deepEqual(createMarkers(rooms, 1).place(crowd(3), 20).markers.map(({ lifted }) => lifted), [false, false, false]);
});

test('people in unknown rooms are not drawn', () => {
  assert.deepEqual(createMarkers(rooms, 3).place(crowd(2, 'gone'), 14), { markers: [], clusters: [] });
});

test('a thousand on one level are placed in a few milliseconds', () => {
  const { place } = createMarkers(rooms, 3);
  const people = [...crowd(500), ...crowd(500, 'ell', 500)];
  place(people, 14);
  const started = performance.now();
  for (let i = 0; i < 5; i += 1) place(people, 14);
  assert.ok((performance.now() - started) / 5 < 40);
});

test('labels are cut and markers as wide as they need', () => {
  assert.equal(short('Muhammad Hidayat bin Rahman'), 'Muhammad Hida…');
  assert.equal(short('003'), '003');
  assert.equal(markerWidth('3'), 22);
  assert.ok(markerWidth('dash-1') > 40);
});
