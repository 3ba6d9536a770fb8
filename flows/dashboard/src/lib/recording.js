import { counted } from './words.js';

/**
 * Recording of a walk: taps that wait to be sent, and texts.
 * @typedef {{tap: string, ts: number, room: string|null}} Tap of the server; room null: in none
 * @typedef {{kind: 'tap', recording: string, tap: string, room: string|null, atMs: number} |
 *   {kind: 'undo', recording: string, tap: string}} Change that waits to be sent; atMs by this phone's clock
 * @typedef {{gateway_readings: number, phone_readings: number, last_reading_ms: number|null, started_ms: number,
 *   stopped_ms: number|null, lost_readings: number, outside_readings: number, taps_count: number}} Recording
 */

/** The server accepts no older tap; no recording is longer. */
const OLDEST_MS = 3_600_000;
/** A receiver sends at least every four seconds. */
const SILENT_MS = 8000;

/**
 * Taps with all waiting changes applied.
 * @param {readonly Pick<Tap, 'tap'|'room'>[]} taps @param {readonly Change[]} waiting
 * @returns {Pick<Tap, 'tap'|'room'>[]}
 */
export const withChanges = (taps, waiting) => waiting.reduce((all, change) => {
  const others = all.filter(({ tap }) => tap !== change.tap);
  return change.kind === 'tap' ? [...others, change] : others;
}, [...taps]);

/**
 * Undoes a tap: a tap that was not sent yet is removed, else an undo is added.
 * @param {readonly Change[]} waiting @param {string} recording @param {string} tap
 * @param {boolean} isFirstSent the first change is being sent
 * @returns {Change[]}
 */
export function undone(waiting, recording, tap, isFirstSent) {
  const at = waiting.findIndex((change) => change.kind === 'tap' && change.tap === tap);
  if (at >= (isFirstSent ? 1 : 0)) return waiting.filter((_, i) => i !== at);
  return [...waiting, { kind: 'undo', recording, tap }];
}

/**
 * The request of a change.
 * @param {Change} change @param {number} nowMs by this phone's clock
 * @returns {{path: string, method: string, body?: object}}
 */
export function requestOf(change, nowMs) {
  const path = `/recordings/${change.recording}/taps`;
  if (change.kind === 'undo') return { path: `${path}/${change.tap}`, method: 'DELETE' };
  const ageMs = Math.min(OLDEST_MS, Math.max(0, Math.round(nowMs - change.atMs)));
  return { path, method: 'POST', body: { tap: change.tap, room: change.room ?? '', age_ms: ageMs } };
}

/** Whether a request should be retried. @param {number} status of its error, 0: no answer */
export const isTemporary = (status) => status === 0 || status === 401 || status === 429 || status >= 500;

/** "4:05", "1:00:00". @param {number} ms */
export function stopwatch(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes, seconds] = [Math.floor(s / 3600), Math.floor(s / 60) % 60, s % 60].map((part) => String(part).padStart(2, '0'));
  return hours === '00' ? `${Number(minutes)}:${seconds}` : `${Number(hours)}:${minutes}:${seconds}`;
}

/** @param {Pick<Recording, 'gateway_readings'|'phone_readings'>} recording */
export const readingsOf = ({ gateway_readings: gateway, phone_readings: phone }) => gateway + phone;

/** Time without a reading, ms; null: readings come in. @param {Recording} recording @param {number} nowMs */
export function silentMs({ last_reading_ms: last, started_ms: started }, nowMs) {
  const ms = nowMs - (last ?? started);
  return ms > SILENT_MS ? ms : null;
}

/** Flaws of a finished recording. @param {Recording} recording */
export function flawsOf(recording) {
  const { taps_count: taps, lost_readings: lost, outside_readings: outside } = recording;
  return [
    ...(readingsOf(recording) === 0 ? ['nothing was heard'] : []),
    ...(taps === 0 ? ['no room was tapped'] : []),
    ...(lost > 0 ? [`${counted(lost, 'reading')} could not be written`] : []),
    ...(outside > 0 ? [`${counted(outside, 'reading')} had a time outside it: check the clocks of the receivers`] : []),
  ];
}
