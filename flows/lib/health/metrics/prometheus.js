// @ts-check
'use strict';

const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = require('prom-client');

/**
 * The figures in Prometheus' text format, with base units in the names as Prometheus asks for: `store_lag_ms` becomes
 * `sda_store_lag_seconds`, the counter `readings` `sda_readings_total`.
 * @typedef {import('./figures').Figure} Figure
 */

/** Seconds, from a read of memory to the longest time-out. */
const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** @param {{all: () => Figure[]}} figures @param {string} version */
function createPrometheus(figures, version) {
  const register = new Registry();
  collectDefaultMetrics({ register });
  new Gauge({ name: 'sda_build_info', help: 'Which version runs', labelNames: ['version'], registers: [register] }).set({ version }, 1);
  const latencies = new Histogram({
    name: 'sda_http_request_duration_seconds', help: 'How long answers took', labelNames: ['route'], buckets: BUCKETS_S, registers: [register],
  });
  /** @type {Set<string>} */
  const known = new Set();

  /** @param {Figure} figure */
  function describe({ name, kind, help, label, read }) {
    known.add(name);
    const isTime = name.endsWith('_ms');
    const Kind = kind === 'counter' ? Counter : Gauge;
    new Kind({
      name: `sda_${name.replace(/_ms$/, '_seconds').replace(/_s$/, '_seconds')}${kind === 'counter' ? '_total' : ''}`,
      help: `${help}.`,
      labelNames: label === undefined ? [] : [label],
      registers: [register],
      collect() {
        this.reset(); // label values that are gone are no longer reported
        const value = read();
        if (value === null) {
          if (label === undefined) this.remove(); // unknown is not 0, which `reset` has set
          return;
        }
        const each = typeof value === 'number' ? [/** @type {const} */ (['', value])] : Object.entries(value);
        for (const [key, number] of each) this.inc(label === undefined ? {} : { [label]: key }, isTime ? number / 1000 : number);
      },
    });
  }

  return {
    latencies: { observe: (/** @type {string} */ route, /** @type {number} */ seconds) => latencies.observe({ route }, seconds) },
    contentType: register.contentType,
    /** @returns {Promise<string>} */
    text() {
      for (const figure of figures.all()) if (!known.has(figure.name)) describe(figure);
      return register.metrics();
    },
  };
}

module.exports = { createPrometheus };
