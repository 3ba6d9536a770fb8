/**
 * Whether the page shows the present, and the text for it.
 * @typedef {{id: string, status: string, reason?: string, remedy?: string}} Part
 * @typedef {{level: 'live'|'warn'|'down', text: string, details: string[], reached: boolean}} Verdict
 *   down: the page is not current; warn: it is, but something else does not work; reached: the server answers
 */

/** The server sends at least once a second. */
const SILENT_MS = 3500;
/** Receivers send every few seconds. */
const NO_READINGS_MS = 20_000;

/** Effect of a part that is down. @type {Record<string, string>} */
const MEANING = {
  influxdb: 'history is not available: the database is away',
  ingest: 'nothing is being stored at the moment',
  rebuild: 'what was missed is still being worked out',
  building: 'the changed building file is refused, the one of before is in use',
};

/**
 * @param {{connected: boolean, loggedOut: boolean, heardAtMs: number, nowMs: number, aheadMs: number,
 *   status: {parts: Part[], heard_ms: number|null}|null}} state
 * @returns {Verdict}
 */
export function verdict({ connected, loggedOut, heardAtMs, nowMs, aheadMs, status }) {
  const down = (/** @type {string} */ text, reached = false) => (
    { level: /** @type {const} */ ('down'), text: `Not live: ${text}`, details: [], reached });
  if (loggedOut) return down('the login has ended');
  if (!connected) return down('no connection to the server');
  if (nowMs - heardAtMs > SILENT_MS) return down('the server does not answer');
  if (!status) return { level: 'warn', text: 'Connecting', details: [], reached: false };
  const broken = status.parts.filter((part) => part.status !== 'up');
  if (broken.some(({ id }) => id === 'broker')) return down('the message broker is away', true);
  const details = broken.map(({ id, reason }) => MEANING[id] ?? reason ?? `${id} does not work`);
  const quietMs = status.heard_ms === null ? Infinity : nowMs + aheadMs - status.heard_ms;
  if (quietMs > NO_READINGS_MS) details.push('no readings are coming in');
  if (details.length === 0) return { level: 'live', text: 'Live', details, reached: true };
  const [first = ''] = details;
  return { level: 'warn', text: `Live, but ${first}`, details, reached: true };
}
