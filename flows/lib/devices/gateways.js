// @ts-check
'use strict';

const { ID } = require('../building/ids');
const { counterIncrease } = require('../health/figures');
const { createRetainedStatuses } = require('./retained-statuses');

/**
 * State of the gateways, from their status and health messages and from their readings. Of gateways that the building file
 * does not list, the 256 that sent something last.
 * @typedef {'online'|'offline'|'silent'|'unknown'} State silent: nothing came for a minute, without an "offline" status;
 *   unknown: nothing has come yet
 * @typedef {{ts: number, version?: string, [figure: string]: number|string|undefined}} Health figures as the gateway sends them
 * @typedef {object} Known
 * @property {'online'|'offline'|null} reported state of its last status
 * @property {number|null} reportedMs since when; null: since before our start
 * @property {string|null} version
 * @property {Health|null} health the newest
 * @property {number} healthMs when it came, by our clock
 * @property {number|null} readingMs last readings, by our clock
 * @property {number|null} aliveMs last message that only a running gateway sends, by our clock
 * @property {number} aliveSinceMs since when those came without a pause
 * @property {number} rate readings a second at `readingMs`
 * @property {number|null} removedMs when it was removed, by its clock; readings of before say nothing about now
 * @typedef {{id: string, state: 'online'|'offline'|'removed'|null, data: any}} Message state: of a status message
 * @typedef {ReturnType<typeof createGateways>} Gateways
 */

/** Four health messages. */
const SILENT_MS = 60_000;
/** A gateway that goes on without health messages is as it said no longer. */
const HEALTH_MS = 300_000;
const UNLISTED_MAX = 256;
/** Time constant of the mean rate. */
const RATE_MS = 30_000;
const TOPIC = /^sda\/v1\/gateway\/([^/]+)\/(status|health)$/;
const PAYLOAD_BYTES = 8192;
const FIGURES = 64;

function createGateways() {
  /** @type {Map<string, Known>} those of the building file */
  const listed = new Map();
  /** @type {Map<string, Known>} others, the one silent for longest first */
  const unlisted = new Map();
  const losses = createLosses();
  const statuses = createRetainedStatuses();
  let refused = 0;

  /** @param {string} id @param {import('../building').Building} building */
  function knownOf(id, building) {
    const ours = listed.get(id);
    if (ours) return ours;
    const known = unlisted.get(id) ?? fresh();
    if (building.gateways.has(id)) {
      listed.set(id, known);
      return known;
    }
    unlisted.delete(id);
    unlisted.set(id, known);
    dropOldest();
    return known;
  }

  function dropOldest() {
    while (unlisted.size > UNLISTED_MAX) unlisted.delete(/** @type {string} */ (unlisted.keys().next().value));
  }

  /** Moves gateways that the new building lists, or no longer lists; their state stays. @param {import('../building').Building} building */
  function setBuilding({ gateways }) {
    for (const [from, to, isListed] of /** @type {const} */ ([[listed, unlisted, false], [unlisted, listed, true]])) {
      for (const [id, known] of from) {
        if (gateways.has(id) !== isListed) continue;
        from.delete(id);
        to.set(id, known);
      }
    }
    dropOldest();
  }

  /** @param {Known} known @param {number} nowMs */
  function alive(known, nowMs) {
    if (known.aliveMs === null || nowMs - known.aliveMs > SILENT_MS) known.aliveSinceMs = nowMs;
    known.aliveMs = nowMs;
  }

  /**
   * Takes a message of `gateway/<id>/status` or `…/health`. Bad messages are counted.
   * @param {{topic: string, payload: Buffer, retain?: boolean}} message retain: it was sent before we subscribed
   * @param {import('../building').Building} building
   * @param {number} nowMs
   * @returns {{gateway: string, up: boolean}|null} of a status message; null: of any other
   */
  function handleMessage({ topic, payload, retain = false }, building, nowMs) {
    if (payload.length === 0) { // what was retained is taken off
      const [, gone, what] = TOPIC.exec(topic) ?? [];
      if (what === 'status') statuses.forget(String(gone));
      return null;
    }
    const message = read(topic, payload);
    if (!message) {
      refused += 1;
      return null;
    }
    const { id, state } = message;
    if (state !== null) statuses.note(id, state === 'online', nowMs);
    if (retain && !building.gateways.has(id) && !unlisted.has(id)) return null; // it may have been taken away long ago
    const known = knownOf(id, building);
    note(known, message, nowMs, retain);
    return state === null ? null : { gateway: id, up: state === 'online' };
  }

  /** @param {Known} known @param {Message} message @param {number} nowMs @param {boolean} retain */
  function note(known, { state, data }, nowMs, retain) {
    if (state === 'removed') {
      Object.assign(known, fresh(), { removedMs: timeOf(data.ts, nowMs) });
      return;
    }
    const version = versionOf(data);
    if (version !== null || state === 'online') known.version = version;
    if (state !== 'offline') alive(known, nowMs);
    if (state === null) {
      const health = figures(data, nowMs);
      losses.add(known.health, health);
      known.health = health;
      known.healthMs = nowMs;
      return;
    }
    // "online" has the sender's time; a last will has the time of the connection, not of its end
    if (state === 'online') known.reportedMs = timeOf(data.ts, nowMs);
    else if (known.reported !== state) known.reportedMs = retain ? null : nowMs;
    known.reported = state;
  }

  /**
   * @param {import('../live/readings').Batch} batch of a gateway @param {import('../building').Building} building
   * @param {number} nowMs
   */
  function addBatch({ receiver, ts, readings }, building, nowMs) {
    const known = knownOf(receiver, building);
    known.rate = rateOf(known, nowMs) + readings.length / (RATE_MS / 1000);
    known.readingMs = nowMs;
    if (Math.abs(nowMs - ts) < SILENT_MS && ts > (known.removedMs ?? 0)) alive(known, nowMs); // a backlog says nothing about now
  }

  /** @param {Known} known @param {number} nowMs @returns {{state: State, since: number|null}} */
  function stateOf({ reported, reportedMs, aliveMs, aliveSinceMs }, nowMs) {
    // readings in flight may arrive after "offline"; later ones mean that the gateway runs again
    if (reported === 'offline' && (aliveMs === null || aliveMs <= (reportedMs ?? 0) + 1000)) return { state: 'offline', since: reportedMs };
    if (aliveMs === null) return { state: 'unknown', since: null };
    if (nowMs - aliveMs > SILENT_MS) return { state: 'silent', since: aliveMs };
    return { state: 'online', since: reported === 'online' && reportedMs !== null ? Math.min(reportedMs, aliveSinceMs) : aliveSinceMs };
  }

  /** When it sent something last, by our clock; 0: never. @param {string} id */
  const aliveMsOf = (id) => (listed.get(id) ?? unlisted.get(id))?.aliveMs ?? 0;

  /** @param {string} id @param {number} nowMs */
  function of(id, nowMs) {
    const known = listed.get(id) ?? unlisted.get(id);
    if (!known) return null;
    const { version, healthMs, aliveMs, readingMs } = known;
    const health = (aliveMs ?? 0) - healthMs > HEALTH_MS ? null : known.health;
    return { ...stateOf(known, nowMs), version, health, reading_ms: readingMs, readings_per_s: rateOf(known, nowMs) };
  }

  return {
    handleMessage,
    addBatch,
    /** State of a gateway; null: unknown id. Times in epoch ms by our clock, but for `health.ts` and `since` of "online". */
    of,
    setBuilding,
    /** Ids of gateways that sent something and that the building file does not list, the latest first. */
    unlisted: () => [...unlisted.keys()].reverse(),
    /** Takes a line of the broker's log. */
    handleLine: statuses.handleLine,
    /** Messages that correct wrong retained states. @param {import('../building').Building} building @param {number} nowMs */
    corrections: (building, nowMs) => statuses.corrections(building, aliveMsOf, nowMs),
    /** Readings that gateways lost since our start. @returns {Record<string, number>} by reason */
    lost: losses.byReason,
    /** Messages that were neither a status nor a health message. */
    refused: () => refused,
  };
}

