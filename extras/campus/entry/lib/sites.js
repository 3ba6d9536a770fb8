// @ts-check
'use strict';

const { circuitBreaker, CircuitState, ConsecutiveBreaker, handleWhen } = require('cockatiel');
const { ApiError, createIntervalHistogram, unavailable } = require('./core');
const { memberFigures } = require('./figures');
const { follow } = require('./follow');
const { createKnowledge } = require('./knowledge');
const { createSite, SiteUnavailable } = require('./site');
const { messageIn, stateOf } = require('./state');

/**
 * All sites of a campus. A question goes to every one of them at the same time, and has an answer when all of them answer: what a part
 * of them knows is never given for the whole. One about people goes only to those that may know something of them.
 * @typedef {import('./site').Question} Question
 * @typedef {import('./site').Answer & {site: string, json: () => Promise<any>}} SiteAnswer json: throws SiteUnavailable where it is none
 * @typedef {{accept?: readonly number[], signal: AbortSignal, only?: readonly string[]}} Options accept: statuses that are answers; signal:
 *   ends all of it; only: names of the sites that are asked, in place of all
 * @typedef {{site: string, untilMs: number}} Spared a site that knows nobody of them; untilMs: up to when, epoch ms
 * @typedef {ReturnType<typeof createMember>} Member
 * @typedef {ReturnType<typeof createSites>} Sites
 */

/** A site that did not answer so often in a row is not waited for: only `look` asks it, until it answers. */
const FAILURES = 5;
const REST_MS = 1000;
/** Until a site that refuses the entry's own key is worth another try, seconds. */
const REFUSED_RETRY_AFTER_S = 30;
/** Of a site that says nothing about it. */
const RETRY_AFTER_S = 5;

/**
 * A site with what is known of it.
 * @param {import('./config').SiteConfig} config @param {{timeoutMs: number, idleTimeoutMs?: number}} times @param {number} nowMs
 */
const createMember = (config, times, nowMs) => ({
  site: createSite({ ...config, ...times }),
  breaker: circuitBreaker(handleWhen((error) => error instanceof SiteUnavailable && !error.ended),
    { halfOpenAfter: REST_MS, breaker: new ConsecutiveBreaker(FAILURES) }),
  counters: { asked: 0, failed: 0, spared: 0 },
  knowledge: createKnowledge(),
  latency: createIntervalHistogram(),
  /** Why it did not answer last. */
  reason: 'does not answer',
  state: /** @type {import('./state').SiteState} */ ({ status: 'away', reason: 'was not asked yet' }),
  /** Since when it has this status. */
  sinceMs: nowMs,
  /** What it said last of itself. */
  said: /** @type {import('./state').Said} */ ({ building: null, simulated: false, completeMs: null }),
});

/**
 * @param {Member} member @param {Question} question @param {AbortSignal} [signal]
 * @returns {Promise<SiteAnswer>} of any status
 * @throws {SiteUnavailable}
 */
async function begin(member, question, signal) {
  const { site, breaker, counters, latency } = member;
  counters.asked += 1;
  const began = performance.now();
  try {
    const answer = await breaker.execute(() => site.ask(question, signal));
    latency.add(performance.now() - began);
    return { ...answer, site: site.name, json: () => answer.text().then((text) => parsed(site.name, text)) };
  } catch (error) {
    if (!(error instanceof SiteUnavailable)) throw new SiteUnavailable(site.name, member.reason); // the breaker did not ask
    if (!error.ended) {
      counters.failed += 1;
      member.reason = error.reason;
    }
    throw error;
  }
}

/** @param {string} site @param {string} text */
function parsed(site, text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new SiteUnavailable(site, 'answers with something else than JSON');
  }
}

/**
 * Whether it is sure that a site has nothing of these people: it answers, and has said so just now.
 * @param {Member} member @param {readonly string[]} ids @param {number} nowMs by a clock that only goes on
 */
const isWithout = ({ state, breaker, knowledge }, ids, nowMs) => state.status !== 'away' && breaker.state === CircuitState.Closed
  && knowledge.isFresh(nowMs) && !knowledge.hasAnyOf(ids);

/**
 * @param {Member} member @param {Question} question @param {Options} options
 * @returns {Promise<SiteAnswer>}
 * @throws {ApiError|SiteUnavailable}
 */
async function askOne(member, question, { accept = [200], signal }) {
  if (member.breaker.state !== CircuitState.Closed) throw new SiteUnavailable(member.site.name, member.reason);
  const answer = await begin(member, question, signal);
  if (accept.includes(answer.status)) return answer;
  throw refusalOf(answer, messageIn(await answer.text()));
}

