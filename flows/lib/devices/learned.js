// @ts-check
'use strict';

const path = require('node:path');
const { isDeepStrictEqual } = require('node:util');
const { placementKey } = require('../locator');
const { createStateFile } = require('../shared/state-file');

/**
 * Keeps what was learned of a building and is in use: versions, each with the time from which it holds, so that what is located again is
 * located as it was live. A version is on disk before it holds, and a kill at any moment leaves what was in use.
 * @typedef {import('../locator').Offset} Offset
 * @typedef {import('../locator').LearnedVersion} LearnedVersion
 */

const DAY_MS = 24 * 3_600_000;
const LEAD_MS = 60_000; // between the moment at which a version is made and the one from which it holds: it is written meanwhile
const KEPT_MS = 30 * DAY_MS; // readings older than this are not located again: they are kept for a week
const SAVED_MS = 5 * 60_000;
const HOURS = 2; // in which people were heard, before offsets are learned from it
const PEOPLE = 3; // … and so many people, or as many as there are
const CHANGE_DB = 2; // for less there are no new offsets

/**
 * @param {object} deps
 * @param {string} deps.folder of the flows' data
 * @param {{building: () => import('../building').Building, devices: {learnedVersions: LearnedVersion[],
 *   learning: import('./learning').Learning}}} deps.site
 * @param {() => number} deps.clock
 * @param {(text: string) => void} deps.warn
 * @param {(text: string) => void} deps.log
 */
function keepLearned({ folder, site: { building, devices: { learnedVersions: versions, learning } }, clock, warn, log }) {
  const file = path.join(folder, 'receiver-offsets.json');
  const learningFile = path.join(folder, 'learning.json');
  const stored = createStateFile(file, warn, { unread: 'the building is learned again', unwritten: 'nothing new that was learned comes into use' });
  const kept = createStateFile(learningFile, warn, { unread: 'what the building is learned from is gathered again' });
  let savedMs = clock();
  let offsetsMs = -Infinity;
  let freezing = Promise.resolve();
  restore();

  /** Reads the files. */
  function restore() {
    const found = stored.read()?.versions;
    if (found !== undefined && !(Array.isArray(found) && found.every(isVersion))) warn(`${file} has no versions, the building is learned again`);
    else versions.splice(0, Infinity, ...found ?? []);
    offsetsMs = versions.findLast(({ offsets }, n) => !isDeepStrictEqual(offsets, versions[n - 1]?.offsets ?? []))?.from_ms ?? -Infinity;
    const saved = kept.read();
    try {
      if (saved !== null) learning.restore(saved);
    } catch (error) {
      warn(`${learningFile} is not taken, what the building is learned from is gathered again: ${error instanceof Error ? error.message : error}`);
    }
  }

  /** New knowledge, where it differs from what is in use. @param {number} nowMs @param {LearnedVersion} [last] in use */
  function news(nowMs, last) {
    const { staff, file: { learned_offsets: isUsed = true } } = building();
    const isDue = isUsed && nowMs - offsetsMs >= DAY_MS && learning.hours() >= HOURS && learning.people() >= Math.min(PEOPLE, staff.size);
    const before = { offsets: [], silent: [], plan: [], ...last };
    const next = learning.version(building(), isDue, last);
    if (!differs(next.offsets, before.offsets)) next.offsets = before.offsets;
    return isDeepStrictEqual({ ...before, ...next }, before) ? null : next;
  }

  /** A new version, where one is due. */
  async function freeze() {
    const nowMs = clock();
    const last = versions.at(-1);
    const next = last && nowMs < last.from_ms ? null : news(nowMs, last);
    if (!next) return;
    const version = { from_ms: nowMs + LEAD_MS, ...next };
    const all = [...versions, version].filter((_, n, list) => (list[n + 1]?.from_ms ?? Infinity) > nowMs - KEPT_MS);
    if (!await stored.write({ v: 1, versions: all })) return;
    if (clock() >= version.from_ms) { // the disk took too long: readings were located without it
      await stored.write({ v: 1, versions: [...versions] });
      return;
    }
    if (!isDeepStrictEqual(next.offsets, last?.offsets ?? [])) offsetsMs = version.from_ms;
    versions.splice(0, Infinity, ...all);
    log(`learned of the building, in use from ${new Date(version.from_ms).toISOString()}: ${textOf(version)}`);
  }

  return {
    /** To be called once a minute. @returns {Promise<void>} */
    save() {
      freezing = freezing.then(freeze);
      if (clock() - savedMs >= SAVED_MS) {
        savedMs = clock();
        kept.write(learning.save());
      }
      return freezing;
    },
    /** At the end. */
    async settle() {
      await freezing;
      await kept.write(learning.save());
    },
  };
}

