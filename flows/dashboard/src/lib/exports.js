import { csv, stamp } from './csv.js';
import { covered } from './presence.js';

/**
 * History as files: times in UTC, durations in seconds.
 * @typedef {import('./playback.js').Stay} Stay
 * @typedef {import('./presence.js').Figures} Figures
 */

/**
 * @param {Stay[]} stays
 * @param {{staff: Record<string, string>, roomName: (room: string) => string}} names
 */
export const staysCsv = (stays, { staff, roomName }) => csv(
  ['staff_id', 'name', 'level', 'room', 'room_name', 'enter', 'leave', 'duration_s', 'ongoing'],
  stays.map((one) => [one.staff_id, staff[one.staff_id] ?? '', one.level, one.room, roomName(one.room), stamp(one.enter_ms), stamp(one.leave_ms),
    Math.round(one.duration_s), one.ongoing ? 1 : 0]));

/** @param {Figures[]} figures @param {import('./playback.js').Window} window */
export const roomsCsv = (figures, window) => csv(
  ['level', 'room', 'room_name', 'from', 'to', 'visits', 'staff', 'person_s', 'covered_s', 'covered_share', 'longest_gap_s', 'last'],
  figures.map((one) => [one.level, one.id, one.name, stamp(window.fromMs), stamp(window.toMs), one.visits, one.staff, seconds(one.ms),
    seconds(one.coveredMs),
    { figure: covered(one, window).toFixed(4) }, seconds(one.longestGapMs), one.lastMs === null ? null : stamp(one.lastMs)]));

/** @param {number} ms */
const seconds = (ms) => Math.round(ms / 1000);

/**
 * A file name without its extension.
 * @param {string} what @param {string} subject @param {import('./playback.js').Window} window
 */
export const fileName = (what, subject, { fromMs, toMs }) =>
  [what, subject, ...[fromMs, toMs].map((ms) => stamp(ms).replace(/[-:]/g, '').replace(/\.\d+/, ''))].join('-').replace(/[^\w.-]+/g, '_');
