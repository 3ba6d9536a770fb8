import { counted } from '../words.js';

/**
 * Preview of a building that a list would make.
 * @typedef {{id: string, name: string, fresh: boolean, schematic: boolean,
 *   rooms: {id: string, name: string, fresh: boolean, beacons: number}[]}} Level
 * @typedef {{building: string, new: boolean, levels: Level[], added: string[], unchanged: string[], notes: string[], refused_count: number,
 *   refused: {line: number, text: string, kind: string, reason: string}[]}} Preview answer of `/api/v1/building/from-list`
 */

/** @param {Preview} preview */
export function summary({ levels, added, unchanged, refused_count: refused }) {
  const rooms = levels.reduce((sum, level) => sum + level.rooms.length, 0);
  return [
    counted(levels.length, 'level'), counted(rooms, 'room'), `${counted(added.length, 'beacon')}${unchanged.length > 0 ? ' more' : ''}`,
    ...(unchanged.length > 0 ? [`${unchanged.length} there already`] : []),
    ...(refused > 0 ? [`${counted(refused, 'line')} refused`] : []),
  ].join(', ');
}

/** Levels with their number of beacons, the highest first. @param {Preview} preview */
export const storeys = ({ levels }) => [...levels].reverse()
  .map((level) => ({ ...level, beacons: level.rooms.reduce((sum, { beacons }) => sum + beacons, 0) }));
