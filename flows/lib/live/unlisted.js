// @ts-check
'use strict';

const { createStateFile } = require('../shared/state-file');

/**
 * People that the building file does not list and who came by `/newbeacondetect`. Each of them is a series in the database and a
 * retained topic at the broker, so there are only so many; they are kept as long as their locations are.
 * @typedef {ReturnType<typeof createUnlisted>} Unlisted
 */

const BOUNDS = Object.freeze({ people: 1000, keptMs: 30 * 86_400_000 });
/** When somebody was last here is written this often at most. */
const WRITE_MS = 60_000;

/**
 * @param {{file: string|null, site: import('../site').Site, clock: () => number,
 *   warn?: (text: string) => void, bounds?: Partial<typeof BOUNDS>}} deps file: over restarts; null: in memory alone
 */
function createUnlisted({ file, site, clock, warn = () => {}, bounds: overrides = {} }) {
  const bounds = { ...BOUNDS, ...overrides };
  const stateFile = createStateFile(file, warn);
  /** @type {Map<string, number>} by staff id: when they were last reported, epoch ms */
  const people = new Map(recordsOf(stateFile.read()));
  let refused = 0;
  let writtenMs = clock();
  let changed = false;

  function write() {
    [changed, writtenMs] = [false, clock()];
    return stateFile.write({ v: 1, people: Object.fromEntries(people) });
  }

  return {
    /**
     * Somebody was reported.
     * @param {string} staffId
     * @returns {boolean} false: there are too many already
     */
    admit(staffId) {
      if (site.building().staff.has(staffId)) return true;
      const isNew = !people.has(staffId);
      if (isNew && people.size >= bounds.people) {
        refused += 1;
        return false;
      }
      people.set(staffId, clock());
      changed = true;
      if (isNew) void write();
      return true;
    },

    /** Forget people without anything stored; about once a second. */
    tick() {
      const nowMs = clock();
      for (const [id, lastMs] of people) {
        if (lastMs > nowMs - bounds.keptMs) continue;
        people.delete(id);
        changed = true;
        const isHere = site.building().staff.has(id) || site.live.presences().some(({ staff_id: one }) => one === id);
        if (!isHere) site.broker.clearPresence(id, nowMs);
      }
      if (changed && nowMs - writtenMs >= WRITE_MS) void write();
    },

    /** @returns {Promise<unknown>} when it is written */
    close: () => (changed ? write() : stateFile.settled()),
    most: bounds.people,

    /** @type {import('../health/figures').Figure[]} */
    figures: [
      { name: 'unlisted_people', kind: 'gauge', help: 'People of /newbeacondetect that the building file does not list', read: () => people.size },
      { name: 'unlisted_refused', kind: 'counter', help: 'Detections of more people than may be unlisted', read: () => refused },
    ],
  };
}

/** @param {any} state of the file @returns {[string, number][]} */
const recordsOf = (state) => Object.entries(state?.people ?? {}).filter(([, ms]) => typeof ms === 'number');

module.exports = { createUnlisted };
