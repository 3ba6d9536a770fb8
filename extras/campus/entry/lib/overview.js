// @ts-check
'use strict';

const { ApiError } = require('./core');
const { SiteUnavailable } = require('./site');

/**
 * How all sites are, for people: numbers alone, nobody's name. A site that is away does not keep the others from being shown; what it
 * said last stays, with its time.
 * @typedef {ReturnType<typeof createOverview>} Overview
 * @typedef {{people: {present: number, stale: number}|null, gateways: Record<string, number>|null,
 *   alerts: {open: number, critical: number}, asOfMs: number}} Figures null: the site does not say
 */

/** All who look share what was gathered within this time. Nothing is asked while nobody looks. */
const FRESH_MS = 4000;
const FIGURE = /^sda_(staff|gateways)\{state="(\w+)"\} (\d+)$/gm;

/**
 * @param {{sites: Pick<import('./sites').Sites, 'each'|'known'>, dashboards: Record<string, string>, clock: () => number}} deps
 *   dashboards: addresses for browsers, by site
 */
function createOverview({ sites, dashboards, clock }) {
  /** @type {Map<string, Figures>} by site */
  const known = new Map();
  /** @type {Promise<unknown>|null} */
  let gathering = null;
  let gatheredMs = -Infinity;

  async function gather() {
    const work = new AbortController();
    try {
      await sites.each(async (ask, site) => {
        try {
          const metrics = await (await ask({ method: 'GET', path: '/metrics' })).text();
          const { groups } = await (await ask({ method: 'GET', path: '/api/v1/alerts/kinds' })).json();
          known.set(site, { ...figuresOf(metrics), alerts: alertsOf(groups), asOfMs: clock() });
        } catch (error) {
          if (!(error instanceof SiteUnavailable || error instanceof ApiError)) throw error; // else `known()` says how the site is
        }
      }, { signal: work.signal });
    } finally {
      work.abort(); // an answer that nobody read to its end
      gatheredMs = clock();
      gathering = null;
    }
  }

  return {
    /** @returns {Promise<{now_ms: number, sites: object[]}>} as the description has it */
    async read() {
      if (clock() - gatheredMs >= FRESH_MS) await (gathering ??= gather());
      return { now_ms: clock(), sites: sites.known().map(({ name, status, reason = null, sinceMs, said }) => {
        const figures = known.get(name);
        return { site: name, building: said.building, simulated: said.simulated, status, reason, since_ms: sinceMs,
          people: figures?.people ?? null, gateways: figures?.gateways ?? null, alerts: figures?.alerts ?? null,
          complete_until_ms: said.completeMs, as_of_ms: figures?.asOfMs ?? null, dashboard: dashboards[name] };
      }) };
    },
  };
}

/** @param {string} text of /metrics @returns {Pick<Figures, 'people'|'gateways'>} */
function figuresOf(text) {
  /** @type {Record<string, Record<string, number>>} */
  const found = {};
  for (const [, name = '', state = '', number] of text.matchAll(FIGURE)) found[name] = { ...found[name], [state]: Number(number) };
  const { staff, gateways } = found;
  return {
    people: staff ? { present: staff.present ?? 0, stale: staff.stale ?? 0 } : null,
    gateways: gateways ? { online: 0, offline: 0, silent: 0, unknown: 0, ...gateways } : null,
  };
}

/** @param {{state: string, severity: string, count: number}[]} groups @returns {Figures['alerts']} that nobody has acknowledged */
function alertsOf(groups) {
  const open = groups.filter(({ state }) => state === 'open');
  const sum = (/** @type {typeof open} */ some) => some.reduce((all, { count }) => all + count, 0);
  return { open: sum(open), critical: sum(open.filter(({ severity }) => severity === 'critical')) };
}

module.exports = { createOverview };
