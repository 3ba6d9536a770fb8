/**
 * A walk that is recorded: taps that the server may not have yet, and what is said of a recording.
 * @typedef {{tap: string, ts: number, room: string|null}} Tap as the server has it; room null: in none
 * @typedef {{kind: 'tap', recording: string, tap: string, room: string|null, atMs: number} |
 *   {kind: 'undo', recording: string, tap: string}} Change that waits to be sent, by this phone's clock
 * @typedef {{gateway_readings: number, phone_readings: number, last_reading_ms: number|null, started_ms: number,
 *   stopped_ms: number|null, lost_readings: number, outside_readings: number, taps_count: number}} Recording
 */

/** The server takes no older tap; no recording lasts longer. */
const OLDEST_MS = 3_600_000;
/** A receiver sends at least every four seconds. */
const SILENT_MS = 8000;

/**
 * The taps as they will be when all that waits is sent.
 * @param {readonly Pick<Tap, 'tap'|'room'>[]} taps @param {readonly Change[]} waiting
 * @returns {Pick<Tap, 'tap'|'room'>[]}
 */
export const withChanges = (taps, waiting) => waiting.reduce((all, change) => {
  const others = all.filter(({ tap }) => tap !== change.tap);
  return change.kind === 'tap' ? [...others, change] : others;
}, [...taps]);

/**
 * Take the last tap back: one that was not sent yet is just not sent.
 * @param {readonly Change[]} waiting @param {string} recording @param {string} tap @param {boolean} isFirstSent the first is on its way
 * @returns {Change[]}
 */
export function undone(waiting, recording, tap, isFirstSent) {
  const at = waiting.findIndex((change) => change.kind === 'tap' && change.tap === tap);
  if (at >= (isFirstSent ? 1 : 0)) return waiting.filter((_, i) => i !== at);
  return [...waiting, { kind: 'undo', recording, tap }];
}

/**
 * A change as a request.
 * @param {Change} change @param {number} nowMs by this phone's clock
 * @returns {{path: string, method: string, body?: object}}
 */
export function requestOf(change, nowMs) {
  const path = `/recordings/${change.recording}/taps`;
  if (change.kind === 'undo') return { path: `${path}/${change.tap}`, method: 'DELETE' };
  const ageMs = Math.min(OLDEST_MS, Math.max(0, Math.round(nowMs - change.atMs)));
  return { path, method: 'POST', body: { tap: change.tap, room: change.room ?? '', age_ms: ageMs } };
}

/** Whether it is worth sending again. @param {number} status of a fault, 0: no answer */
export const isPassing = (status) => status === 0 || status === 401 || status === 429 || status >= 500;

/** "4:05", "1:00:00". @param {number} ms */
export function stopwatch(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes, seconds] = [Math.floor(s / 3600), Math.floor(s / 60) % 60, s % 60].map((part) => String(part).padStart(2, '0'));
  return hours === '00' ? `${Number(minutes)}:${seconds}` : `${Number(hours)}:${minutes}:${seconds}`;
}

/** @param {Pick<Recording, 'gateway_readings'|'phone_readings'>} recording */
export const readingsOf = ({ gateway_readings: gateway, phone_readings: phone }) => gateway + phone;

/** For how long nothing was heard, ms; null: there is nothing wrong. @param {Recording} recording @param {number} nowMs */
export function silentMs({ last_reading_ms: last, started_ms: started }, nowMs) {
  const ms = nowMs - (last ?? started);
  return ms > SILENT_MS ? ms : null;
}

/** @param {number} number @param {string} what */
export const count = (number, what) => `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`;

/** What is not as it should be with one that is over. @param {Recording} recording */
export function flawsOf(recording) {
  const { taps_count: taps, lost_readings: lost, outside_readings: outside } = recording;
  return [
    ...(readingsOf(recording) === 0 ? ['nothing was heard'] : []),
    ...(taps === 0 ? ['no room was tapped'] : []),
    ...(lost > 0 ? [`${count(lost, 'reading')} could not be written`] : []),
    ...(outside > 0 ? [`${count(outside, 'reading')} had a time outside it: check the clocks of the receivers`] : []),
  ];
}