/** @param {LearnedVersion} version */
function textOf({ offsets, silent = [], plan = [] }) {
  const most = Math.max(0, ...offsets.map(({ offset_db: db }) => Math.abs(db)));
  const levels = plan.length === 0 ? 'the plan of no level' : `the plan of ${plan.join(', ')}`;
  return `offsets of ${offsets.length} devices, up to ${most} dB; ${levels}; ${silent.length} silent devices`;
}

/** @param {Offset[]} some @param {Offset[]} others */
function differs(some, others) {
  if (isDeepStrictEqual(some, others)) return false;
  const keyOf = (/** @type {Offset} */ { kind, id, place }) => `${kind} ${id} ${place}`;
  const before = new Map(others.map((one) => [keyOf(one), one.offset_db]));
  const after = new Map(some.map((one) => [keyOf(one), one.offset_db]));
  return [...before.keys(), ...after.keys()].some((key) => Math.abs((before.get(key) ?? 0) - (after.get(key) ?? 0)) >= CHANGE_DB);
}

/** @param {any} one @returns {one is LearnedVersion} */
const isVersion = (one) => Number.isFinite(one?.from_ms) && Array.isArray(one.offsets) && one.offsets.every(isOffset)
  && (one.plan ?? []).every((/** @type {unknown} */ level) => typeof level === 'string') && (one.silent ?? []).every(isDevice);

/** @param {any} one */
const isDevice = (one) => (one?.kind === 'gateway' || one?.kind === 'beacon') && typeof one.id === 'string';

/** @param {any} one */
const isOffset = (one) => isDevice(one) && typeof one.place === 'string' && Number.isFinite(one.offset_db) && Math.abs(one.offset_db) <= 20;

/**
 * The learned offsets in use, for people to look at.
 * @typedef {{db: number, since: number}} InUse db: is subtracted from readings; since: epoch ms, of this value
 * @param {Pick<import('../site').Site, 'building'|'devices'>} site
 * @param {number} nowMs
 * @returns {(kind: 'gateway'|'beacon', id: string) => InUse|null} null: nothing is corrected
 */
function offsetsInUse({ building, devices: { learnedVersions } }, nowMs) {
  const { gateways, beacons, file: { learned_offsets: isUsed = true } } = building();
  const versions = isUsed ? learnedVersions.filter(({ from_ms: ms }) => ms <= nowMs) : [];
  /** @type {Map<string, InUse & {place: string}>} */
  let known = new Map();
  for (const { from_ms: since, offsets } of versions) {
    known = new Map(offsets.map(({ kind, id, place, offset_db: db }) => {
      const before = known.get(`${kind} ${id}`);
      return [`${kind} ${id}`, before?.db === db && before.place === place ? before : { db, since, place }];
    }));
  }
  return (kind, id) => {
    const found = known.get(`${kind} ${id}`);
    const device = (kind === 'gateway' ? gateways : beacons).get(id);
    return found && device && placementKey(device) === found.place ? { db: found.db, since: found.since } : null;
  };
}

module.exports = { keepLearned, offsetsInUse };
