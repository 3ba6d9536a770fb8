// @ts-check
'use strict';

/**
 * From how devices were heard to what the building file should say about them. Pure.
 *
 * A gateway that hears the walker stronger than it should in the room where they were gets a lower `rssi_offset`; a beacon that is
 * heard stronger gets a higher `tx`; a tag that all gateways hear stronger gets a higher `tag_tx`. Medians, so that single readings
 * do not matter; a visit counts once however long it was, since what is wrong with a place stays while somebody stands there.
 * @typedef {import('../building').BuildingFile} BuildingFile
 * @typedef {{device: string, visit: number, offDb: number}} Sample offDb: so much stronger than expected in the room of the visit
 * @typedef {{visit: number, levelDb: number}} LevelSample levelDb: so much stronger than calibrated the walker's tag is
 * @typedef {{kind: 'gateway'|'beacon'|'staff', id: string, field: 'rssi_offset'|'tx'|'tag_tx', from: number|null, was: number,
 *   to: number, readings: number, visits: number}} Proposal from: null, the file says nothing yet; was: what counted until now
 */

/** What fewer readings of a visit say is chance. */
const READINGS_A_VISIT = 3;
const READINGS = 10;
const VISITS = 2;
/** Of fewer it is not known what they have in common. */
const DEVICES = 3;
/** A device is that far off by itself, and so is what a visit tells of it: one visit is believed by half, nine by nine tenths. */
const BELIEVED_AFTER_VISITS = 1;
/** What is further off has another cause: a wrong place, a broken antenna. */
const AT_MOST_DB = 12;
/** Less is not worth a change. */
const AT_LEAST_DB = 2;
/** The building schema's default, dBm at 1 m. */
const TX_DBM = -59;
/** What the schema allows. */
const RANGES = Object.freeze({ rssi_offset: [-40, 40], tx: [-127, 20], tag_tx: [-127, 20] });

/** @param {readonly number[]} numbers at least one @returns {number} */
function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = /** @type {number} */ (sorted[half]);
  return sorted.length % 2 === 1 ? upper : (upper + /** @type {number} */ (sorted[half - 1])) / 2;
}

/**
 * How far off something is.
 * @typedef {{db: number, readings: number, visits: number}} Off
 * @param {readonly {visit: number, db: number}[]} samples
 * @returns {Off|null} null: too little is known
 */
function offOf(samples) {
  const visits = [...Map.groupBy(samples, ({ visit }) => visit).values()].filter((its) => its.length >= READINGS_A_VISIT);
  const readings = visits.reduce((sum, its) => sum + its.length, 0);
  if (visits.length < VISITS || readings < READINGS) return null;
  return { db: median(visits.map((its) => median(its.map(({ db }) => db)))), readings, visits: visits.length };
}

/** What of it is believed, whole dB; 0: not worth a change. @param {number} db @param {number} visits */
function believed(db, visits) {
  const shrunk = db * visits / (visits + BELIEVED_AFTER_VISITS);
  const whole = Math.round(Math.max(-AT_MOST_DB, Math.min(AT_MOST_DB, shrunk)));
  return Math.abs(whole) < AT_LEAST_DB ? 0 : whole;
}

/** What all beacons have in common is the phone's, of which the building file says nothing. @param {readonly Off[]} offs */
const commonOf = (offs) => (offs.length < DEVICES ? 0 : median(offs.map(({ db }) => db)));

/**
 * What a walk taught.
 * @typedef {{samples: readonly Sample[], levels: readonly LevelSample[], announced: ReadonlyMap<string, number>}} Heard announced: what
 *   tags and beacons say about their own power, dBm
 * @param {BuildingFile} building of the walk
 * @param {'gateway'|'phone'} mode
 * @param {Heard} heard
 * @returns {Proposal[]} the largest change first
 */
function estimate(building, mode, heard) {
  const offs = [...Map.groupBy(heard.samples, ({ device }) => device)].flatMap(([id, its]) => {
    const off = offOf(its.map(({ visit, offDb }) => ({ visit, db: offDb })));
    return off ? [{ id, ...off }] : [];
  });
  const proposals = mode === 'phone' ? ofBeacons(building, offs, heard.announced) : [...ofGateways(building, offs), ...ofTag(building, heard)];
  const size = (/** @type {Proposal} */ { from, to, was }) => Math.abs(to - (from ?? was));
  return proposals.filter((one) => size(one) > 0).sort((one, other) => size(other) - size(one) || (one.id < other.id ? -1 : 1));
}

/** @param {BuildingFile} building @param {readonly (Off & {id: string})[]} offs @returns {Proposal[]} */
function ofGateways({ gateways }, offs) {
  const known = new Map(gateways.map((one) => [one.id, one.rssi_offset]));
  return offs.map(({ id, db, readings, visits }) => {
    const was = known.get(id) ?? 0;
    const to = within('rssi_offset', was - believed(db, visits));
    return { kind: 'gateway', id, field: 'rssi_offset', from: known.get(id) ?? null, was, to, readings, visits };
  });
}

/**
 * @param {BuildingFile} building @param {readonly (Off & {id: string})[]} offs @param {Heard['announced']} announced
 * @returns {Proposal[]}
 */
function ofBeacons({ beacons }, offs, announced) {
  const common = commonOf(offs);
  const known = new Map(beacons.map((one) => [one.id, one.tx]));
  return offs.map(({ id, db, readings, visits }) => {
    const was = known.get(id) ?? announced.get(id) ?? TX_DBM;
    const to = within('tx', was + believed(db - common, visits));
    return { kind: 'beacon', id, field: 'tx', from: known.get(id) ?? null, was, to, readings, visits };
  });
}

/** @param {BuildingFile} building @param {Heard} heard @returns {Proposal[]} */
function ofTag({ staff: [walker] }, { levels, announced }) {
  const off = offOf(levels.map(({ visit, levelDb }) => ({ visit, db: levelDb })));
  if (!walker || !off) return [];
  const said = (walker.tags ?? []).flatMap((tag) => announced.get(tag) ?? []);
  const was = walker.tag_tx ?? (said.length > 0 ? Math.round(median(said)) : TX_DBM);
  const to = within('tag_tx', was + believed(off.db, off.visits));
  const { readings, visits } = off;
  return [{ kind: 'staff', id: walker.id, field: 'tag_tx', from: walker.tag_tx ?? null, was, to, readings, visits }];
}

/** @param {Proposal['field']} field @param {number} value */
function within(field, value) {
  const [least = value, most = value] = RANGES[field];
  return Math.max(least, Math.min(most, value));
}

/**
 * The building file with them.
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

module.exports = { estimate, withProposals, median, AT_LEAST_DB, AT_MOST_DB };
