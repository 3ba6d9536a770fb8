// @ts-check
'use strict';

/** Preview of an import as text for a terminal. Pure. */

/** Number of names of rooms in a line that are there already. */
const LISTED_MAX = 8;

/** @param {number} count @param {string} one */
const counted = (count, one) => `${count} ${one}${count === 1 ? '' : 's'}`;

/**
 * @param {import('./from-list').FromList} made
 * @param {{list: string, anew: boolean, before: string}} about before: name of the building in use
 * @returns {string}
 */
function previewText({ file, levels, added, unchanged, faults, notes }, { list, anew, before }) {
  const rooms = levels.reduce((sum, level) => sum + level.rooms.length, 0);
  const lines = levels.map(({ id, name, schematic, rooms: its }) => {
    const beacons = its.reduce((sum, room) => sum + room.beacons, 0);
    const listed = its.filter(({ fresh }, i) => fresh || i < LISTED_MAX); // what is made is shown, all of it
    const names = listed.map((room) => room.name).join(', ') + (its.length > listed.length ? ` and ${its.length - listed.length} more` : '');
    return `  ${name}${id === name ? '' : ` (${id})`}: ${counted(its.length, 'room')}, ${counted(beacons, 'beacon')}${schematic ? '' : ', drawn'}\n      ${names}`;
  });
  return [
    `${file.building}, ${anew ? `a new building in place of "${before}"` : `with what ${list} adds`}:`,
    ...lines,
    `${counted(levels.length, 'level')}, ${counted(rooms, 'room')}; ${counted(added.length, 'beacon')} new, ${unchanged.length} there already. `
      + 'Rooms of a list are drawn as tiles: their places are not measured.',
    ...(notes.length > 0 ? ['', 'Look at these, they are imported unchanged:', ...notes.map((note) => `  ${note}`)] : []),
    ...(faults.length > 0 ? ['', `${counted(faults.length, 'row')} refused:`,
      ...faults.map(({ line, text, reason }) => `  ${list}:${line}: ${reason}\n      ${text}`)] : []),
  ].join('\n');
}

module.exports = { previewText };
