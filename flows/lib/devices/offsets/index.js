// @ts-check
'use strict';

const path = require('node:path');
const { isDeepStrictEqual } = require('node:util');
const { RETENTION_MS } = require('../../coverage');
const { createStateFile } = require('../../shared/state-file');
const { estimate } = require('./estimate');
const { createWitnesses } = require('./witnesses');

/**
 * Learned offsets of gateways and beacons in use: versions, each with the time from which it holds, so that what is located again is
 * corrected as it was live. A version is on disk before it holds, and a kill at any moment leaves what was in use.
 * @typedef {import('../../locator').Offset} Offset
 * @typedef {import('../../locator').OffsetVersion} OffsetVersion
 * @typedef {ReturnType<typeof createLearnedOffsets>} LearnedOffsets
 */

const DAY_MS = 24 * 3_600_000;
const LEAD_MS = 60_000; // between the moment at which a version is made and the one from which it holds: it is written meanwhile
const KEPT_MS = Math.max(30 * DAY_MS, RETENTION_MS); // readings older than this are not located again
const WITNESSES_MS = 5 * 60_000;
const HOURS = 2; // in which people were heard, before offsets are learned from it
const PEOPLE = 3; // … and so many people, or as many as there are
const SPOTS = 3; // a device that was heard at fewer places stays as it is
const CHANGE_DB = 2; // for less there is no new version

/**
 * @param {object} deps
 * @param {string} deps.folder of the files: versions in use, and what they are learned from
 * @param {Pick<import('../../site').Site, 'building'|'offsetVersions'|'onOffsetSample'>} deps.site
 * @param {() => number} deps.clock
 * @param {(text: string) => void} deps.warn
 * @param {(text: string) => void} deps.log
 */
function createLearnedOffsets({ folder, site, clock, warn, log }) {
  const file = path.join(folder, 'receiver-offsets.json');
  const witnessFile = path.join(folder, 'receiver-places.json');
  const versions = site.offsetVersions;
  const witnesses = createWitnesses();
  const stored = createStateFile(file, warn, { unread: 'offsets of devices are learned again', unwritten: 'no offset comes into use' });
  const kept = createStateFile(witnessFile, warn, { unread: 'what offsets are learned from is gathered again' });
  let savedMs = clock();
  let freezing = Promise.resolve();

  /** A new version, where one is due and what was learned differs from what is in use. */
  async function freeze() {
    const nowMs = clock();
    const last = versions.at(-1);
    if (last && nowMs - last.from_ms < DAY_MS) return;
    const { staff, file: { learned_offsets: isUsed = true } } = site.building();
    if (!isUsed || witnesses.hours() < HOURS || witnesses.people() < Math.min(PEOPLE, staff.size)) return;
    const offsets = learnedOffsets(witnesses, site.building(), last?.offsets);
    if (!differs(offsets, last?.offsets ?? [])) return;
    const version = { from_ms: nowMs + LEAD_MS, offsets };
    const next = [...versions, version].filter((_, n, list) => (list[n + 1]?.from_ms ?? Infinity) > nowMs - KEPT_MS);
    if (!await stored.write({ v: 1, versions: next })) return;
    if (clock() >= version.from_ms) { // the disk took too long: readings were located without it
      await stored.write({ v: 1, versions: [...versions] });
      return;
    }
    versions.splice(0, Infinity, ...next);
    witnesses.clear(); // places are believed with the new offsets from now on
    const most = Math.max(...offsets.map(({ offset_db: db }) => Math.abs(db)));
    log(`learned offsets of ${offsets.length} devices, up to ${most} dB, are in use from ${new Date(version.from_ms).toISOString()}`);
  }

  return {
    /** Reads the files; to be called at the start, before the first reading. */
    restore() {
      const found = stored.read()?.versions;
      if (found !== undefined && !(Array.isArray(found) && found.every(isVersion))) warn(`${file} has no versions, offsets of devices are learned again`);
      else versions.splice(0, Infinity, ...found ?? []);
      const saved = kept.read();
      try {
        if (saved !== null) witnesses.restore(saved);
      } catch (error) {
        warn(`${witnessFile} is damaged, what offsets are learned from is gathered again: ${error}`);
        witnesses.clear();
      }
      site.onOffsetSample(witnesses.note);
    },
    /** To be called about once a minute. @returns {Promise<void>} */
    update() {
      freezing = freezing.then(freeze);
      if (clock() - savedMs >= WITNESSES_MS) {
        savedMs = clock();
        kept.write(witnesses.save());
      }
      return freezing;
    },
    /** At the end. */
    async settle() {
      await freezing;
      await kept.write(witnesses.save());
    },
  };
}

/**
 * Whole decibels, as readings are. What the building file states of a device, as a calibration by a walk does, goes before what is
 * learned; a device that was heard too little since keeps what it has.
 * @param {Pick<ReturnType<typeof createWitnesses>, 'all'>} witnesses @param {import('../../building').Building} building
 * @param {Offset[]} [before] in use
 * @returns {Offset[]}
 */
function learnedOffsets(witnesses, { gateways, beacons }, before = []) {
  const devices = [...witnesses.all()].filter(([, { spots }]) => spots.size >= SPOTS);
  const found = estimate(devices.map(([key, { spots }]) => ({ key, spots: [...spots.values()] })));
  const learned = devices.map(([key, { kind, id, place }]) => ({ kind, id, place, offset_db: Math.round(found.get(key) ?? 0) }));
  const kept = before.filter(({ kind, id }) => !found.has(`${kind} ${id}`));
  return [...learned, ...kept].filter(({ kind, id, offset_db: db }) => {
    const device = kind === 'gateway' ? gateways.get(id) : beacons.get(id);
    return db !== 0 && device && (kind === 'gateway' ? gateways.get(id)?.rssi_offset : beacons.get(id)?.tx) === undefined;
  });
}

/** @param {Offset[]} some @param {Offset[]} others */
function differs(some, others) {
  if (isDeepStrictEqual(some, others)) return false;
  const keyOf = (/** @type {Offset} */ { kind, id, place }) => `${kind} ${id} ${place}`;
  const before = new Map(others.map((one) => [keyOf(one), one.offset_db]));
  const after = new Map(some.map((one) => [keyOf(one), one.offset_db]));
  return [...before.keys(), ...after.keys()].some((key) => Math.abs((before.get(key) ?? 0) - (after.get(key) ?? 0)) >= CHANGE_DB);
}

/** @param {any} one @returns {one is OffsetVersion} */
const isVersion = (one) => Number.isFinite(one?.from_ms) && Array.isArray(one.offsets) && one.offsets.every(isOffset);

/** @param {any} one */
const isOffset = (one) => (one?.kind === 'gateway' || one?.kind === 'beacon') && typeof one.id === 'string' && typeof one.place === 'string'
  && Number.isFinite(one.offset_db) && Math.abs(one.offset_db) <= 20;

module.exports = { createLearnedOffsets, learnedOffsets };
