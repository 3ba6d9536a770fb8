import { duration } from './times.js';

/**
 * Texts of the system page: figures, parts, refusals and losses.
 * @typedef {{id: string, status: string, reason?: string, remedy?: string}} Part of the status of every snapshot
 * @typedef {{name: string, total: number, lately: number}} Count of the topic `system`
 * @typedef {{id: string, title: string, program: string, tone: string, word: string, reason: string, remedy: string,
 *   memory: string|null}} PartRow memory null: not a process of its own
 * @typedef {{id: string, what: string, why: string, total: number, lately: number}} CountRow
 */

/** The processes, in the order of the data flow. */
const PROGRAMS = [
  { id: 'broker', title: 'Message broker', program: 'Mosquitto' },
  { id: 'ingest', title: 'Ingest', program: 'Telegraf' },
  { id: 'influxdb', title: 'Database', program: 'InfluxDB' },
  { id: 'flows', title: 'Flows', program: 'Node-RED' },
];
/** Parts of the flows. @type {Record<string, string>} */
const DUTIES = { live: 'Live view', rebuild: 'Locating what was missed', building: 'Building file', keys: 'Keys', audit: 'Audit log', clock: 'Clock of this machine',
  losses: 'Lost messages', https: 'HTTPS' };

/**
 * @param {Part[]} parts
 * @param {Record<string, number|null>} memory bytes by part
 * @param {boolean} reached whether the server answers; without it nothing is known of the other parts
 * @returns {PartRow[]}
 */
export function partRows(parts, memory, reached) {
  const known = new Map(parts.map((part) => [part.id, part]));
  const state = (/** @type {string} */ id) => {
    const { status, reason = '', remedy = '' } = id === 'flows' ? { status: 'up' } : known.get(id) ?? { status: 'unknown' };
    if (!reached) return id === 'flows' ? { tone: 'bad', word: 'does not answer', reason: '', remedy: '' } : UNKNOWN;
    if (status === 'up') return { tone: 'good', word: 'up', reason: '', remedy: '' };
    return status === 'degraded' ? { tone: 'bad', word: 'degraded', reason, remedy } : UNKNOWN;
  };
  const programs = PROGRAMS.map((one) => ({ ...one, ...state(one.id), memory: reached ? bytes(memory[one.id] ?? null) : 'not known' }));
  const others = parts.filter(({ id }) => !PROGRAMS.some((one) => one.id === id))
    .map(({ id }) => ({ id, title: DUTIES[id] ?? id, program: 'Node-RED', ...state(id), memory: null }));
  return [...programs, ...others];
}
const UNKNOWN = { tone: '', word: 'not known', reason: '', remedy: '' };

