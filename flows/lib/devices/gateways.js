// @ts-check
'use strict';

const { ID } = require('../building/ids');
const { createLosses } = require('./losses');

/**
 * How the gateways are doing: what they say of themselves (status, health) and what comes from them (readings). Of those
 * that the building file does not list, the 256 that were heard from last.
 * @typedef {'online'|'offline'|'silent'|'unknown'} State silent: nothing came for a minute, although it did not say goodbye;
 *   unknown: nothing has come yet
 * @typedef {{ts: number, version?: string, [figure: string]: number|string|undefined}} Health figures as the gateway tells them
 * @typedef {object} Known
 * @property {'online'|'offline'|null} said by its last status
 * @property {number|null} saidMs since when; null: since before our start
 * @property {string|null} version
 * @property {Health|null} health the newest
 * @property {number|null} readingMs when readings came last, by our clock
 * @property {number|null} aliveMs when anything came last that only a running gateway sends, by our clock
 * @property {number} aliveSinceMs since when that has come without a pause
 * @property {number} rate readings a second at `readingMs`
 * @property {number|null} removedMs when it was removed, by its clock; readings of before say nothing about now
 * @typedef {ReturnType<typeof createGateways>} Gateways
 */

/** Four health messages. */
const SILENT_MS = 60_000;
const STRANGERS = 256;
/** The rate is a mean over about so long. */
const RATE_MS = 30_000;
const TOPIC = /^sda\/v1\/gateway\/([^/]+)\/(status|health)$/;
const PAYLOAD_BYTES = 8192;
const FIGURES = 64;

