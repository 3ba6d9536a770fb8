// @ts-check
'use strict';

const { BETWEEN, StoreUnavailable, between } = require('./influx');

/**
 * Two databases that are filled alike, read as one: each question goes to the one that `choice` names, and to the other at once
 * if that one does not answer.
 * @typedef {import('./influx').Influx} Influx
 * @typedef {import('./store-guard').StoreGuard} StoreGuard
 * @typedef {ReturnType<typeof createReplicas>} Replicas
 * @typedef {{guard: StoreGuard, newestHeartbeat: (fromMs: number) => Promise<number|null>}} Member
 */

const COMPARE_MS = 600_000;
/** While one lacks something, so that the end of filling it shows. */
const COMPARE_LACKING_MS = 10_000;
/** Behind the other by more than this, a database is not up. */
const BEHIND_MS = 20_000;

/**
 * @param {[Member, Member]} members
 * @param {object} deps
 * @param {() => number} deps.clock
 * @param {{read: () => any, write: (value: unknown) => unknown}} deps.stateFile what each lacks, for the next start
 * @param {(text: string) => void} deps.log
 */
function createReplicas(members, { clock, stateFile, log }) {
  const saved = stateFile.read();
  const choice = createChoice(Array.isArray(saved?.lacking) ? saved.lacking.map(Number) : [0, 0]);
  /** Being asked for its heartbeat. @type {[Promise<void>|null, Promise<void>|null]} */
  const asked = [null, null];
  /** How often each has failed. @type {[number, number]} */
  const failures = [0, 0];
  let comparedMs = -Infinity;
  let comparing = false;
  let logged = '';

  /** @param {number} index @returns {Member} */
  const member = (index) => /** @type {Member} */ (members[index]);
  /** One that is there and cannot answer this question would not answer it elsewhere either. @param {unknown} error */
  const isAway = (error) => error instanceof StoreUnavailable && !error.answered;

  /** Log a change of the database that is read from. */
  function note() {
    const text = `reads from store ${choice.current() + 1}`;
    if (logged !== '' && text !== logged) log(`${text}: ${choice.known(1 - choice.current()).fault || 'the other one is behind'}`);
    logged = text;
  }

  /** @param {number} index @param {unknown} error that it has failed with @returns {number|null} whom to ask now */
  function failed(index, error) {
    failures[/** @type {0|1} */ (index)] += 1;
    choice.failed(index, error instanceof Error ? error.message : String(error));
    comparedMs = -Infinity; // it may come back without its disk
    note();
    return choice.current() === index ? null : choice.current();
  }

  /** @type {StoreGuard['query']} */
  async function query(...question) {
    const index = choice.current();
    try {
      return await member(index).guard.query(...question);
    } catch (error) {
      const other = isAway(error) ? failed(index, error) : null;
      if (other === null) throw error;
      return member(other).guard.query(...question);
    }
  }

  /** @type {StoreGuard['pieces']} */
  async function* pieces(...question) {
    const index = choice.current();
    let begun = false;
    let other = null;
    try {
      for await (const piece of member(index).guard.pieces(...question)) {
        begun = true;
        yield piece;
      }
    } catch (error) {
      other = isAway(error) ? failed(index, error) : null;
      if (begun || other === null) throw error; // half an answer is not gone on with from elsewhere
    }
    if (other !== null) yield* member(other).guard.pieces(...question);
  }

  /** @param {number} index @param {number} fromMs */
  async function ask(index, fromMs) {
    const before = failures[index];
    try {
      const heartbeatMs = await member(index).newestHeartbeat(fromMs);
      if (failures[index] !== before) return; // it was asked before it failed, and may be gone
      choice.answered(index, heartbeatMs);
      note();
    } catch (error) {
      failed(index, error);
    }
  }

  /**
   * Newest heartbeat in the database that is read from; both are asked, and the other one is not waited for.
   * @param {number} fromMs @returns {Promise<number|null>} epoch ms
   */
  async function newestHeartbeat(fromMs) {
    for (const index of [0, 1]) asked[index] ??= ask(index, fromMs).finally(() => { asked[index] = null; });
    await asked[choice.current()];
    compare().catch((error) => log(`the stores cannot be compared: ${error.message}`));
    const { fault, heartbeatMs } = choice.known(choice.current());
    if (fault !== '') throw new StoreUnavailable(fault);
    return heartbeatMs || null;
  }

  /** Compare their pasts now and then, when both answer. */
  async function compare() {
    const both = [choice.known(0), choice.known(1)];
    const lacks = both.some(({ lacking }) => lacking > 0);
    const isDue = clock() - comparedMs >= (lacks ? COMPARE_LACKING_MS : COMPARE_MS);
    if (comparing || !isDue || both.some(({ fault, heartbeatMs }) => fault !== '' || heartbeatMs === 0)) return;
    comparing = true;
    comparedMs = clock();
    try {
      const toMs = Math.min(...both.map(({ heartbeatMs }) => heartbeatMs)) - SETTLED_MS;
      const [first, second] = await Promise.all(members.map(({ guard }) => heartbeatsByHour(guard, toMs)));
      if (!first || !second) return;
      choice.compared([countMissingHours(first, second), countMissingHours(second, first)]);
      note();
      stateFile.write({ v: 1, lacking: [choice.known(0).lacking, choice.known(1).lacking] });
    } finally {
      comparing = false;
    }
  }

  /** @param {number} index @returns {{status: 'up'|'degraded', reason?: string, heartbeat_ms: number, lacking_hours: number}} */
  function stateOf(index) {
    const { fault, heartbeatMs, lacking } = choice.known(index);
    const behindMs = choice.known(1 - index).heartbeatMs - heartbeatMs;
    const reason = fault !== '' ? fault : lacking > 0 ? `lacks ${lacking} hours of the past that the other one has`
      : behindMs > BEHIND_MS ? `is ${Math.round(behindMs / 1000)} s behind the other one` : '';
    return { status: reason === '' ? 'up' : 'degraded', ...(reason === '' ? {} : { reason }), heartbeat_ms: heartbeatMs, lacking_hours: lacking };
  }

  return {
    query,
    pieces,
    newestHeartbeat,
    /** Index of the one that is read from. */
    current: choice.current,
    switches: choice.switches,
    stateOf,
    /** Heartbeats are asked for by `newestHeartbeat`. @type {StoreGuard['probe']} */
    probe: (work) => member(choice.current()).guard.probe(work),
    /** Of both together; open: none of them answers. @returns {ReturnType<StoreGuard['counters']>} */
    counters() {
      const [first, second] = [member(0).guard.counters(), member(1).guard.counters()];
      const sums = Object.entries(first).map(([name, value]) => [name, value + second[/** @type {keyof typeof second} */ (name)]]);
      return { ...Object.fromEntries(sums), open: Math.min(first.open, second.open) };
    },
    /** Part of /health. @returns {import('../health').Part} */
    part() {
      const states = [stateOf(0), stateOf(1)];
      const shown = { reads_from: choice.current() + 1, switches: choice.switches(), stores: states };
      const amiss = states.flatMap(({ reason }, index) => (reason === undefined ? [] : [`store ${index + 1}: ${reason}`]));
      if (amiss.length === 0) return { status: 'up', ...shown };
      const lacks = states.findIndex(({ status, lacking_hours: hours }) => status === 'degraded' && hours > 0);
      return { status: 'degraded', ...shown, reason: amiss.join('; '),
        remedy: lacks >= 0 && amiss.length === 1 ? `fill it from the other one: make store-fill FROM=${2 - lacks} TO=${lacks + 1}`
          : 'look at `make status` and at the logs of its influxd, spool and telegraf' };
    },
  };
}