/** @type {Record<string, [what: string, why: string]>} */
const REFUSED = {
  refused_not_json: ['Readings refused', 'not JSON'],
  refused_not_a_batch: ['Readings refused', 'not a batch of readings'],
  refused_too_large: ['Readings refused', 'larger than 64 KiB'],
  refused_too_many_readings: ['Readings refused', 'more than 500 in one message'],
  refused_version: ['Readings refused', 'another version of the format'],
  refused_ts_missing: ['Readings refused', 'without a time'],
  refused_ts_invalid: ['Readings refused', 'a time that is none'],
  refused_ts_too_old: ['Readings refused', 'older than 7 days: look at the clock of who sends them'],
  refused_ts_ahead: ['Readings refused', 'more than 5 minutes ahead: look at the clock of who sends them'],
  refused_beacon_invalid: ['Readings refused', 'a beacon id that is none'],
  refused_rssi_invalid: ['Readings refused', 'a signal strength that is none'],
  refused_rssi_unknown: ['Readings not located', 'their signal strength was not measured (0, -127 and the like); their other values are kept'],
  refused_optional_invalid: ['Values refused', 'battery, temperature or the like out of bounds; their readings are kept'],
  unregistered: ['Readings left out', 'of beacons that nobody registered'],
  located_later: ['Batches located later', 'more came than could be located at once; they are located from the database'],
  gateway_messages_refused: ['Messages of gateways refused', 'neither a state nor figures of health'],
  http_limited: ['Requests refused', 'above the limit of their caller (429)'],
  http_misdirected: ['Requests refused', 'under a host name that is not in HTTP_NAMES (421)'],
  unlisted_refused: ['Detections refused', 'of more people than may be without an entry in the building file (403)'],
  http_shed: ['Requests refused', 'faster than they could be answered (503)'],
  store_refused_busy: ['Questions unanswered', 'too many at once for the database (503)'],
  store_refused_away: ['Questions unanswered', 'the database was away (503)'],
  store_refused_failed: ['Questions unanswered', 'the database failed (503)'],
};
/** @type {Record<string, [what: string, why: string]>} */
const LOST = {
  gateway_dropped_age: ['Readings lost at gateways', 'kept for too long without a connection'],
  gateway_dropped_size: ['Readings lost at gateways', 'no space left to keep them'],
  gateway_dropped_time: ['Readings lost at gateways', 'the clock was never right'],
  gateway_dropped_disk: ['Readings lost at gateways', 'the disk took none'],
  broker_dropped: ['Messages lost in the broker', 'too many waited for somebody who was away'],
  ingest_dropped_readings: ['Readings lost in ingest', 'the database refused them, or too many waited'],
  ingest_dropped_locations: ['Locations lost in ingest', 'the database refused them, or too many waited'],
  ingest_dropped_health: ['Figures lost in ingest', 'the database refused them, or too many waited'],
  spool_dropped_readings: ['Readings lost on disk', 'the disk was nearly full, the oldest went first; or the database refused them'],
  spool_dropped_locations: ['Locations lost on disk', 'the disk was nearly full, the oldest went first; or the database refused them'],
  spool_dropped_health: ['Figures lost on disk', 'the disk was nearly full, the oldest went first; or the database refused them'],
  outbox_dropped: ['Locations and events lost in the flows', 'too many waited for the broker'],
  audit_dropped: ['Lines of the audit log lost', 'the disk did not take them'],
};

/** External counters and their source. @type {Record<string, string>} */
const EXTERNAL_COUNTERS = { ingest_dropped_readings: 'ingest', broker_dropped: 'the broker' };

/**
 * Rows of refusals and losses, the newest first.
 * @param {Count[]} counts
 * @returns {{refused: CountRow[], lost: CountRow[], unknown: string[]}} unknown: sources whose losses are not known at the moment
 */
export function countRows(counts) {
  const rows = (/** @type {Record<string, [string, string]>} */ words) => counts
    .filter(({ name, total }) => Object.hasOwn(words, name) && total > 0)
    .map(({ name, total, lately }) => ({ id: name, what: words[name][0], why: words[name][1], total, lately }))
    .sort((a, b) => b.lately - a.lately || b.total - a.total);
  const missing = Object.entries(EXTERNAL_COUNTERS).filter(([name]) => !counts.some((count) => count.name === name));
  return { refused: rows(REFUSED), lost: rows(LOST), unknown: missing.map(([, source]) => source) };
}

/** "84 MB". @param {number|null} value */
export function bytes(value) {
  if (value === null) return 'not known';
  const mb = value / 1e6;
  return mb < 10 ? `${mb.toFixed(1)} MB` : `${Math.round(mb)} MB`;
}

const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });
/** "3.2", "1,250". @param {number|null} value */
export const perSecond = (value) => (value === null ? '–' : value < 10 ? value.toFixed(1) : whole.format(value));

/** "240 ms", "1.3 s". @param {number|null} ms */
export function lag(ms) {
  if (ms === null) return '–';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms);
}

/** @param {number} value */
export const number = (value) => whole.format(value);

/** "18 online, 2 silent". @param {Record<string, number|null>} gateways number by state */
export function gatewayText(gateways) {
  const known = Object.entries(gateways).filter(([, count]) => count);
  return known.length === 0 ? 'there is none' : known.map(([state, count]) => `${count} ${state === 'unknown' ? 'not heard' : state}`).join(', ');
}
