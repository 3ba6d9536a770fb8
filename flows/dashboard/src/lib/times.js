/**
 * Times for people, in the zone of the browser. All take epoch ms.
 */

/** A duration in one or two units: "8 s", "12 min", "3 h 5 min", "2 d 4 h". @param {number} ms */
export function duration(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return hours % 24 ? `${Math.floor(hours / 24)} d ${hours % 24} h` : `${Math.floor(hours / 24)} d`;
}

/** A duration, rounded to minutes from one minute on. @param {number} ms */
export const about = (ms) => duration(ms < 60_000 ? ms : Math.round(ms / 60_000) * 60_000);

/** Making one takes longer than a thousand uses of it. @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/** @param {'dateStyle'|'timeStyle'} style @param {'short'|'medium'} length @param {string} [zone] default: the zone of the browser */
function format(style, length, zone) {
  const key = `${style} ${length} ${zone}`;
  const known = formats.get(key) ?? new Intl.DateTimeFormat('en-GB', { [style]: length, timeZone: zone });
  formats.set(key, known);
  return known;
}

/** @param {number} ms @param {string} [zone] default: the zone of the browser */
export const clock = (ms, zone) => format('timeStyle', 'medium', zone).format(ms);

/** "1 Mar 2026, 12:34:56". @param {number} ms @param {string} [zone] */
export const dated = (ms, zone) => `${format('dateStyle', 'medium', zone).format(ms)}, ${clock(ms, zone)}`;

/** A time, with the day unless it is today. @param {number} ms @param {number} nowMs @param {string} [zone] */
export function moment(ms, nowMs, zone) {
  const day = format('dateStyle', 'medium', zone);
  return day.format(ms) === day.format(nowMs) ? clock(ms, zone) : dated(ms, zone);
}

/** The last midnight of this browser. @param {number} nowMs */
export function startOfDay(nowMs) {
  const day = new Date(nowMs);
  day.setHours(0, 0, 0, 0);
  return day.getTime();
}

/** A day of this browser's calendar, "2026-03-01". @param {number} ms */
export function dayOf(ms) {
  const day = new Date(ms);
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}

/** "14:30". @param {number} ms @param {string} [zone] */
export const hourOf = (ms, zone) => format('timeStyle', 'short', zone).format(ms);

/** Offset of local time from UTC at a time. @param {number} ms */
export const zoneMs = (ms) => -new Date(ms).getTimezoneOffset() * 60_000;

/** Value of a date and time input. @param {number} ms */
export const fieldOf = (ms) => `${dayOf(ms)}T${clock(ms)}`;

/** Time of a date and time input; NaN: empty. @param {string} text */
export const fieldMs = (text) => new Date(text).getTime();
