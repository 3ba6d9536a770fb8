// @ts-check
'use strict';

const { createIntervalHistogram } = require('../../shared/interval-histogram');

/**
 * Figures of the HTTP API: answers by route and status, latencies, requests by caller.
 * @typedef {import('./figures').Figure} Figure
 * @typedef {ReturnType<typeof createHttpFigures>} HttpFigures
 */

/** Status of a request whose caller closed the connection early, as in nginx. */
const CLIENT_CLOSED = 499;
/** Label of requests that no route answered. */
const NO_ROUTE = 'none';

/** @param {{observe: (route: string, seconds: number) => void}} latencies of all answers */
function createHttpFigures(latencies) {
  /** @type {Map<string, import('../../shared/interval-histogram').IntervalHistogram>} by route */
  const routes = new Map();
  /** @type {Record<string, number>} */
  const byStatus = Object.create(null);
  /** @type {Record<string, number>} */
  const byRoute = Object.create(null);
  /** @type {Record<string, number>} */
  const byCaller = Object.create(null);

  /** @param {string} route */
  function histogramOf(route) {
    const known = routes.get(route) ?? createIntervalHistogram();
    routes.set(route, known);
    return known;
  }

  /**
   * @param {string} route as declared, never text of a caller
   * @param {number} status
   * @param {number} ms
   * @param {import('../../access/callers').Caller|undefined} caller
   */
  function answered(route, status, ms, caller) {
    byStatus[status] = (byStatus[status] ?? 0) + 1;
    byRoute[route] = (byRoute[route] ?? 0) + 1;
    const name = caller === undefined ? 'unknown' : caller.kind === 'key' ? caller.name : caller.kind;
    byCaller[name] = (byCaller[name] ?? 0) + 1;
    histogramOf(route).add(ms);
    latencies.observe(route, ms / 1000);
  }

  /**
   * Stands before everything that is answered. The guard of a route writes its name into `response.locals.route`.
   * @type {import('express').RequestHandler}
   */
  function watch(_request, response, next) {
    const began = performance.now();
    response.once('close', () => {
      const { route, caller } = response.locals;
      answered(route ?? NO_ROUTE, response.writableFinished ? response.statusCode : CLIENT_CLOSED, performance.now() - began, caller);
    });
    next();
  }

  /** @param {'p50_ms'|'p99_ms'} which */
  const each = (which) => () => {
    /** @type {Record<string, number>} */
    const values = {};
    for (const [route, histogram] of routes) {
      const value = histogram.read()[which];
      if (value !== null) values[route] = value;
    }
    return values;
  };

  /** @type {Figure[]} */
  const figures = [
    { name: 'http_answers', kind: 'counter', label: 'status', flat: 'sum', help: 'Answers by status; 499: the caller had gone', read: () => byStatus },
    { name: 'http_requests', kind: 'counter', label: 'route', help: 'Requests by route', read: () => byRoute },
    { name: 'http_callers', kind: 'counter', label: 'caller', flat: 'none', help: 'Requests by key; those without are trusted, login or unknown',
      read: () => byCaller },
    { name: 'http_p50_ms', kind: 'gauge', label: 'route', help: 'How long an answer took, median of the last interval', read: each('p50_ms') },
    { name: 'http_p99_ms', kind: 'gauge', label: 'route', help: 'How long an answer took, 99th percentile', read: each('p99_ms') },
  ];

  return { watch, answered, figures, roll: () => { for (const histogram of routes.values()) histogram.roll(); } };
}

module.exports = { createHttpFigures };
