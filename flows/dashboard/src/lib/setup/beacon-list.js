/**
 * A list of beacons (CSV) before it is imported.
 * @typedef {{added: string[], unchanged: string[], refused_count: number,
 *   refused: {line: number, text: string, kind: string, reason: string}[]}} Import as `/api/v1/building/import` tells it
 */

/**
 * @param {Uint8Array} bytes UTF-8, or UTF-16 with its mark, as spreadsheets save it
 * @returns {string|null} null: it is neither
 */
export function decode(bytes) {
  const wide = bytes[0] === 0xff && bytes[1] === 0xfe;
  try {
    return new TextDecoder(wide ? 'utf-16le' : 'utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Whether a file is meant as the whole building, not as a list. @param {string} name @param {string} text */
export const isBuilding = (name, text) => /\.json$/i.test(name) || (!/\.(csv|tsv|txt)$/i.test(name) && text.trimStart().startsWith('{'));

/** What would become of a list, in words. @param {Import} list */
export function summary({ added, unchanged, refused_count: refused }) {
  const told = (/** @type {number} */ count, /** @type {string} */ one, /** @type {string} */ many) => `${count} ${count === 1 ? one : many}`;
  return [
    `${told(added.length, 'beacon is', 'beacons are')} new`,
    ...(unchanged.length > 0 ? [`${told(unchanged.length, 'is', 'are')} there already`] : []),
    ...(refused > 0 ? [`${told(refused, 'line', 'lines')} cannot be taken`] : []),
  ].join(', ');
}
