// @ts-check
'use strict';

const { circuitBreaker, ConsecutiveBreaker, handleWhen } = require('cockatiel');
const { ApiError, unavailable } = require('../http/errors');
const { createIntervalHistogram } = require('../health/metrics/interval-histogram');
const { createSite, SiteAway } = require('./site');

/**
 * All sites of a campus. A question goes to every one of them at the same time, and has an answer when all of them answer: what a part
 * of them knows is never given for the whole.
 * @typedef {import('./site').Question} Question
 * @typedef {import('./site').Answer & {site: string}} SiteAnswer
 * @typedef {ReturnType<typeof createSites>} Sites
 * @typedef {{status: 'up'|'degraded'|'away', reason?: string}} SiteState
 */

/** A site that did not answer so often in a row is not waited for; every REST_MS one question tries it. */
const FAILURES = 5;
const REST_MS = 1000;
/** Until a site that refuses the entry's own key is worth another try, seconds. */
const REFUSED_AGAIN_S = 30;
/** What a site must let the entry's key do. */
const NEEDED = ['history', 'presence', 'forward'];
/** Of a site that says nothing about it. */
const AGAIN_S = 5;

/**
 * @param {import('./config').SiteConfig[]} configs
 * @param {{timeoutMs: number, pauseMs?: number, warn: (text: string) => void, info: (text: string) => void}} means
 */
function createSites(configs, { timeoutMs, pauseMs, warn, info }) {
  const sites = configs.map((config) => {
    const site = createSite({ ...config, timeoutMs, pauseMs });
    const breaker = circuitBreaker(handleWhen((error) => error instanceof SiteAway && !error.ended),
      { halfOpenAfter: REST_MS, breaker: new ConsecutiveBreaker(FAILURES) });
    return { site, breaker, counters: { asked: 0, failed: 0 }, latency: createIntervalHistogram(), reason: '',
      state: /** @type {SiteState} */ ({ status: 'away', reason: 'was not asked yet' }) };
  });
  /** @typedef {typeof sites[number]} Member */

  /**
   * @param {Member} member @param {Question} question @param {AbortSignal} [signal]
   * @returns {Promise<SiteAnswer>}
   */
  async function begin(member, question, signal) {
    const { site, breaker, counters, latency } = member;
    counters.asked += 1;
    const began = performance.now();
    try {
      const answer = await breaker.execute(() => site.ask(question, signal));
      latency.add(performance.now() - began);
      return { ...answer, site: site.name };
    } catch (error) {
      if (!(error instanceof SiteAway && error.ended)) counters.failed += 1;
      if (error instanceof SiteAway) {
        if (!error.ended) member.reason = error.reason;
        throw error;
      }
      throw new SiteAway(site.name, member.reason || 'does not answer'); // the breaker did not ask
    }
  }

  /**
   * @param {Member} member @param {Question} question @param {readonly number[]} accept @param {AbortSignal} signal
   * @returns {Promise<SiteAnswer>}
   */
  async function askOne(member, question, accept, signal) {
    const answer = await begin(member, question, signal);
    if (accept.includes(answer.status)) return answer;
    throw refusalOf(answer, messageIn(await answer.text()));
  }

  return {
    names: sites.map(({ site }) => site.name),

    /**
     * Ask every site.
     * @param {Question} question
     * @param {{accept?: readonly number[], signal: AbortSignal}} options accept: statuses that are answers; signal: ends all of it
     * @returns {Promise<SiteAnswer[]>} in the order of campus.toml, each when it begins
     * @throws {ApiError} 503 where one of them is away or says 503; what is wrong with the question
     */
    ask: (question, { accept = [200], signal }) =>
      Promise.all(sites.map((member) => askOne(member, question, accept, signal))).catch((error) => { throw asApiError(error); }),

    /**
     * Work with each site by itself.
     * @template T
     * @param {(ask: (question: Question) => Promise<SiteAnswer>, name: string) => Promise<T>} work
     * @param {{accept?: readonly number[], signal: AbortSignal}} options
     * @returns {Promise<T[]>} in the order of campus.toml
     * @throws {ApiError}
     */
    each: (work, { accept = [200], signal }) =>
      Promise.all(sites.map((member) => work((question) => askOne(member, question, accept, signal), member.site.name)))
        .catch((error) => { throw asApiError(error); }),

    /** Ask each site how it is; about every two seconds. @returns {Promise<void>} */
    async look() {
      await Promise.all(sites.map(async (member) => {
        const next = await stateOf(member, begin);
        const { site: { name }, state: before } = member;
        if (next.status === 'away' && (before.status !== 'away' || before.reason !== next.reason)) warn(`site ${name} is away: it ${next.reason}`);
        if (next.status !== 'away' && before.status === 'away') info(`site ${name} answers`);
        member.state = next;
      }));
    },

    /** @returns {Record<string, SiteState>} */
    states: () => Object.fromEntries(sites.map(({ site, state }) => [site.name, state])),

    roll: () => { for (const { latency } of sites) latency.roll(); },
    /** @type {import('../health/metrics/figures').Figure[]} */
    figures: [
      { name: 'campus_site_up', kind: 'gauge', label: 'site', help: '1: the site answers, 0: it is away; /health says why',
        read: () => eachOf(sites, ({ state }) => Number(state.status !== 'away')) },
      { name: 'campus_site_questions', kind: 'counter', label: 'site', help: 'Questions to a site', read: () => eachOf(sites, ({ counters }) => counters.asked) },
      { name: 'campus_site_failures', kind: 'counter', label: 'site', help: 'Questions that a site did not answer',
        read: () => eachOf(sites, ({ counters }) => counters.failed) },
      { name: 'campus_site_p99_ms', kind: 'gauge', label: 'site', help: 'Until an answer of a site began, 99th percentile of the last interval',
        read: () => eachOf(sites, ({ latency }) => latency.read().p99_ms ?? undefined) },
    ],
    close: () => { for (const { site } of sites) site.close(); },
  };
}

