import { findNodeAtLocation, parseTree } from 'jsonc-parser';

/**
 * Line numbers in a JSON text.
 * @typedef {{line: number, reason: string}} LineFault line: from 1
 */

/** Line number of an offset. @param {string} text @returns {(offset: number) => number} from 1 */
function lineCounter(text) {
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index);
  return (offset) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

/**
 * @param {string} text
 * @returns {{data: any, fault: null}|{data: null, fault: LineFault}}
 */
export function readJson(text) {
  try {
    return { data: JSON.parse(text), fault: null };
  } catch (error) {
    /** @type {import('jsonc-parser').ParseError[]} */
    const errors = [];
    parseTree(text, errors, { disallowComments: true });
    const line = lineCounter(text)(errors[0]?.offset ?? text.length);
    return { data: null, fault: { line, reason: `is not JSON: ${error instanceof Error ? error.message : error}` } };
  }
}

/**
 * Faults of a text by line; a fault of a missing value is at its parent.
 * @param {string} text JSON
 * @param {import('./faults.js').Fault[]} faults
 * @returns {LineFault[]}
 */
export function faultLines(text, faults) {
  const root = parseTree(text);
  const lineAt = lineCounter(text);
  return faults.map(({ pointer, reason }) => {
    const path = pointer.split('/').slice(1).map((key) => (/^\d+$/.test(key) ? Number(key) : key.replaceAll('~1', '/').replaceAll('~0', '~')));
    let node;
    for (let length = path.length; root && !node && length >= 0; length -= 1) node = findNodeAtLocation(root, path.slice(0, length));
    return { line: lineAt(node?.offset ?? 0), reason: [pointer, reason].filter(Boolean).join(' ') };
  }).sort((a, b) => a.line - b.line);
}
