import { ID } from '../../../lib/building/ids.js';
import { stamp } from './csv.js';

/**
 * The choice of the history page, in the parameters of its address: `level` or `staff` (ids with commas), `from` and `to` in UTC.
 * @typedef {{staff: string[], level: string, fromMs: number, toMs: number}} Choice staff: []: everybody of the level
 */

const MINUTE_MS = 60_000;
const WINDOW_MAX_MS = 31 * 24 * 60 * MINUTE_MS;
export const STAFF_MAX = 200;

/** Usual lengths of time before now. */
export const LENGTHS = [15, 30, 60, 240, 480].map((minutes) => ({ ms: minutes * MINUTE_MS,
  text: minutes < 60 ? `${minutes} min` : `${minutes / 60} h` }));

/** @param {string|undefined} text @returns {string[]} ids, each once */
export const idsOf = (text) => [...new Set((text ?? '').split(',').filter((id) => ID.test(id)))].slice(0, STAFF_MAX);

/** @param {string} text */
export const isId = (text) => ID.test(text);

/** @param {string|undefined} text @returns {number|null} */
export function momentOf(text) {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/.test(text ?? '') ? Date.parse(/** @type {string} */ (text)) : NaN;
  return Number.isNaN(ms) ? null : ms;
}

/**
 * @param {Record<string, string|undefined>} query
 * @param {string[]} levels ids of the building
 * @returns {Choice|null} null: nothing is chosen, or the choice is invalid
 */
export function choiceOf(query, levels) {
  const [fromMs, toMs] = [momentOf(query.from), momentOf(query.to)];
  const staff = idsOf(query.staff);
  if (fromMs === null || toMs === null || faultOf({ staff, level: '', fromMs, toMs }, null)) return null;
  const level = levels.includes(query.level ?? '') ? /** @type {string} */ (query.level) : '';
  return staff.length === 0 && level === '' ? null : { staff, level: staff.length > 0 ? '' : level, fromMs, toMs };
}

/** @param {Choice} choice @returns {Record<string, string>} */
export const queryOf = ({ staff, level, fromMs, toMs }) =>
  ({ ...(staff.length > 0 ? { staff: staff.join(',') } : { level }), from: instant(fromMs), to: instant(toMs) });

/** A short UTC time for the address. @param {number} ms */
export const instant = (ms) => stamp(ms).replace('.000Z', 'Z');

/**
 * The fault of a choice.
 * @param {Choice} choice @param {'staff'|'level'|null} by what must be chosen
 * @returns {string} empty: no fault
 */
export function faultOf({ staff, fromMs, toMs }, by) {
  if (by === 'staff' && staff.length === 0) return 'Choose at least one staff member';
  if (!Number.isFinite(fromMs) || !Number.isFinite(toMs)) return 'From and to have to be times';
  if (fromMs >= toMs) return 'From has to be before to';
  if (toMs - fromMs > WINDOW_MAX_MS) return 'At most 31 days can be shown at once';
  return '';
}
