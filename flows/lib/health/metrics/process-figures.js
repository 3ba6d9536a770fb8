// @ts-check
'use strict';

const { monitorEventLoopDelay, performance } = require('node:perf_hooks');

/**
 * Figures of the process: memory and event loop lag.
 * @typedef {import('./figures').Figure} Figure
 */

/** Interval of the measuring timer; the delay beyond it is the lag. */
const RESOLUTION_MS = 10;

/** @param {number} startedMs @param {() => number} clock */
function createProcessFigures(startedMs, clock) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let used = performance.eventLoopUtilization();
  const loop = { p99_ms: 0, max_ms: 0, busy_pct: 0 };

  /** Closes the interval and starts the next. */
  function roll() {
    const now = performance.eventLoopUtilization();
    loop.busy_pct = Math.round(performance.eventLoopUtilization(now, used).utilization * 1000) / 10;
    used = now;
    loop.p99_ms = lag(delay.percentile(99));
    loop.max_ms = lag(delay.max);
    delay.reset();
  }

  /** @type {Figure[]} */
  const figures = [
    { name: 'uptime_s', kind: 'gauge', help: 'Since the start of the flows', read: () => Math.round((clock() - startedMs) / 1000) },
    { name: 'rss_bytes', kind: 'gauge', help: 'Memory of the process', read: () => process.memoryUsage.rss() },
    { name: 'heap_bytes', kind: 'gauge', help: 'Memory of its objects', read: () => process.memoryUsage().heapUsed },
    { name: 'loop_lag_p99_ms', kind: 'gauge', help: 'How long work waited for its turn, 99th percentile of the last interval', read: () => loop.p99_ms },
    { name: 'loop_lag_max_ms', kind: 'gauge', help: 'How long work waited for its turn, largest', read: () => loop.max_ms },
    { name: 'loop_busy_pct', kind: 'gauge', help: 'Share of the last interval in which the process worked', read: () => loop.busy_pct },
  ];
  return { figures, roll, stop: () => delay.disable() };
}

/** @param {number} ns @returns {number} ms, rounded to a microsecond */
const lag = (ns) => Math.max(0, Math.round(ns / 1000 - RESOLUTION_MS * 1000) / 1000) || 0;

module.exports = { createProcessFigures };
