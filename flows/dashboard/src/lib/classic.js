/**
 * A row of the classic monitoring view.
 * @param {{staff_id: string, level: string, location: string, timestamp: number, rssi: number, mac: string}} record of
 *   `/retrieveformonitoring`; timestamp in epoch seconds
 * @param {string} [zone] for tests; of the browser if not given
 * @returns {string[]}
 */
export const cells = ({ staff_id, level, location, timestamp, rssi, mac }, zone) => [
  staff_id, level, location, local(timestamp * 1000, zone), String(rssi), mac,
];

/** "2026-03-01 12:34:56" @param {number} ms @param {string} [zone] */
const local = (ms, zone) => new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone: zone }).format(ms);
