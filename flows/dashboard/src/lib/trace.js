import { isProbable } from './probable.js';
import { duration } from './times.js';

/**
 * Texts for the trace of a person, and for strengths of tags, phones and receivers.
 * @typedef {{staff_id: string, ts: number|null, room: string|null, rooms: {room: string, level: string, probability: number}[],
 *   heard: {id: string, room: string, rssi: number, readings: number, age_s: number, expected: (number|null)[]}[], level_db: number|null,
 *   level_sd_db: number|null, change: {room: string, lead_nats: number, needed_nats: number}|null}} Trace of
 *   `/api/v1/staff/{id}/trace`
 * @typedef {{id: string, place: string, rssi: number, here: number|null, there: number|null, age: string}} HeardRow
 */

/** A larger deviation is worth a correction of the building file, dB. */
const TAG_OFF_DB = 6;
const RECEIVER_OFF_DB = 4;

/** @param {number} db @returns {string} without a sign */
const size = (db) => String(Math.abs(Math.round(db)));

/** Probability of each room. @param {Trace} trace @param {(room: string) => string} nameOf */
export const beliefBars = ({ rooms, room: current }, nameOf) => rooms.map(({ room, probability }) => (
  { room, name: nameOf(room), percent: Math.round(probability * 100), isCurrent: room === current,
    isProbable: room === current && isProbable(probability) }));

/**
 * RSSI of each receiver, with the expected RSSI in the current room and in the likeliest other room.
 * @param {Trace} trace @param {(room: string) => string} nameOf @param {number} nowMs
 * @returns {HeardRow[]}
 */
export function heardRows({ ts, rooms, room, heard, change }, nameOf, nowMs) {
  const [here, there] = [room, change?.room].map((one) => rooms.findIndex((other) => other.room === one));
  return heard.map(({ id, room: deviceRoom, rssi, age_s, expected }) => ({
    id, place: deviceRoom === '' ? '' : nameOf(deviceRoom), rssi: Math.round(rssi), here: rounded(expected[here]), there: rounded(expected[there]),
    age: duration(age_s * 1000 + nowMs - (ts ?? nowMs)),
  }));
}

/** @param {number|null|undefined} dbm */
const rounded = (dbm) => (dbm === undefined || dbm === null ? null : Math.round(dbm));

/**
 * How far the likeliest other room is behind.
 * @param {Trace} trace @param {(room: string) => string} nameOf
 * @returns {string} empty: no other room
 */
export function changeText({ room, change }, nameOf) {
  if (room === null || change === null) return '';
  return `${nameOf(change.room)} is behind by ${Math.abs(change.lead_nats).toFixed(1)}`;
}

/** "5 dB weaker". @param {number} db */
export const strengthWord = (db) => `${size(db)} dB ${db > 0 ? 'stronger' : 'weaker'}`;

/** @param {number} db @param {string} than */
const strength = (db, than) => (Math.round(db) === 0 ? `as strong as ${than}` : `${strengthWord(db)} than ${than}`);

/** "7 dB stronger than calibrated (±2)". @param {number|null} db @param {number|null} sdDb @returns {string|null} null: not known */
export const levelText = (db, sdDb) => (db === null || sdDb === null ? null : `${strength(db, 'calibrated')} (±${Math.max(1, Math.round(sdDb))})`);

/** Advice for a deviation. @param {{level_db: number|null, tags: string[]}} person @returns {string} empty: none */
export function levelHint({ level_db: db, tags }) {
  if (db === null || tags.length === 0 || Math.abs(db) <= TAG_OFF_DB) return '';
  return `set tag_tx ${size(db)} dB ${db > 0 ? 'higher' : 'lower'} in the building file`;
}

/** "5 dB weaker than expected". @param {number|null} db @returns {string|null} null: not known */
export const biasText = (db) => (db === null ? null : strength(db, 'expected'));

/** "7 dB taken off". What is learned of a device and in use. @param {{db: number}} inUse */
export const correctionText = ({ db }) => `${Math.abs(db)} dB ${db > 0 ? 'taken off' : 'added'}`;

/** Advice for a deviation. @param {'gateway'|'beacon'} kind @param {number|null} db @returns {string} empty: none */
export function biasHint(kind, db) {
  if (db === null || Math.abs(db) < RECEIVER_OFF_DB) return '';
  return kind === 'gateway' ? 'check its place and antenna, or set rssi_offset' : 'check its place and battery, or set tx';
}

/**
 * Tags and phones of people, as the devices page shows them.
 * @param {{staff_id: string, name: string|null, tags: string[], level_db: number|null, level_sd_db: number|null}[]} staff of
 *   `/api/v1/staff`
 * @param {(import('./devices.js').WrongClock & {receiver: string})[]} [wrongClocks] of phones
 */
export function strengthRows(staff, wrongClocks = []) {
  const clocks = new Map(wrongClocks.map((clock) => [clock.receiver, clock]));
  return staff.map((one) => ({ ...one, id: one.staff_id, carries: one.tags.join(', ') || 'phone', clock: clocks.get(one.staff_id) ?? null }));
}

/** @type {import('./table.js').Column<ReturnType<typeof strengthRows>[number]>[]} */
export const STRENGTH_COLUMNS = [
  { key: 'id', title: 'Who', value: ({ id }) => id },
  { key: 'carries', title: 'Tag or phone', value: ({ carries }) => carries },
  { key: 'strength', title: 'Strength', value: ({ level_db }) => level_db, numeric: true },
  { key: 'clock', title: 'Clock of the phone', value: ({ clock }) => clock?.ahead_ms ?? null, numeric: true },
];