/**
 * Which of two databases the flows read from: the one whose newest heartbeat is newer. Pure.
 *
 * The present one stays until it fails, or until its newest heartbeat is a whole one and a half behind the other's. None is
 * preferred, so one that comes back is not read from at once: nothing flaps.
 * @typedef {ReturnType<typeof createChoice>} Choice
 * @typedef {{fault: string, heartbeatMs: number, lacking: number}} Known of a database. fault: why it does not answer, '': it does;
 *   heartbeatMs: of the newest heartbeat in it, epoch ms; lacking: hours of the past that the other one has and it has not
 */

/** Heartbeats come every 5 s, and one is always on its way. */
const MARGIN_MS = 7500;

/** @param {number[]} [lacking] hours that each lacks, as known before a restart */
function createChoice(lacking = [0, 0]) {
  /** @type {[Known, Known]} */
  const known = [{ fault: '', heartbeatMs: 0, lacking: lacking[0] ?? 0 }, { fault: '', heartbeatMs: 0, lacking: lacking[1] ?? 0 }];
  let current = 0;
  /** The first heartbeat that was seen: one that has none yet is not behind by all of history. */
  let firstMs = 0;
  let switches = 0;

  /** One that lacks a part of the past gives half answers, unless the other lacks one too. @param {number} index */
  const isWhole = (index) => of(index).lacking === 0 || of(1 - index).lacking > 0;
  /** @param {number} index */
  const isUsable = (index) => of(index).fault === '' && isWhole(index);
  /** @param {number} index @returns {Known} */
  const of = (index) => /** @type {Known} */ (known[index]);

  /** @param {number} index */
  const newestMs = (index) => Math.max(of(index).heartbeatMs, firstMs);

  function decide() {
    const other = 1 - current;
    if (!isUsable(other)) return;
    if (isUsable(current) && newestMs(other) - newestMs(current) <= MARGIN_MS) return;
    current = other;
    switches += 1;
  }

  return {
    /** Index of the one to read from. */
    current: () => current,
    /** Index of the one to ask when the present one has failed; null: it cannot be read from either. */
    fallback: () => (isUsable(1 - current) ? 1 - current : null),
    /** It has answered with its newest heartbeat; null: it has none of late. @param {number} index @param {number|null} heartbeatMs */
    answered(index, heartbeatMs) {
      firstMs ||= heartbeatMs ?? 0;
      of(index).fault = '';
      of(index).heartbeatMs = Math.max(heartbeatMs ?? 0, of(index).heartbeatMs);
      decide();
    },
    /** It has not answered. @param {number} index @param {string} reason */
    failed(index, reason) {
      of(index).fault = reason;
      decide();
    },
    /** Their pasts were compared. @param {[number, number]} hours that each lacks */
    compared(hours) {
      hours.forEach((lacks, index) => { of(index).lacking = lacks; });
      decide();
    },
    known: of,
    switches: () => switches,
  };
}

