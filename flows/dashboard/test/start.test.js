import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pictureLink } from '../src/lib/picture-link.js';
import { storeys, summary } from '../src/lib/setup/list-preview.js';
import { placedAt } from '../src/lib/setup/place.js';
import { emptyBuilding, scaled, withPicture } from '../src/lib/setup/scale.js';
import { simulatedText, steps } from '../src/lib/steps.js';

const square = [[0, 0], [10, 0], [10, 10], [0, 10]];
const house = (more = {}) => ({
  building: 'House', levels: [
    { id: 'L1', name: '1', width_m: 20, height_m: 10, rooms: [{ id: 'a', name: 'A', polygon: square }], ...more },
    { id: 'L2', name: '2', width_m: 20, height_m: 10, rooms: [] }],
  beacons: [{ id: 'B', level: 'L1', room: 'a', x_m: 5, y_m: 4 }, { id: 'C', level: 'L2', room: 'x', x_m: 5, y_m: 4 }], gateways: [{}], staff: [],
});

test('two points and a distance set the scale: all of the level is stretched, other levels are not', () => {
  const next = scaled(house(), 0, [0, 0], [6, 8], 5);
  const [level, other] = next.levels;
  assert.deepEqual([level.width_m, level.height_m, level.rooms[0].polygon[2]], [10, 5, [5, 5]]);
  assert.deepEqual(next.beacons.map(({ x_m, y_m }) => [x_m, y_m]), [[2.5, 2], [5, 4]]);
  assert.equal(other, house().levels[1] && next.levels[1]);
  assert.deepEqual(next.gateways, [{}]);
  for (const [a, b, metres] of [[[1, 1], [1, 1], 5], [[0, 0], [1, 0], 0], [[0, 0], [1, 0], NaN], [[0, 0], [1, 0], Infinity]]) {
    assert.equal(scaled(house(), 0, a, b, metres), null);
  }
});

test('a picture gives its shape to an unmeasured level, and is stretched to a measured one', () => {
  const size = { width: 400, height: 400 };
  const tiles = withPicture(house({ schematic: true }), 0, 'p.png', size);
  assert.deepEqual([tiles.stretched, tiles.file.levels[0].plan, tiles.file.levels[0].height_m, tiles.file.beacons[0].y_m], [false, 'p.png', 20, 8]);
  const measured = withPicture(house(), 0, 'p.png', size);
  assert.deepEqual([measured.stretched, measured.file.levels[0].height_m, measured.file.beacons], [true, 10, house().beacons]);
  assert.equal(withPicture(house(), 0, 'p.png', { width: 800, height: 401 }).stretched, false, 'as good as the same');
  const empty = withPicture(emptyBuilding('Mine', []), 0, 'p.png', { width: 500, height: 250 });
  assert.deepEqual([empty.file.levels[0].width_m, empty.file.levels[0].height_m], [50, 25]);
});

test('devices on a level of tiles are approximate, wherever they are put', () => {
  const [tiles, measured] = [house({ schematic: true }), house()].map(({ levels: [level] }) => placedAt(level, {}, 5, 5));
  assert.deepEqual([tiles.approximate, measured.approximate, tiles.room], [true, undefined, 'a']);
});

test('URLs of pictures', () => {
  const used = [{ id: 'L1', plan: 'mine.svg' }];
  assert.equal(pictureLink({ id: 'L1', plan: 'plan-0123456789abcdef.png' }, []), '/pages/pictures/plan-0123456789abcdef.png');
  assert.equal(pictureLink({ id: 'L1', plan: 'mine.svg' }, used), '/pages/plans/L1');
  assert.equal(pictureLink({ id: 'L2', plan: 'mine.svg' }, used), null, 'not saved yet');
  assert.equal(pictureLink({ id: 'L1', plan: 'other.svg' }, used), null);
  assert.equal(pictureLink({ id: 'L1' }, used), null);
});

test('a preview has a summary, and levels from the top', () => {
  const room = (id, beacons) => ({ id, name: id, fresh: true, beacons });
  const preview = { building: 'M', new: true, added: ['A', 'B'], unchanged: [], notes: [], refused_count: 1, refused: [],
    levels: [{ id: 'G', name: 'G', rooms: [room('a', 2), room('b', 0)] }, { id: '1', name: '1', rooms: [room('c', 1)] }] };
  assert.equal(summary(preview), '2 levels, 3 rooms, 2 beacons, 1 line refused');
  assert.equal(summary({ ...preview, unchanged: ['C'], refused_count: 0 }), '2 levels, 3 rooms, 2 beacons more, 1 there already');
  assert.deepEqual(storeys(preview).map(({ id, beacons }) => [id, beacons]), [['1', 1], ['G', 2]]);
});

test('steps keep their order; simulated people are announced', () => {
  const done = { building: true, receivers: false, staff: true, hacs: false };
  assert.deepEqual(steps(done).map((step) => [step.id, step.done]), [['building', true], ['receivers', false], ['staff', true], ['hacs', false]]);
  assert.match(simulatedText(50, 50, true), /^Simulated: all 50 people shown in this building are played .* They leave/);
  assert.match(simulatedText(3, 5, false), /^Simulated: 3 of 5 people .* not real\.$/);
  assert.match(simulatedText(1, 1, false), /the one person shown in this building is played/);
});
