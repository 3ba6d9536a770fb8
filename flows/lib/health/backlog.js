// @ts-check
'use strict';

/**
 * How far the database is behind what comes in, and whether that is an overload: more is offered than is taken. Pure.
 * @typedef {ReturnType<typeof createBacklog>} Backlog
 * @typedef {object} Sample
 * @property {number} ts epoch ms
 * @property {number|null} offered messages that the broker has received, a counter
 * @property {number|null} stored points of readings that InfluxDB has taken, a counter
 * @property {number} queueMs age of the oldest write that waits on disk for InfluxDB
 * @property {number} messagesMs age of the oldest message of readings that waits on disk for Telegraf
 * @property {number} unreadMs age of the oldest heartbeat that has not come back out of the database
 * @property {boolean} away whether InfluxDB takes nothing at all
 * @typedef {object} State
 * @property {'none'|'away'|'overloaded'|'catching_up'} kind
 * @property {number|null} offered_per_s
 * @property {number|null} taken_per_s
 * @property {number} behind_by_s
 */

/** Less is a busy second, a restart of Telegraf, or a garbage collection. */
const BEHIND_MS = 10_000;
/** Rates are of this time: the broker counts every 10 s. */
const WINDOW_MS = 30_000;
/** Catching up: the backlog gets shorter by this part of the time that passes. */
const SHRINKS = 0.1;

function createBacklog() {
  /** @type {Sample[]} */
  let samples = [];

  return {
    /** @param {Sample} sample to be added every few seconds */
    add(sample) {
      samples = [...samples.filter(({ ts }) => ts <= sample.ts && sample.ts - ts <= WINDOW_MS), sample];
    },
    /** @returns {State} */
    state() {
      const [first, last] = [samples[0], samples.at(-1)];
      if (!first || !last) return { kind: 'none', offered_per_s: null, taken_per_s: null, behind_by_s: 0 };
      const known = {
        offered_per_s: rate(samples, 'offered'), taken_per_s: rate(samples, 'stored'), behind_by_s: Math.round(behindMs(last) / 1000),
      };
      if (behindMs(last) < BEHIND_MS) return { kind: 'none', ...known };
      const before = samples.at(-2) ?? first;
      const goesOn = last.stored !== null && before.stored !== null && last.stored !== before.stored;
      if (last.away || (!goesOn && last.queueMs >= BEHIND_MS)) return { kind: 'away', ...known };
      if (!goesOn) return { kind: 'none', ...known }; // nothing gets as far as the disk: the heartbeat says so
      const shrunkMs = behindMs(first) - behindMs(last);
      return { kind: shrunkMs > SHRINKS * (last.ts - first.ts) && shrunkMs > 0 ? 'catching_up' : 'overloaded', ...known };
    },
  };
}

/** @param {Sample} sample */
const behindMs = ({ queueMs, messagesMs, unreadMs }) => Math.max(queueMs, messagesMs, unreadMs);

/** @param {Sample[]} samples @param {'offered'|'stored'} counter @returns {number|null} a second, whole */
function rate(samples, counter) {
  const known = samples.filter((sample) => sample[counter] !== null);
  const [first, last] = [known[0], known.at(-1)];
  if (!first || !last || last.ts <= first.ts) return null;
  const grown = Number(last[counter]) - Number(first[counter]);
  return grown < 0 ? null : Math.round(grown * 1000 / (last.ts - first.ts)); // its process was started again
}

/** @type {Record<Exclude<State['kind'], 'none'>, string>} */
const WORDS = { away: 'InfluxDB takes nothing', overloaded: 'overloaded', catching_up: 'catching up' };
/** @type {Record<Exclude<State['kind'], 'none'>, string>} */
const REMEDIES = {
  away: 'look at `make status` and at the log of influxd; nothing is lost meanwhile, it waits on disk',
  overloaded: 'more comes in than this machine can store: fewer messages, or a larger machine; nothing is lost meanwhile, it waits on disk',
  catching_up: 'nothing: what waits on disk gets into InfluxDB by itself',
};

/** "overloaded: offered 9000/s, taken 6000/s, behind by 40 s". @param {State} state */
function reasonOf({ kind, offered_per_s: offered, taken_per_s: taken, behind_by_s: behind }) {
  if (kind === 'none') return '';
  const rates = kind === 'away' ? `offered ${offered ?? '?'}/s` : `offered ${offered ?? '?'}/s, taken ${taken ?? '?'}/s`;
  return `${WORDS[kind]}: ${rates}, behind by ${behind} s`;
}

/**
 * The part `ingest` of /health with the backlog in it.
 * @param {import('./index').Part} part by the heartbeat
 * @param {State} state
 * @returns {import('./index').Part}
 */
function withBacklog(part, state) {
  const { kind, ...figures } = state;
  const whole = { ...part, ...figures, backlog: kind };
  return kind === 'none' ? whole : { ...whole, status: 'degraded', reason: reasonOf(state), remedy: REMEDIES[kind] };
}

module.exports = { createBacklog, withBacklog };
