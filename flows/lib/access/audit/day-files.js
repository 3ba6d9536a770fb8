// @ts-check
'use strict';

const fs = require('node:fs/promises');
const path = require('node:path');

/**
 * A file for each day (UTC), appended to, old ones deleted: `2026-11-21.jsonl` in the audit folder, for the owner alone.
 */

const KEPT_DAYS = 90;
const DAY_MS = 86_400_000;
const NAME = /^(\d{4}-\d{2}-\d{2})\.jsonl$/;

/** @param {number} ms */
const dayOf = (ms) => new Date(ms).toISOString().slice(0, 10);
/** @param {string} folder @param {string} day */
const fileOf = (folder, day) => path.join(folder, `${day}.jsonl`);

/** The days there are, ascending. @param {string} folder @returns {Promise<string[]>} */
async function daysOf(folder) {
  const names = await fs.readdir(folder).catch((error) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.flatMap((name) => NAME.exec(name)?.[1] ?? []).sort();
}

/**
 * Open a day's file for appending. A line that a kill broke off is ended, so that it costs only itself.
 * @param {string} folder
 * @param {string} day
 * @returns {Promise<{handle: import('node:fs/promises').FileHandle, bytes: number}>}
 */
async function openDay(folder, day) {
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  const handle = await fs.open(fileOf(folder, day), 'a+', 0o600);
  try {
    let { size: bytes } = await handle.stat();
    if (bytes > 0) {
      const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, bytes - 1);
      if (buffer[0] !== 0x0a) {
        await handle.appendFile('\n');
        bytes += 1;
      }
    }
    return { handle, bytes };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Delete what is older than it is kept. @param {string} folder @param {number} nowMs */
async function prune(folder, nowMs) {
  const oldest = dayOf(nowMs - KEPT_DAYS * DAY_MS);
  for (const day of await daysOf(folder)) if (day < oldest) await fs.rm(fileOf(folder, day), { force: true });
}

module.exports = { dayOf, daysOf, fileOf, openDay, prune, KEPT_DAYS, DAY_MS };