/** What a status of a site means to the caller of the campus. @param {SiteAnswer} answer @param {string} message @returns {ApiError} */
function refusalOf({ site, status, headers }, message) {
  if (status === 400 || status === 413) return new ApiError(status, message); // the question was wrong
  if (status === 429 || status === 503) return unavailable(`site ${site}: ${message}`, Number(headers['retry-after']) || RETRY_AFTER_S);
  if (status === 401 || status === 403 || status === 421) {
    return unavailable(`site ${site} refuses the campus entry: ${message}`, REFUSED_RETRY_AFTER_S);
  }
  return unavailable(`site ${site} answers HTTP ${status}: ${message}`, RETRY_AFTER_S);
}

/**
 * @param {import('./config').SiteConfig[]} configs
 * @param {{timeoutMs: number, idleTimeoutMs?: number, warn: (text: string) => void, info: (text: string) => void,
 *   clock?: () => number}} deps
 */
function createSites(configs, { timeoutMs, idleTimeoutMs, warn, info, clock = Date.now }) {
  const members = configs.map((config) => createMember(config, { timeoutMs, idleTimeoutMs }, clock()));
  const ended = new AbortController();
  /** @type {Promise<unknown>|null} */
  let polling = null;

  /** @param {Member} member */
  async function pollSite(member) {
    const { said, ...next } = await stateOf((path) => begin(member, { method: 'GET', path }));
    const { site: { name }, state: before } = member;
    if (next.status === 'away' && before.reason !== next.reason) warn(`site ${name} is away: it ${next.reason}`);
    if (next.status !== 'away' && before.status === 'away') info(`site ${name} answers`);
    if (next.status !== before.status) member.sinceMs = clock();
    member.state = next;
    member.said = said ?? member.said;
  }

  return {
    /**
     * Work with each site by itself, all at the same time.
     * @template T
     * @param {(ask: (question: Question) => Promise<SiteAnswer>, site: string) => Promise<T>} work
     * @param {Options} options
     * @returns {Promise<T[]>} in the order of campus.toml
     * @throws {ApiError} 503 where one of them is away or says 503; what is wrong with the question
     */
    each: (work, options) =>
      Promise.all(members.filter(({ site }) => options.only?.includes(site.name) ?? true)
        .map((member) => work((question) => askOne(member, question, options), member.site.name)))
        .catch((error) => { throw asApiError(error); }),

    /**
     * Whom to ask about some people: the sites that know one of them, and each of which that is not known just now.
     * @param {readonly string[]} ids
     * @returns {{asked: string[], spared: Spared[]}} in the order of campus.toml
     */
    about(ids) {
      const nowMs = performance.now();
      const spared = members.filter((member) => isWithout(member, ids, nowMs));
      return { asked: members.filter((member) => !spared.includes(member)).map(({ site }) => site.name),
        spared: spared.map(({ site, knowledge }) => ({ site: site.name, untilMs: knowledge.untilMs() })) };
    },
    /** These were not asked, since they know nobody of those a question was about. @param {readonly Spared[]} spared */
    count(spared) {
      for (const { site, counters } of members) if (spared.some((one) => one.site === site.name)) counters.spared += 1;
    },
    /** Follow who has a past at each site, until `close`. */
    follow() {
      for (const member of members) void follow(member, { timeoutMs, signal: ended.signal });
    },

    /** Ask each site how it is; about every two seconds. @returns {Promise<unknown>} */
    poll: () => (polling ??= Promise.all(members.map(pollSite)).finally(() => { polling = null; })),

    /** @returns {Record<string, import('./state').SiteState>} by name */
    states: () => Object.fromEntries(members.map(({ site, state }) => [site.name, state])),

    /** The same, with since when, and with what each said last of itself; in the order of campus.toml. */
    known: () => members.map(({ site: { name }, state, sinceMs, said }) => ({ name, ...state, sinceMs, said })),
    /** In the order of campus.toml. */
    names: members.map(({ site }) => site.name),
    roll: () => { for (const { latency } of members) latency.roll(); },
    figures: memberFigures(members),
    close() {
      ended.abort();
      for (const { site } of members) site.close();
    },
  };
}

/** @param {unknown} error */
const asApiError = (error) => (error instanceof SiteUnavailable ? unavailable(error.message, RETRY_AFTER_S) : error);

module.exports = { createSites, asApiError };
