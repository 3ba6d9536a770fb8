// @ts-check
'use strict';

const { createStateFile } = require('../shared/state-file');

/**
 * Keeps, over a restart, which times of which receivers are still to be located. Whatever else is settled stays settled.
 * @typedef {import('./late').KeptTime} KeptTime
 * @typedef {{load: () => KeptTime[], save: (times: KeptTime[]) => Promise<void>}} LateFile save never rejects
 * @param {string|null} file null: nothing is kept
 * @param {(text: string) => void} warn
 * @returns {LateFile}
 */
function createLateFile(file, warn) {
  const stateFile = createStateFile(file, warn, {
    unread: 'backlogs that were not located before the start stay so, but for `make rebuild`',
    unwritten: 'what is to be located again is not kept over a restart',
  });
  return {
    load: () => timesOf(stateFile.read()),
    save: async (times) => { await stateFile.write({ v: 1, times }); },
  };
}

/** @param {any} state of the file @returns {KeptTime[]} */
const timesOf = (state) => (Array.isArray(state?.times) ? state.times.filter(isTime) : []);

/** @param {any} time */
const isTime = (time) => Number.isFinite(time?.fromMs) && Number.isFinite(time?.toMs) && Array.isArray(time?.staff);

const NO_FILE = createLateFile(null, () => {});

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
