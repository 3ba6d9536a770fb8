/**
 * Gateways, beacons and alerts as the devices page shows them. Times in epoch ms.
 * @typedef {{levels: {id: string, name: string, rooms: {id: string, name: string}[]}[], staff: Record<string, string>}} Building
 * @typedef {{id: string, listed: boolean, level: string|null, room: string|null, state: string, since: number|null, version: string|null,
 *   reading_ms: number|null, readings_per_s: number, health_ms: number|null, queued: number|null, dropped: number|null,
 *   scan_restarts: number|null, clock_offset_ms: number|null, clock_synchronised: number|null,
 *   rssi_bias_db: number|null, learned_offset: {db: number, since: number}|null,
 *   clock_wrong?: WrongClock|null}} Gateway of the topic `devices`
 * @typedef {{ahead_ms: number, since: number, corrected: boolean}} WrongClock by what arrives; negative: it is behind
 * @typedef {Gateway & {place: string|null}} GatewayRow
 * @typedef {{beacon: string, kind: 'fixed'|'tag', level: string|null, room: string|null, staff_id: string|null,
 *   heard: {ts: number, receiver: string, rssi: number}|null, measured: {ts: number, battery_mv: number|null}|null,
 *   rssi_bias_db: number|null, learned_offset: {db: number, since: number}|null}} Beacon of
 *   `/api/v1/beacons`
 * @typedef {{id: string, kind: 'fixed'|'tag', place: string|null, level: string|null, room: string|null, staff_id: string|null,
 *   heard_ms: number|null, receiver: string|null, rssi: number|null, battery_mv: number|null,
 *   rssi_bias_db: number|null, learned_offset: {db: number, since: number}|null}} BeaconRow
 */

/** @param {Building} building @returns {(level: string|null, room: string|null) => string|null} names of places */
function places(building) {
  const levels = new Map(building.levels.map(({ id, name }) => [id, name]));
  const rooms = new Map(building.levels.flatMap(({ rooms: all }) => all.map(({ id, name }) => [id, name])));
  return (level, room) => (room === null ? null : [rooms.get(room) ?? room, levels.get(level ?? '') ?? level].filter(Boolean).join(', '));
}

/** @param {Building} building @param {Gateway[]} gateways @returns {GatewayRow[]} */
export function gatewayRows(building, gateways) {
  const rooms = new Map(building.levels.flatMap((level) => level.rooms.map(({ id, name }) => [id, name])));
  return gateways.map((one) => ({ ...one, place: one.room === null ? null : rooms.get(one.room) ?? one.room }));
}

const STATES = ['offline', 'silent', 'unknown', 'online'];
/** Text and style of a state. @type {Record<string, {word: string, tone: string}>} */
export const GATEWAY_STATES = {
  online: { word: 'online', tone: 'good' },
  offline: { word: 'offline', tone: 'bad' },
  silent: { word: 'silent', tone: 'bad' },
  unknown: { word: 'not heard', tone: '' },
};

/** @type {import('./table.js').Column<GatewayRow>[]} */
export const GATEWAY_COLUMNS = [
  { key: 'id', title: 'Gateway', value: ({ id }) => id },
  { key: 'state', title: 'State', value: ({ state }) => STATES.indexOf(state) },
  { key: 'place', title: 'Place', value: ({ place }) => place },
  { key: 'reading', title: 'Last reading', value: ({ reading_ms }) => reading_ms, numeric: true },
  { key: 'rate', title: 'Readings/s', value: ({ readings_per_s }) => readings_per_s, numeric: true },
  { key: 'clock', title: 'Clock', value: ({ clock_wrong: wrong, clock_offset_ms: said }) => wrong?.ahead_ms ?? said, numeric: true },
  { key: 'bias', title: 'Hears people', value: ({ rssi_bias_db }) => rssi_bias_db, numeric: true },
  { key: 'queued', title: 'Queue', value: ({ queued }) => queued, numeric: true },
  { key: 'dropped', title: 'Drops', value: ({ dropped }) => dropped, numeric: true },
  { key: 'restarts', title: 'Restarts', value: ({ scan_restarts }) => scan_restarts, numeric: true },
  { key: 'version', title: 'Version', value: ({ version }) => version },
];

