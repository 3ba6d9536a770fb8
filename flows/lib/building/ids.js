// @ts-check
'use strict';

/** Gateway, staff, room and level ids: safe in a topic, in a tag and in a URL. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** What may stand in a batch and in a building file of an earlier version; `readBeacon` says which of them can ever match. */
const BEACON = /^[0-9A-F-]{12,64}$/;

/** The canonical forms: upper-case, no separators but those between the parts of an iBeacon and an Eddystone-UID. */
const [MAC, EDDYSTONE, ALTBEACON] = [/^[0-9A-F]{12}$/, /^[0-9A-F]{20}-[0-9A-F]{12}$/, /^[0-9A-F]{40}$/];
const IBEACON = /^([0-9A-F]{32})-(\d+)-(\d+)$/;
const WRITTEN_MAC = /^[0-9A-F]{2}([:-])[0-9A-F]{2}(?:\1[0-9A-F]{2}){4}$/;
const WRITTEN_UUID = /^([0-9A-F]{8})-([0-9A-F]{4})-([0-9A-F]{4})-([0-9A-F]{4})-([0-9A-F]{12})/;
/** Lists have it where an address is not known yet. */
const NO_MAC = /^(?:0{12}|F{12})$/;
/** Major and minor are 16 bits each. */
const PART_MAX = 65_535;
/** A longer text is no id, whatever it is. */
const WRITTEN_MAX = 100;
const FORMS = 'a MAC has 12 hex digits, an iBeacon is UUID-MAJOR-MINOR, an Eddystone-UID NAMESPACE-INSTANCE, an AltBeacon has 40 hex digits';

/**
 * Reads a beacon id as people and phones write it (`c2:a6:28:38:4b:08`, lower case, a UUID with dashes). Only separators and case are
 * changed: zeros in front of a number may as well be a typing error.
 * @param {string} text
 * @returns {{beacon: string}|{reason: string}} beacon: in its one canonical form; reason: why it can never match
 */
function readBeacon(text) {
  const upper = text.trim().toUpperCase();
  if (upper === '') return { reason: 'is missing' };
  if (upper.length > WRITTEN_MAX) return { reason: `has ${upper.length} characters; ${FORMS}` };
  const beacon = WRITTEN_MAC.test(upper) ? upper.replace(/[:-]/g, '') : upper.replace(WRITTEN_UUID, '$1$2$3$4$5');
  if (NO_MAC.test(beacon)) return { reason: 'is an address that no device has: it stands for none' };
  if ([MAC, EDDYSTONE, ALTBEACON].some((form) => form.test(beacon))) return { beacon };
  const [, , ...numbers] = IBEACON.exec(beacon) ?? [];
  const faults = numbers.flatMap((number, i) => numberFault(['major', 'minor'][i] ?? '', number));
  if (numbers.length > 0) return faults.length > 0 ? { reason: faults.join(' and ') } : { beacon };
  if (!/[0-9A-F]/.test(upper)) return { reason: `has no hex digit; ${FORMS}` };
  if (/^[0-9A-F]{32}(?:-\d+)?$/.test(beacon)) return { reason: 'is a UUID without major and minor; write UUID-MAJOR-MINOR' };
  return { reason: `is no beacon id; ${FORMS}` };
}

/** @param {string} part @param {string} number @returns {string[]} */
function numberFault(part, number) {
  if (/^0\d/.test(number)) return [`has a ${part} with zeros in front: write ${Number(number) > PART_MAX ? 'it without' : Number(number)}, not ${number}`];
  return Number(number) > PART_MAX ? [`has the ${part} ${number}, at most ${PART_MAX} is possible`] : [];
}

/**
 * A beacon id in its canonical form.
 * @param {string} text as people write it
 * @returns {string|null} null: not a beacon id
 */
function normaliseBeacon(text) {
  const read = readBeacon(text);
  return 'beacon' in read ? read.beacon : null;
}

/**
 * A beacon that somebody asks for: as it stands in the building file, which may have ids of an earlier version, else in its
 * canonical form.
 * @param {{isRegistered: (beacon: string) => boolean}} building @param {string} written
 * @returns {{beacon: string, reason: ''}|{beacon: null, reason: string}}
 */
function beaconIn(building, written) {
  const upper = written.trim().toUpperCase();
  if (building.isRegistered(upper)) return { beacon: upper, reason: '' };
  const read = readBeacon(written);
  return 'beacon' in read ? { beacon: read.beacon, reason: '' } : { beacon: null, reason: read.reason };
}

module.exports = { ID, BEACON, readBeacon, normaliseBeacon, beaconIn };