/** @template T @param {T[]} sites @param {(one: T) => number|undefined} read @returns {Record<string, number>} */
const eachOf = (sites, read) => Object.fromEntries(sites.flatMap((one) => {
  const value = read(one);
  return value === undefined ? [] : [[/** @type {any} */ (one).site.name, value]];
}));

/**
 * @template {{site: import('./site').Site}} T
 * @param {T} member @param {(member: T, question: Question) => Promise<SiteAnswer>} ask
 * @returns {Promise<SiteState>}
 */
async function stateOf(member, ask) {
  try {
    const answer = await ask(member, { method: 'GET', path: '/health' });
    const text = await answer.text();
    if (answer.status !== 200) return { status: 'away', reason: `answers HTTP ${answer.status}: ${messageIn(text)}` };
    const lack = await lackOf(member, ask);
    if (lack !== '') return { status: 'away', reason: lack };
    const { status, parts = {} } = JSON.parse(text);
    if (status === 'up') return { status };
    const down = Object.entries(parts).filter(([, part]) => /** @type {any} */ (part).status !== 'up').map(([name]) => name);
    return { status: 'degraded', reason: `its /health says so: ${down.join(', ')}` };
  } catch (error) {
    return { status: 'away', reason: error instanceof SiteAway ? error.reason : 'answers with something else than JSON' };
  }
}

/**
 * What the entry's key lacks at a site, before a caller has to find it out.
 * @template {{site: import('./site').Site}} T
 * @param {T} member @param {(member: T, question: Question) => Promise<SiteAnswer>} ask
 * @returns {Promise<string>} '': nothing
 */
async function lackOf(member, ask) {
  const answer = await ask(member, { method: 'GET', path: '/api/v1/me' });
  const text = await answer.text();
  if (answer.status !== 200) return `refuses the entry's key: ${messageIn(text)}`;
  const { rights = [] } = JSON.parse(text);
  const missing = NEEDED.filter((right) => !rights.includes(right));
  return missing.length === 0 ? '' : `does not give the entry's key the right ${missing.join(', ')}: make one with --right ${NEEDED.join(' --right ')}`;
}

/** The message of an error's answer. @param {string} text */
function messageIn(text) {
  try {
    return String(JSON.parse(text).error ?? '');
  } catch {
    return '';
  }
}

/** What a status of a site means to the caller of the campus. @param {SiteAnswer} answer @param {string} message @returns {ApiError} */
function refusalOf({ site, status, headers }, message) {
  if (status === 400 || status === 413) return new ApiError(status, message); // the question was wrong
  if (status === 429 || status === 503) return unavailable(`site ${site}: ${message}`, Number(headers['retry-after']) || AGAIN_S);
  if (status === 401 || status === 403 || status === 421) {
    return unavailable(`site ${site} refuses the campus entry: ${message}`, REFUSED_AGAIN_S);
  }
  return unavailable(`site ${site} answers HTTP ${status}: ${message}`, AGAIN_S);
}

/** @param {unknown} error */
const asApiError = (error) => (error instanceof SiteAway ? unavailable(error.message, AGAIN_S) : error);

module.exports = { createSites, asApiError };
