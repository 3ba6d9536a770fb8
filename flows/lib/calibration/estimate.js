// @ts-check
'use strict';

const { DEFAULTS } = require('../locator');
const { $defs: SCHEMA } = require('../../building/building.schema.json');

/**
 * Estimates settings of devices from the samples of a walk. Pure.
 *
 * A gateway that receives the walker stronger than expected in the true room gets a lower `rssi_offset`; a beacon that is received
 * stronger gets a higher `tx`; a tag that all gateways receive stronger gets a higher `tag_tx`. Medians make single readings
 * irrelevant. Each visit counts once whatever its length, since errors of a place last while somebody stands there.
 * @typedef {import('../building').BuildingFile} BuildingFile
 * @typedef {{device: string, visit: number, offDb: number}} Sample offDb: dB stronger than expected in the room of the visit
 * @typedef {{visit: number, levelDb: number}} LevelSample levelDb: dB by which the walker's tag is stronger than calibrated
 * @typedef {{kind: 'gateway'|'beacon'|'staff', id: string, field: 'rssi_offset'|'tx'|'tag_tx', from: number|null, was: number,
 *   to: number, readings: number, visits: number}} Proposal from: value in the file, null: none; was: value in effect until now
 */

/** A visit with fewer readings does not count. */
const READINGS_A_VISIT = 3;
const READINGS = 10;
const VISITS = 2;
/** A common offset needs this many devices. */
const DEVICES = 3;
/** Shrinkage: devices vary as much as single visits do, so one visit counts by half, nine by nine tenths. */
const SHRINK_VISITS = 1;
/** A larger error has another cause: a wrong place, a broken antenna. */
const CHANGE_MAX_DB = 12;
/** A smaller change is not proposed. */
const CHANGE_MIN_DB = 2;
/** Schema of each field, with its range. */
const FIELDS = Object.freeze({ rssi_offset: SCHEMA.gateway.properties.rssi_offset, tx: SCHEMA.beacon.properties.tx,
  tag_tx: SCHEMA.staff_member.properties.tag_tx });

/** @param {readonly number[]} numbers one at least @returns {number} */
function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = /** @type {number} */ (sorted[half]);
  return sorted.length % 2 === 1 ? upper : (upper + /** @type {number} */ (sorted[half - 1])) / 2;
}

/**
 * The deviation of a device from its expected level, dB.
 * @typedef {{db: number, readings: number, visits: number}} Deviation
 * @param {readonly {visit: number, db: number}[]} samples
 * @returns {Deviation|null} null: too few samples
 */
function deviationOf(samples) {
  const visits = [...Map.groupBy(samples, ({ visit }) => visit).values()].filter((its) => its.length >= READINGS_A_VISIT);
  const readings = visits.reduce((sum, its) => sum + its.length, 0);
  if (visits.length < VISITS || readings < READINGS) return null;
  return { db: median(visits.map((its) => median(its.map(({ db }) => db)))), readings, visits: visits.length };
}

/** The change for a deviation, whole dB; 0: none. @param {number} db @param {number} visits */
function changeFor(db, visits) {
  const shrunk = db * visits / (visits + SHRINK_VISITS);
  const whole = Math.round(Math.max(-CHANGE_MAX_DB, Math.min(CHANGE_MAX_DB, shrunk)));
  return Math.abs(whole) < CHANGE_MIN_DB ? 0 : whole;
}

/** The deviation that all beacons share is that of the phone. @param {readonly Deviation[]} deviations */
const sharedDeviation = (deviations) => (deviations.length < DEVICES ? 0 : median(deviations.map(({ db }) => db)));

/**
 * The samples of a walk.
 * @typedef {{samples: readonly Sample[], levels: readonly LevelSample[]}} Samples
 * @param {BuildingFile} building of the walk
 * @param {'gateway'|'phone'} mode
 * @param {Samples} walk
 * @returns {Proposal[]} the largest change first
 */
function estimate(building, mode, walk) {
  const deviations = [...Map.groupBy(walk.samples, ({ device }) => device)].flatMap(([id, its]) => {
    const deviation = deviationOf(its.map(({ visit, offDb }) => ({ visit, db: offDb })));
    return deviation ? [{ id, ...deviation }] : [];
  });
  const proposals = mode === 'phone' ? ofBeacons(building, deviations) : [...ofGateways(building, deviations), ...ofTag(building, walk)];
  const size = (/** @type {Proposal} */ { from, to, was }) => Math.abs(to - (from ?? was));
  return proposals.filter((one) => size(one) > 0).sort((one, other) => size(other) - size(one) || (one.id < other.id ? -1 : 1));
}

/** @param {BuildingFile} building @param {readonly (Deviation & {id: string})[]} deviations @returns {Proposal[]} */
function ofGateways({ gateways }, deviations) {
  const known = new Map(gateways.map((one) => [one.id, one.rssi_offset]));
  return deviations.map(({ id, db, readings, visits }) => {
    const was = known.get(id) ?? 0;
    const to = within('rssi_offset', was - changeFor(db, visits));
    return { kind: 'gateway', id, field: 'rssi_offset', from: known.get(id) ?? null, was, to, readings, visits };
  });
}

/** @param {BuildingFile} building @param {readonly (Deviation & {id: string})[]} deviations @returns {Proposal[]} */
function ofBeacons({ beacons }, deviations) {
  const shared = sharedDeviation(deviations);
  const known = new Map(beacons.map((one) => [one.id, one.tx]));
  return deviations.map(({ id, db, readings, visits }) => {
    const was = known.get(id) ?? DEFAULTS.txDbm;
    const to = within('tx', was + changeFor(db - shared, visits));
    return { kind: 'beacon', id, field: 'tx', from: known.get(id) ?? null, was, to, readings, visits };
  });
}

/** @param {BuildingFile} building @param {Samples} walk @returns {Proposal[]} */
function ofTag({ staff: [walker] }, { levels }) {
  const deviation = deviationOf(levels.map(({ visit, levelDb }) => ({ visit, db: levelDb })));
  if (!walker || !deviation) return [];
  const was = walker.tag_tx ?? DEFAULTS.txDbm;
  const to = within('tag_tx', was + changeFor(deviation.db, deviation.visits));
  const { readings, visits } = deviation;
  return [{ kind: 'staff', id: walker.id, field: 'tag_tx', from: walker.tag_tx ?? null, was, to, readings, visits }];
}

/** @param {Proposal['field']} field @param {number} value */
function within(field, value) {
  const { minimum, maximum } = FIELDS[field];
  return Math.max(minimum, Math.min(maximum, value));
}

/**
 * Applies proposals to a building file.
 * @param {BuildingFile} file @param {readonly Proposal[]} proposals
 * @returns {BuildingFile}
 */
function withProposals(file, proposals) {
  /** @template {{id: string}} T @param {readonly T[]} list @param {Proposal['kind']} kind @returns {T[]} */
  const changed = (list, kind) => {
    const its = new Map(proposals.filter((one) => one.kind === kind).map((one) => [one.id, one]));
    return list.map((one) => {
      const proposal = its.get(one.id);
      return proposal ? { ...one, [proposal.field]: proposal.to } : one;
    });
  };
  return { ...file, gateways: changed(file.gateways, 'gateway'), beacons: changed(file.beacons, 'beacon'), staff: changed(file.staff, 'staff') };
}

module.exports = { estimate, withProposals, median, CHANGE_MIN_DB, CHANGE_MAX_DB };
