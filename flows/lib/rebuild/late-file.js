// @ts-check
'use strict';

const fs = require('node:fs');
const { replaceFile } = require('../whole-file');

/**
 * Keeps, over a restart, which times of which receivers are still to be located. Whatever else is settled stays settled.
 * @typedef {import('./late').KeptTime} KeptTime
 * @typedef {{load: () => KeptTime[], save: (times: KeptTime[]) => Promise<void>}} LateFile save never rejects
 * @param {string} file
 * @param {(text: string) => void} warn
 * @returns {LateFile}
 */
function createLateFile(file, warn) {
  let warned = '';
  return {
    load() {
      try {
        return JSON.parse(fs.readFileSync(file, 'utf8')).times.filter(isTime);
      } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') {
          warn(`${file} is not read; backlogs that were not located before the start stay so, but for \`make rebuild\`: ${error}`);
        }
        return [];
      }
    },
    save(times) {
      return replaceFile(file, `${JSON.stringify({ v: 1, times })}\n`, 0o600).then(() => { warned = ''; }, (error) => {
        if (error.message !== warned) warn(`${file}: what is to be located again is not kept over a restart: ${error.message}`);
        warned = error.message;
      });
    },
  };
}

/** @param {any} time */
const isTime = (time) => Number.isFinite(time?.fromMs) && Number.isFinite(time?.toMs) && Array.isArray(time?.staff);

/** Keeps nothing. @type {LateFile} */
const NO_FILE = { load: () => [], save: async () => {} };

/**
 * Saves what changes, not more often than every so often.
 * @param {LateFile} file @param {() => KeptTime[]} kept @param {(ms: number) => Promise<void>} sleep
 */
function createSaving(file, kept, sleep) {
  const EVERY_MS = 250;
  let due = false;
  /** @type {Promise<void>|null} */
  let saving = null;

  async function save() {
    while (due) {
      due = false;
      await file.save(kept());
      await sleep(EVERY_MS);
    }
    saving = null;
  }

  return {
    changed() {
      due = true;
      saving ??= save();
    },
    /** When everything is saved. */
    settle: async () => { await saving; },
  };
}

module.exports = { createLateFile, createSaving, NO_FILE };
