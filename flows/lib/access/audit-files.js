// @ts-check
'use strict';

const fs = require('node:fs/promises');
const path = require('node:path');

/**
 * Appends lines to the file of the day, in their order, beside the work: lines that come together in one write. What cannot be written
 * waits, bounded; what does not fit is dropped and counted.
 *
 * Lines are handed to the operating system within milliseconds, which a kill of ours does not undo, and to the disk once a
 * minute, which bounds what a loss of power costs.
 */

const BOUNDS = Object.freeze({
  largeBytes: 32 * 1024 * 1024, // of a day: from here on less is written for each look-up
  fileBytes: 64 * 1024 * 1024, // of a day: 90 of them are 5.8 GB at the very most
  queueBytes: 4 * 1024 * 1024, // that wait for a disk which does not take them
});
const SYNC_MS = 60_000;
/** A clock that goes back by more than this was wrong before. */
const STEP_MS = 5 * 60_000;

/**
 * @param {{folder: string, warn: (text: string) => void, newFile: () => void} & Partial<typeof BOUNDS>} options
 *   newFile: before the first line of another file is made
 */
function createWriter({ folder, warn, newFile, ...overrides }) {
  const bounds = { ...BOUNDS, ...overrides };
  /** @type {{day: string, text: string, bytes: number}[]} */
  let queue = [];
  let queued = 0;
  /** The day that lines are made for, and how large its file will be. */
  const made = { day: '', bytes: 0, ts: 0 };
  /** @type {{day: string, handle: import('node:fs/promises').FileHandle}|null} */
  let open = null;
  /** @type {Promise<void>|null} */
  let running = null;
  let fault = '';
  let full = false;
  let syncedMs = 0;
  let prunedDay = '';
  const counters = { lines: 0, dropped: 0 };

  /** @param {(ts: number) => string} make the line, or lines, with this time; which goes on @param {number} nowMs */
  function put(make, nowMs) {
    made.ts = made.ts - nowMs > STEP_MS ? nowMs : Math.max(nowMs, made.ts);
    const day = dayOf(made.ts);
    if (day !== made.day) {
      Object.assign(made, { day, bytes: 0 });
      full = false;
      newFile();
    }
    const text = make(made.ts);
    const bytes = Buffer.byteLength(text);
    const overfull = made.bytes + bytes > bounds.fileBytes;
    if (overfull || queued + bytes > bounds.queueBytes) {
      if (overfull && !full) warn(`the audit log of ${day} is full: look-ups go on, and are counted as dropped`);
      full ||= overfull;
      counters.dropped += 1;
      newFile(); // a set that was in it must be written again
      return;
    }
    made.bytes += bytes;
    queued += bytes;
    queue.push({ day, text, bytes });
    if (fault === '') running ??= new Promise((resolve) => { setImmediate(() => { resolve(run()); }); });
  }

  /** Write all that waits; what fails waits on. */
  async function run() {
    try {
      while (queue.length > 0) await writeSome();
      if (fault !== '') warn('the audit log can be written again');
      fault = '';
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      if (fault === '') warn(`the audit log cannot be written, it waits: ${message}`);
      fault = message;
      await close();
    } finally {
      running = null;
    }
  }

  /** The lines of one day, as many as there are by now. */
  async function writeSome() {
    const day = /** @type {typeof queue[number]} */ (queue[0]).day;
    const some = queue.filter((one) => one.day === day);
    const handle = open?.day === day ? open.handle : await change(day);
    await handle.appendFile(some.map(({ text }) => text).join(''));
    queue = queue.slice(some.length);
    queued -= some.reduce((sum, { bytes }) => sum + bytes, 0);
    counters.lines += some.length;
  }

  /** @param {string} day */
  async function change(day) {
    await close();
    const { handle, bytes } = await openDay(folder, day);
    open = { day, handle };
    if (day === made.day) made.bytes = bytes + queued;
    return handle;
  }

  async function close() {
    const last = open;
    open = null;
    await last?.handle.sync().catch(() => {});
    await last?.handle.close().catch(() => {});
  }

  /** About once a second: try again, bring to the disk, forget what is old. @param {number} nowMs */
  function tick(nowMs) {
    if (queue.length > 0) running ??= run();
    if (nowMs - syncedMs >= SYNC_MS) {
      syncedMs = nowMs;
      open?.handle.datasync().catch(() => {}); // a write will say what is wrong
    }
    if (dayOf(nowMs) !== prunedDay) {
      prunedDay = dayOf(nowMs);
      prune(folder, nowMs).catch((error) => warn(`old audit logs cannot be deleted: ${error.message}`));
    }
  }

  return {
    put,
    tick,
    settle: async () => { while (running) await running; },
    async close() {
      while (running) await running;
      if (queue.length > 0) await run();
      await close();
    },
    /** @param {number} nowMs */
    isLarge: (nowMs) => made.bytes > bounds.largeBytes && dayOf(nowMs) === made.day,
    counters: () => ({ ...counters, waiting_bytes: queued }),
    /** @returns {import('../health').Part} */
    part() {
      if (fault === '' && !full) return { status: 'up', dropped: counters.dropped };
      return {
        status: 'degraded', dropped: counters.dropped, waiting_bytes: queued,
        reason: fault === '' ? 'the audit log of today is full; look-ups are counted as dropped' : `the audit log cannot be written: ${fault}`,
        remedy: fault === '' ? `see in ${folder} who asks so much, and revoke or limit that key` : `make room or give rights in ${folder}; it goes on by itself`,
      };
    },
  };
}

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

module.exports = { createWriter, dayOf, daysOf, fileOf };
