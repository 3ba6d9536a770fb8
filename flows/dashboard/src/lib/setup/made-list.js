/**
 * A building made of a list, before it is made.
 * @typedef {{id: string, name: string, fresh: boolean, schematic: boolean,
 *   rooms: {id: string, name: string, fresh: boolean, beacons: number}[]}} Level
 * @typedef {{building: string, new: boolean, levels: Level[], added: string[], unchanged: string[], notes: string[], refused_count: number,
 *   refused: {line: number, text: string, kind: string, reason: string}[]}} Made as `/api/v1/building/from-list` tells it
 */

const told = (/** @type {number} */ count, /** @type {string} */ one) => `${count} ${one}${count === 1 ? '' : 's'}`;

/** What it would be, in words. @param {Made} made */
export function summary({ levels, added, unchanged, refused_count: refused }) {
  const rooms = levels.reduce((sum, level) => sum + level.rooms.length, 0);
  return [
    told(levels.length, 'level'), told(rooms, 'room'), `${told(added.length, 'beacon')}${unchanged.length > 0 ? ' more' : ''}`,
    ...(unchanged.length > 0 ? [`${unchanged.length} there already`] : []),
    ...(refused > 0 ? [`${told(refused, 'line')} refused`] : []),
  ].join(', ');
}

/** The storeys as one sees them: the highest on top, with their beacons counted. @param {Made} made */
export const storeys = ({ levels }) => [...levels].reverse()
  .map((level) => ({ ...level, beacons: level.rooms.reduce((sum, { beacons }) => sum + beacons, 0) }));
