import { counted } from '../words.js';

/**
 * A list of beacons (CSV) before its import.
 * @typedef {{added: string[], unchanged: string[], refused_count: number,
 *   refused: {line: number, text: string, kind: string, reason: string}[]}} Import answer of `/api/v1/building/import`
 */

/** Whether a file is a whole building, not a list. @param {string} name @param {string} text */
export const isBuilding = (name, text) => /\.json$/i.test(name) || (!/\.(csv|tsv|txt)$/i.test(name) && text.trimStart().startsWith('{'));

/** Summary of a dry run. @param {Import} list */
export function summary({ added, unchanged, refused_count: refused }) {
  return [
    `${counted(added.length, 'beacon is', 'beacons are')} new`,
    ...(unchanged.length > 0 ? [`${counted(unchanged.length, 'is', 'are')} there already`] : []),
    ...(refused > 0 ? [`${counted(refused, 'line', 'lines')} cannot be taken`] : []),
  ].join(', ');
}