/** A larger offset makes people appear in the past. */
const OFFSET_MAX_MS = 1000;

/** How far a clock is off, in words. @param {WrongClock} clock */
export function clockText({ ahead_ms: ms }) {
  const seconds = Math.round(Math.abs(ms) / 1000);
  const text = seconds < 600 ? `${seconds} s` : seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
  return `${text} ${ms > 0 ? 'ahead' : 'behind'}`;
}

/** What follows from a wrong clock. @param {WrongClock} clock */
export const clockHint = ({ corrected }) => (corrected ? 'corrected' : 'too far to be corrected');

/**
 * State of a gateway's clock: by what arrives, where that says it is off, else by what the gateway says.
 * @param {Gateway} gateway @returns {{text: string, bad: boolean, hint?: string}|null} null: not known
 */
export function clockOf({ clock_wrong: wrong = null, clock_offset_ms: offset, clock_synchronised: synchronised }) {
  if (wrong) return { text: clockText(wrong), bad: true, hint: clockHint(wrong) };
  if (synchronised === 0) return { text: 'not set', bad: true };
  if (offset === null) return synchronised === null ? null : { text: 'in step', bad: false };
  const bad = Math.abs(offset) > OFFSET_MAX_MS;
  const sign = Math.round(offset) === 0 ? '' : offset < 0 ? '−' : '+';
  return { text: `${sign}${bad ? `${(Math.abs(offset) / 1000).toFixed(1)} s` : `${Math.round(Math.abs(offset))} ms`}`, bad };
}

/** @param {Building} building @param {Beacon[]} beacons @returns {BeaconRow[]} */
export function beaconRows(building, beacons) {
  const place = places(building);
  return beacons.map(({ beacon, kind, level, room, staff_id: staff, heard, measured, rssi_bias_db, learned_offset }) => ({
    id: beacon, kind, level, room, staff_id: staff, place: staff === null ? place(level, room) : building.staff[staff] ?? staff,
    heard_ms: heard?.ts ?? null, receiver: heard?.receiver ?? null, rssi: heard?.rssi ?? null, battery_mv: measured?.battery_mv ?? null,
    rssi_bias_db, learned_offset,
  }));
}

/** @type {import('./table.js').Column<BeaconRow>[]} */
export const BEACON_COLUMNS = [
  { key: 'id', title: 'Beacon', value: ({ id }) => id },
  { key: 'kind', title: 'Kind', value: ({ kind }) => (kind === 'tag' ? 'tag' : 'fixed') },
  { key: 'place', title: 'Where, or whose', value: ({ place }) => place },
  { key: 'heard', title: 'Last heard', value: ({ heard_ms }) => heard_ms, numeric: true },
  { key: 'receiver', title: 'By', value: ({ receiver }) => receiver },
  { key: 'rssi', title: 'Signal', value: ({ rssi }) => rssi, numeric: true },
  { key: 'bias', title: 'Phones hear it', value: ({ rssi_bias_db }) => rssi_bias_db, numeric: true },
  { key: 'battery', title: 'Battery', value: ({ battery_mv }) => battery_mv },
];

/** @type {import('./table.js').Column<any>[]} unregistered beacons */
export const UNREGISTERED_COLUMNS = [
  { key: 'id', title: 'Beacon', value: ({ id }) => id },
  { key: 'heard', title: 'Last heard', value: ({ heard_ms }) => heard_ms, numeric: true },
  { key: 'receiver', title: 'By', value: ({ receiver }) => receiver },
  { key: 'rssi', title: 'Signal', value: ({ rssi }) => rssi, numeric: true },
  { key: 'count', title: 'Readings', value: ({ count }) => count, numeric: true },
];

/**
 * @typedef {{address: string, port: number}} Endpoint
 * @typedef {{id: string, count: number, since: number, last_ms: number, shared: boolean, addresses: string[], thrown_out: Endpoint,
 *   connected: Endpoint}} Takeover of the topic `devices`: an account whose session one connection took from another
 */

