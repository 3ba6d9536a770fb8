// @ts-check
'use strict';

/**
 * Decodes a text file.
 * @param {Uint8Array} bytes UTF-8, or UTF-16 with a byte order mark, as spreadsheets save it
 * @returns {string|null} null: neither
 */
function decodeText(bytes) {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  try {
    return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

module.exports = { decodeText };
