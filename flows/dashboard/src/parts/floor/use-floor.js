import { computed } from 'vue';
import { drawnGateways, personNote, shadedRooms } from '../../lib/floor.js';
import { byRoom, createMarkers, drawnRooms, short } from '../../lib/markers.js';
import { roomNames } from '../../lib/staff.js';
import { serverNowMs, state } from '../../state.js';

/** Data of the floor page, from the state. @param {import('vue').Ref<Map<string, number>>} patrolled */
export function useFloor(patrolled) {
  const ofFloor = computed(() => (state.snapshot?.topic.startsWith('floor') ? state.snapshot : null));
  const level = computed(() => {
    const { levels } = state.building;
    return levels.find(({ id }) => id === (state.query.level ?? ofFloor.value?.level)) ?? levels[0];
  });
  const snapshot = computed(() => (ofFloor.value?.level === level.value.id ? ofFloor.value : null));
  const people = computed(() => snapshot.value?.people ?? []);
  const inRooms = computed(() => byRoom(people.value));
  const colour = computed(() => (state.query.colour === 'patrol' ? 'patrol' : 'occupancy'));
  const named = computed(() => state.query.labels === 'names');
  const name = (/** @type {string} */ id) => state.building.staff[id];
  const text = (/** @type {{id: string, tight?: boolean}} */ { id, tight }) => short((named.value && !tight && name(id)) || id);

  const rooms = computed(() => roomNames(state.building));
  const drawing = computed(() => drawnRooms(level.value));
  const longest = computed(() => Math.max(2, ...people.value.map((one) => text(one).length)));
  const markers = computed(() => createMarkers(drawing.value, longest.value));
  return {
    level,
    people,
    inRooms,
    colour,
    named,
    name,
    text,
    loaded: computed(() => snapshot.value !== null),
    lost: computed(() => ofFloor.value?.lost ?? []),
    rooms: computed(() => shadedRooms(drawing.value, inRooms.value, colour.value, patrolled.value, serverNowMs.value)),
    gateways: computed(() => drawnGateways(level.value, snapshot.value?.gateways ?? {})),
    place: (/** @type {number} */ scale, /** @type {any} */ visible) => markers.value.place(people.value, scale, visible),
    note: (/** @type {any} */ one) => personNote(one, name(one.id), serverNowMs.value, (room) => rooms.value.get(room) ?? room),
  };
}