/** @returns {Known} of which nothing is known */
const fresh = () => ({
  reported: null, reportedMs: null, version: null, health: null, healthMs: 0, readingMs: null, aliveMs: null, aliveSinceMs: 0, rate: 0,
  removedMs: null,
});

/** @param {Known} known @param {number} nowMs */
const rateOf = ({ rate, readingMs }, nowMs) => (readingMs === null ? 0 : rate * Math.exp(Math.min(0, readingMs - nowMs) / RATE_MS));

/**
 * @param {string} topic @param {Buffer} payload
 * @returns {Message|null} null: the message is bad
 */
function read(topic, payload) {
  const [, id = '', what] = TOPIC.exec(topic) ?? [];
  if (!ID.test(id) || payload.length > PAYLOAD_BYTES) return null;
  try {
    const data = JSON.parse(payload.toString('utf8'));
    if (data === null || typeof data !== 'object' || Array.isArray(data)) return null;
    if (what === 'health') return { id, state: null, data };
    return ['online', 'offline', 'removed'].includes(data.state) ? { id, state: data.state, data } : null;
  } catch {
    return null;
  }
}

/** @param {any} ts @param {number} nowMs a missing time, or one ahead of ours, becomes now */
const timeOf = (ts, nowMs) => (Number.isSafeInteger(ts) && ts > 0 ? Math.min(ts, nowMs) : nowMs);

/** @param {any} data of a message */
const versionOf = (data) => (typeof data.version === 'string' ? data.version.slice(0, 64) : null);

/** @param {any} data @param {number} nowMs @returns {Health} numbers and version */
function figures(data, nowMs) {
  const numbers = Object.entries(data).filter(([key, value]) => Number.isFinite(value) && /^[a-z][a-z0-9_]{0,63}$/.test(key) && !['ts', 'version'].includes(key));
  return { ts: timeOf(data.ts, nowMs), ...(versionOf(data) === null ? {} : { version: String(versionOf(data)) }),
    ...Object.fromEntries(numbers.slice(0, FIGURES)) };
}

/**
 * Readings that gateways lost, summed since our start. The counters of a gateway start at 0 with each of its starts.
 */

/** Reasons as in `dropped_<reason>`: too old, no space left, clock not set, disk error. */
const REASONS = /** @type {const} */ (['age', 'size', 'time', 'disk']);

function createLosses() {
  /** @type {Record<string, number>} */
  const byReason = Object.fromEntries(REASONS.map((reason) => [reason, 0]));

  return {
    /** @param {Health|null} before null: its first message, whose losses happened before @param {Health} now */
    add(before, now) {
      if (!before) return;
      for (const reason of REASONS) {
        const lost = (/** @type {Health} */ health) => Number(health[`dropped_${reason}`] ?? 0);
        byReason[reason] = (byReason[reason] ?? 0) + counterIncrease(lost(before), lost(now));
      }
    },
    byReason: () => ({ ...byReason }),
  };
}

module.exports = { createGateways };