/** @param {Endpoint} endpoint */
const endpointText = ({ address, port }) => {
  if (!port) return address; // not every broker says it
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
};

/** @type {import('./table.js').Column<Takeover>[]} */
export const TAKEOVER_COLUMNS = [
  { key: 'id', title: 'Account', value: ({ id }) => id },
  { key: 'shared', title: 'State', value: ({ shared }) => (shared ? 'used by two devices' : 'taken over') },
  { key: 'connected', title: 'Connected from', value: ({ connected }) => endpointText(connected) },
  { key: 'out', title: 'Thrown out', value: ({ thrown_out }) => endpointText(thrown_out) },
  { key: 'count', title: 'Times in ten minutes', value: ({ count }) => count, numeric: true },
  { key: 'last', title: 'Last', value: ({ last_ms }) => last_ms, numeric: true },
];

/** Titles of alerts by kind. @type {Record<string, string>} */
export const ALERT_TITLES = {
  gateway_down: 'Gateway down',
  account_shared: 'Account used by two devices',
  ingest_behind: 'Ingest behind',
  clock_behind: 'Clock behind',
  clock_wrong: 'Clock wrong',
  certificate_ending: 'Certificate ends',
  messages_lost: 'Messages lost',
  overloaded: 'Overloaded',
  messages_refused: 'Refused messages',
  beacon_silent: 'Beacon silent',
  battery_low: 'Battery low',
  room_crowded: 'Room crowded',
  sda_lost: 'SDA lost',
};

/**
 * @typedef {{id: string, kind: string, severity: 'critical'|'warning', since: number, ended_ms: number|null, text: string, todo: string,
 *   level: string|null, room: string|null, acknowledged: {by: string, ts: number}|null}} Alert of `/api/v1/alerts`
 * @typedef {{kind: string, severity: 'critical'|'warning', state: 'open'|'acknowledged'|'ended', count: number, since: number,
 *   changed_ms: number, todo: string|null, levels_count: number, levels: {level: string, count: number}[], rooms_count: number,
 *   rooms: {level: string|null, room: string, count: number}[], alerts: Alert[]}} AlertGroup of the topic `devices`
 */

/** Whether a group holds all its alerts, which are then shown one by one. @param {AlertGroup} group */
export const isSingle = ({ count, alerts }) => count <= alerts.length;

/** Number of alerts of groups. @param {AlertGroup[]} groups */
export const countOf = (groups) => groups.reduce((sum, { count }) => sum + count, 0);

/**
 * Where the alerts of a group are: "On Level 1 (20), Level 2 (3) and 2 more levels", "Most in Hall (9) and 4 more rooms".
 * @param {Building} building @param {AlertGroup} group
 * @returns {string[]} a line about levels, one about rooms, where they say more than nothing
 */
export function spread(building, { count, levels, levels_count: levelCount, rooms, rooms_count: roomCount }) {
  const levelNames = new Map(building.levels.map(({ id, name }) => [id, name]));
  const roomNames = new Map(building.levels.flatMap((level) => level.rooms.map(({ id, name }) => [id, name])));
  const line = (/** @type {[string, number][]} */ named, /** @type {number} */ all, /** @type {string} */ what) => {
    const more = all - named.length;
    const listed = named.map(([name, its]) => `${name} (${its.toLocaleString('en')})`).join(', ');
    return `${listed}${more > 0 ? ` and ${more.toLocaleString('en')} more ${what}${more > 1 ? 's' : ''}` : ''}`;
  };
  const lines = [];
  if (levelCount > 0) lines.push(`On ${line(levels.map((one) => [levelNames.get(one.level) ?? one.level, one.count]), levelCount, 'level')}`);
  if (roomCount > 0 && roomCount < count) {
    lines.push(`Most in ${line(rooms.map((one) => [roomNames.get(one.room) ?? one.room, one.count]), roomCount, 'room')}`);
  }
  return lines;
}