/**
 * Finds gaps in the past of one of two databases, by the heartbeats in them. One that was away for too long, or has lost its disk, has
 * fewer in an hour.
 */

const HOUR_MS = 3_600_000;
/** Heartbeats are kept for 30 days, in shards of 7 that go at once: so far back both have all of them. */
const LOOK_BACK_MS = 22 * 24 * HOUR_MS;
/** Younger heartbeats may be on their way into one of them. */
const SETTLED_MS = 60_000;
/** A restart may lose one or two of an hour's 720. */
const TOLERATED = 6;
/** The bucket's points are few, but of 22 days. */
const BACKGROUND_TIMEOUT_MS = 10_000;

/** @typedef {Map<number, number>} Hours heartbeats by the beginning of their hour, epoch ms */

/**
 * @param {Pick<import('./influx').Influx, 'query'>} influx
 * @param {number} toMs exclusive
 * @returns {Promise<Hours>}
 */
async function heartbeatsByHour(influx, toMs) {
  const fromMs = Math.floor((toMs - LOOK_BACK_MS) / HOUR_MS) * HOUR_MS;
  const [series] = await influx.query('health', `SELECT count("uptime_s") FROM "flows_health" WHERE ${BETWEEN} GROUP BY time(1h) fill(none)`,
    between(fromMs, toMs), BACKGROUND_TIMEOUT_MS);
  return new Map((series?.rows ?? []).map(([hourMs, count]) => [hourMs, count]));
}

/** The number of hours in which `mine` has fewer heartbeats than `others`. @param {Hours} mine @param {Hours} others */
const countMissingHours = (mine, others) => [...others].filter(([hourMs, count]) => count - (mine.get(hourMs) ?? 0) > TOLERATED).length;

module.exports = { createReplicas, createChoice, MARGIN_MS, countMissingHours };
