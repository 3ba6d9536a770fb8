// @ts-check
'use strict';

const { existsSync, realpathSync, renameSync, statSync, writeFileSync } = require('node:fs');
const fs = require('node:fs/promises');
const path = require('node:path');

/**
 * Replaces a file atomically and durably: readers see the old or the new content, also after a power cut. A link stays a link,
 * the mode stays.
 * @param {string} file
 * @param {string|Uint8Array} text
 * @param {number} [mode] of a new file
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

/**
 * Replaces a file atomically, at once: readers see the old or the new content. It may be lost in a power cut. A link stays a link,
 * the mode stays.
 * @param {string} file @param {string} text
 * @throws {NodeJS.ErrnoException}
 */
function replaceFileSync(file, text) {
  const target = existsSync(file) ? realpathSync(file) : file;
  const mode = existsSync(target) ? statSync(target).mode : 0o644;
  writeFileSync(`${target}.new`, text, { mode });
  renameSync(`${target}.new`, target);
}

/** Renames durably. @param {string} from @param {string} to */
async function moveFile(from, to) {
  await fs.rename(from, to);
  const folder = await fs.open(path.dirname(to), 'r');
  await folder.sync().finally(() => folder.close());
}

module.exports = { replaceFile, replaceFileSync, moveFile };
