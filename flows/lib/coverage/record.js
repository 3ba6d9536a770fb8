// @ts-check
'use strict';

const { rmSync } = require('node:fs');
const path = require('node:path');
const { createStateFile } = require('../shared/state-file');

/**
 * The record on disk, beside the flows' data.
 * @typedef {{gaps: Record<string, unknown>, requests: Record<string, unknown>, repeats: Record<string, unknown>,
 *   missed: Record<string, unknown>, live: boolean|null, tries: number}} Kept live: whether the live path was what moved on; null:
 *   nothing is known but late times.
 *   tries: starts since one last got on
 * @typedef {{load: () => Kept, save: (kept: Kept) => Promise<void>}} CoverageRecord save never rejects
 * @param {string|null} folder null: nothing is kept
 * @param {(text: string) => void} warn
 * @returns {CoverageRecord}
 */
function createRecord(folder, warn) {
  const stateFile = createStateFile(folder && path.join(folder, 'coverage.json'), warn, {
    unread: 'the newest heartbeat in InfluxDB says what is located',
    unwritten: 'after a restart more than needed is located again',
  });
  const earlier = folder && path.join(folder, 'late.json'); // of earlier releases
  return {
    load() {
      const state = stateFile.read();
      if (state?.v === 1 && state.gaps?.['']) {
        const { gaps, requests = {}, repeats = {}, missed = {} } = state;
        return { gaps, requests, repeats, missed, live: state.live !== false,
          tries: Number(state.tries) || 0 };
      }
      return { gaps: byPerson(createStateFile(earlier, warn).read()), requests: {}, repeats: {}, missed: {}, live: null, tries: 0 };
    },
    async save(kept) {
      if (await stateFile.write({ v: 1, ...kept }) && earlier) rmSync(earlier, { force: true });
    },
  };
}

/** @param {any} state of `late.json`: `{times: [{fromMs, toMs, staff}]}` @returns {Record<string, unknown>} */
function byPerson(state) {
  /** @type {Record<string, [number, number][]>} */
  const gaps = Object.create(null);
  for (const time of Array.isArray(state?.times) ? state.times : []) {
    if (Number.isFinite(time?.toMs)) for (const id of time.staff ?? []) (gaps[String(id)] ??= []).push([time.fromMs, time.toMs + 1]);
  }
  return gaps;
}

/**
 * Saves what changes, not more often than every so often.
 * @param {() => Promise<void>} save @param {(ms: number) => Promise<unknown>} sleep
 */
function createSaving(save, sleep) {
  const EVERY_MS = 250;
  let due = false;
  /** @type {Promise<void>|null} */
  let saving = null;

  async function run() {
    while (due) {
      due = false;
      await save();
      await sleep(EVERY_MS);
    }
    saving = null;
  }

  return {
    changed() {
      due = true;
      saving ??= run();
    },
    /** When everything is saved. */
    settle: async () => { await saving; },
  };
}

module.exports = { createRecord, createSaving };
