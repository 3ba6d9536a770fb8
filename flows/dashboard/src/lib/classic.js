import { verdict } from './liveness.js';

/**
 * A row of the classic monitoring view.
 * @param {{staff_id: string, level: string, location: string, timestamp: number, rssi: number, mac: string}} record of
 *   `/retrieveformonitoring`; timestamp in epoch seconds
 * @param {string} [zone] default: the zone of the browser
 * @returns {string[]}
 */
export const cells = ({ staff_id, level, location, timestamp, rssi, mac }, zone) => [
  staff_id, level, location, local(timestamp * 1000, zone), String(rssi), mac,
];

/**
 * Status of the page: whether the rows are current.
 * @param {{parts: Record<string, {status: string, reason?: string}>}} health answer of `/health`
 * @param {{timestamp: number}[]} rows the newest first, epoch seconds
 * @param {number} serverNowMs epoch ms by its clock
 */
export function pageStatus({ parts }, rows, serverNowMs) {
  const heard_ms = rows[0] ? rows[0].timestamp * 1000 : null;
  const status = { parts: Object.entries(parts).map(([id, part]) => ({ id, ...part })), heard_ms };
  const now = { connected: true, loggedOut: false, heardAtMs: serverNowMs, nowMs: serverNowMs, aheadMs: 0 };
  const { level, text, details } = verdict({ ...now, status });
  if (level === 'down') return { level, text };
  return { level, text: `${['Live', ...details].join('; ')}. ${rows.length} staff in the last 15 minutes` };
}

/** "2026-03-01 12:34:56" @param {number} ms @param {string} [zone] */
const local = (ms, zone) => new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone: zone }).format(ms);
