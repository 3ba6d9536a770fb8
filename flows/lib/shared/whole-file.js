// @ts-check
'use strict';

const fs = require('node:fs/promises');
const path = require('node:path');

/**
 * Put a file there as a whole: readers see the old or the new content, never half of one, and after a power cut it is one
 * of both. A link stays a link, a mode stays the mode.
 * @param {string} file
 * @param {string|Uint8Array} text
 * @param {number} [mode] of a file that is not there yet
 * @throws {NodeJS.ErrnoException}
 */
async function replaceFile(file, text, mode = 0o644) {
  const target = await fs.realpath(file).catch(() => file);
  const fresh = `${target}.new`;
  const before = await fs.stat(target).catch(() => null);
  const handle = await fs.open(fresh, 'w', before?.mode ?? mode);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await moveFile(fresh, target);
}

/** Rename, also over a power cut. @param {string} from @param {string} to */
async function moveFile(from, to) {
  await fs.rename(from, to);
  const folder = await fs.open(path.dirname(to), 'r');
  await folder.sync().finally(() => folder.close());
}

module.exports = { replaceFile, moveFile };