function createGateways() {
  /** @type {Map<string, Known>} those of the building file */
  const listed = new Map();
  /** @type {Map<string, Known>} others, longest quiet first */
  const strangers = new Map();
  const losses = createLosses();
  let refused = 0;

  /** @param {string} id @param {import('../building').Building} building */
  function touch(id, building) {
    const mine = listed.get(id);
    if (mine) return mine;
    const known = strangers.get(id) ?? fresh();
    if (building.gateways.has(id)) {
      listed.set(id, known);
      return known;
    }
    strangers.delete(id);
    strangers.set(id, known);
    bound();
    return known;
  }

  function bound() {
    while (strangers.size > STRANGERS) strangers.delete(/** @type {string} */ (strangers.keys().next().value));
  }

  /** Who was a stranger and is listed now keeps what is known, and the other way round. @param {import('../building').Building} building */
  function setBuilding({ gateways }) {
    for (const [from, to, mine] of /** @type {const} */ ([[listed, strangers, false], [strangers, listed, true]])) {
      for (const [id, known] of from) {
        if (gateways.has(id) !== mine) continue;
        from.delete(id);
        to.set(id, known);
      }
    }
    bound();
  }

  /** @param {Known} known @param {number} nowMs */
  function alive(known, nowMs) {
    if (known.aliveMs === null || nowMs - known.aliveMs > SILENT_MS) known.aliveSinceMs = nowMs;
    known.aliveMs = nowMs;
  }

  /**
   * A message under `gateway/<id>/status` or `…/health`. What is none is counted.
   * @param {{topic: string, payload: Buffer, retain?: boolean}} message retain: it was told before we came
   * @param {import('../building').Building} building
   * @param {number} nowMs
   * @returns {{gateway: string, up: boolean}|null} what a status says
   */
  function tell({ topic, payload, retain = false }, building, nowMs) {
    if (payload.length === 0) return null; // a retained message was taken off
    const said = read(topic, payload);
    if (!said) {
      refused += 1;
      return null;
    }
    const { id, state, data } = said;
    const known = touch(id, building);
    if (state === 'removed') {
      Object.assign(known, fresh(), { removedMs: timeOf(data.ts, nowMs) });
      return null;
    }
    if (typeof data.version === 'string') known.version = data.version.slice(0, 64);
    if (state !== 'offline') alive(known, nowMs);
    if (state === null) {
      const health = figures(data, nowMs);
      losses.add(known.health, health);
      known.health = health;
      return null;
    }
    // "online" happened when its sender says; a last will has the time of the connection, not of its end
    if (state === 'online') known.saidMs = timeOf(data.ts, nowMs);
    else if (known.said !== state) known.saidMs = retain ? null : nowMs;
    known.said = state;
    return { gateway: id, up: state === 'online' };
  }

  /**
   * @param {import('../intake/readings').Batch} batch of a gateway @param {import('../building').Building} building
   * @param {number} nowMs
   */
  function hear({ receiver, ts, readings }, building, nowMs) {
    const known = touch(receiver, building);
    known.rate = rateOf(known, nowMs) + readings.length / (RATE_MS / 1000);
    known.readingMs = nowMs;
    if (Math.abs(nowMs - ts) < SILENT_MS && ts > (known.removedMs ?? 0)) alive(known, nowMs); // out of a backlog it says nothing of now
  }

  /** @param {Known} known @param {number} nowMs @returns {{state: State, since: number|null}} */
  function stateOf({ said, saidMs, aliveMs, aliveSinceMs }, nowMs) {
    // what was under way when it said goodbye may come in after it; later ones mean that it runs again
    if (said === 'offline' && (aliveMs === null || aliveMs <= (saidMs ?? 0) + 1000)) return { state: 'offline', since: saidMs };
    if (aliveMs === null) return { state: 'unknown', since: null };
    if (nowMs - aliveMs > SILENT_MS) return { state: 'silent', since: aliveMs };
    return { state: 'online', since: said === 'online' && saidMs !== null ? Math.min(saidMs, aliveSinceMs) : aliveSinceMs };
  }

  /** @param {string} id @param {number} nowMs */
  function of(id, nowMs) {
    const known = listed.get(id) ?? strangers.get(id);
    if (!known) return null;
    const { version, health, readingMs } = known;
    return { ...stateOf(known, nowMs), version, health, reading_ms: readingMs, readings_per_s: rateOf(known, nowMs) };
  }

  return {
    tell,
    hear,
    /** What is known of one; null: nothing. Times in epoch ms, by our clock but for `health.ts` and `since` of "online". */
    of,
    setBuilding,
    /** Ids of those that the building file does not list and from which something came, the latest first. */
    strangers: () => [...strangers.keys()].reverse(),
    /** Readings that they collected and lost since our start. @returns {Record<string, number>} by reason */
    lost: losses.byReason,
    /** Messages that were no status and no health. */
    refused: () => refused,
  };
}

/** @returns {Known} of which nothing is known */
const fresh = () => ({
  said: null, saidMs: null, version: null, health: null, readingMs: null, aliveMs: null, aliveSinceMs: 0, rate: 0, removedMs: null,
});

/** @param {Known} known @param {number} nowMs */
const rateOf = ({ rate, readingMs }, nowMs) => (readingMs === null ? 0 : rate * Math.exp(Math.min(0, readingMs - nowMs) / RATE_MS));

/**
 * @param {string} topic @param {Buffer} payload
 * @returns {{id: string, state: 'online'|'offline'|'removed'|null, data: any}|null} state: of a status; null: it is no such message
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

/** @param {any} ts @param {number} nowMs a time ahead of ours, or none, is now */
const timeOf = (ts, nowMs) => (Number.isSafeInteger(ts) && ts > 0 ? Math.min(ts, nowMs) : nowMs);

/** @param {any} data @param {number} nowMs @returns {Health} its numbers, and the version */
function figures(data, nowMs) {
  const numbers = Object.entries(data).filter(([key, value]) => Number.isFinite(value) && /^[a-z][a-z0-9_]{0,63}$/.test(key) && !['ts', 'version'].includes(key));
  return { ts: timeOf(data.ts, nowMs), ...(typeof data.version === 'string' ? { version: data.version.slice(0, 64) } : {}),
    ...Object.fromEntries(numbers.slice(0, FIGURES)) };
}

module.exports = { createGateways, SILENT_MS };
