// @ts-check
'use strict';

/** Encodings of text files that people bring: what they are, and their text. Pure, also for the browser. */

const UTF_16 = Object.freeze({ 'UTF-16 (little-endian)': 'utf-16le', 'UTF-16 (big-endian)': 'utf-16be' });
/** Bytes that are looked at where there is no byte order mark. */
const SAMPLE_BYTES = 4096;
/** A share of zero bytes at every other place that only UTF-16 has. */
const ZERO_SHARE = 0.4;

/** @param {Uint8Array} bytes @param {number[]} mark */
const startsWith = (bytes, mark) => mark.every((byte, i) => bytes[i] === byte);

/**
 * Names the encoding of a text by its byte order mark, else by its bytes.
 * @param {Uint8Array} bytes
 * @returns {{name: string, isMarked: boolean}} name: `UTF-8`, `UTF-16 (little-endian)`, …
 */
function encodingOf(bytes) {
  if (startsWith(bytes, [0xef, 0xbb, 0xbf])) return { name: isUtf8(bytes) ? 'UTF-8' : 'UTF-8 with other bytes in it', isMarked: true };
  if (startsWith(bytes, [0xff, 0xfe, 0, 0]) || startsWith(bytes, [0, 0, 0xfe, 0xff])) return { name: 'UTF-32', isMarked: true };
  if (startsWith(bytes, [0xff, 0xfe])) return { name: 'UTF-16 (little-endian)', isMarked: true };
  if (startsWith(bytes, [0xfe, 0xff])) return { name: 'UTF-16 (big-endian)', isMarked: true };
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const zeros = [0, 0];
  sample.forEach((byte, i) => { if (byte === 0) zeros[i % 2] = /** @type {number} */ (zeros[i % 2]) + 1; });
  const [even = 0, odd = 0] = zeros;
  if (Math.max(even, odd) > (sample.length / 2) * ZERO_SHARE) {
    if (Math.min(even, odd) > 0 && Math.min(even, odd) > (sample.length / 2) * ZERO_SHARE) return { name: 'binary data or UTF-32', isMarked: false };
    return { name: odd > even ? 'UTF-16 (little-endian)' : 'UTF-16 (big-endian)', isMarked: false };
  }
  return { name: isUtf8(bytes) ? 'UTF-8' : 'Latin-1 or Windows-1252', isMarked: false };
}

/** @param {Uint8Array} bytes */
function isUtf8(bytes) {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/**
 * Decodes a text file.
 * @param {Uint8Array} bytes UTF-8, or UTF-16 with a byte order mark, as spreadsheets save it
 * @returns {string|null} without its mark; null: neither
 */
function decodeText(bytes) {
  const { name, isMarked } = encodingOf(bytes);
  const label = name === 'UTF-8' ? 'utf-8' : isMarked ? UTF_16[/** @type {keyof typeof UTF_16} */ (name)] : undefined;
  if (label === undefined) return null;
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Why a text is not taken: its encoding, and where it is another than expected.
 * @param {Uint8Array} bytes @param {string} wanted as what to save it: `UTF-8`
 * @returns {string} `is Latin-1 or Windows-1252, not UTF-8 (line 3 has the byte 0xE9): save it as UTF-8`
 */
function encodingFault(bytes, wanted = 'UTF-8') {
  const { name, isMarked } = encodingOf(bytes);
  const at = name === 'UTF-8' || name.includes('UTF-16') || name.includes('UTF-32') ? -1 : firstOdd(bytes);
  const where = at < 0 ? '' : ` (line ${lineOf(bytes, at)} has the byte 0x${/** @type {number} */ (bytes[at]).toString(16).toUpperCase().padStart(2, '0')})`;
  return `is ${name}${name.includes('UTF-16') && !isMarked ? ' without a byte order mark' : ''}, not UTF-8${where}: save it as ${wanted}`;
}

/** Place of the first byte that UTF-8 does not have there, by halving. @param {Uint8Array} bytes */
function firstOdd(bytes) {
  const isGood = (/** @type {number} */ end) => {
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, end), { stream: true });
      return true;
    } catch {
      return false;
    }
  };
  let [good, bad] = [0, bytes.length];
  if (isGood(bad)) return bytes.length - 1; // its last character is cut off
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isGood(middle)) good = middle;
    else bad = middle;
  }
  for (let at = bad - 1; at >= 0 && bad - at <= 4; at -= 1) if (/** @type {number} */ (bytes[at]) >= 0xc0) return at; // its lead byte
  return bad - 1;
}

/** @param {Uint8Array} bytes @param {number} at @returns {number} from 1 */
function lineOf(bytes, at) {
  let line = 1;
  for (let i = bytes.indexOf(10); i >= 0 && i < at; i = bytes.indexOf(10, i + 1)) line += 1;
  return line;
}

module.exports = { decodeText, encodingOf, encodingFault };
