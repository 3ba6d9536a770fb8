// @ts-check
'use strict';

const { monitorEventLoopDelay } = require('node:perf_hooks');

/**
 * Whether requests come faster than they can be answered. All work shares one event loop with the readings that come in; when
 * it is held up, a growing share of the requests is refused, which costs little, until it no longer is.
 * @typedef {{sheds: () => boolean}} Pressure sheds: whether the next request is one to refuse
 */

const RESOLUTION_MS = 20;
const MEASURE_MS = 1000;
/** In the mean of a second: what one busy moment or one pause of the garbage collector costs is far below. */
const LONG_DELAY_MS = 250;
const MORE_SHARE = 0.25;
const LESS_SHARE = 0.1;
const MAX_SHARE = 0.9;
/** So few requests in a second are not what holds the loop up: to refuse them would help nobody. */
const FEW = 100;

function createPressure() {
  let share = 0;
  let due = 0;
  let shed = 0;
  let asked = 0;
  return {
    /** @param {number} meanDelayMs of the last second */
    measured(meanDelayMs) {
      const many = asked > FEW;
      asked = 0;
      share = meanDelayMs > LONG_DELAY_MS && many ? Math.min(MAX_SHARE, share + MORE_SHARE) : Math.max(0, share - LESS_SHARE);
    },
    sheds() {
      asked += 1;
      due += share;
      if (due < 1) return false;
      due -= 1;
      shed += 1;
      return true;
    },
    /** @type {import('../health/figures').Figure[]} */
    figures: [{ name: 'http_shed', kind: 'counter', help: 'Requests that were refused because they came faster than they could be answered',
      read: () => shed }],
  };
}

/**
 * The pressure on this process.
 * @returns {ReturnType<typeof createPressure> & {stop: () => void}}
 */
function watchPressure() {
  const pressure = createPressure();
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const timer = setInterval(() => {
    pressure.measured(delay.count > 0 ? delay.mean / 1e6 - RESOLUTION_MS : 0);
    delay.reset();
  }, MEASURE_MS);
  timer.unref();
  return { ...pressure, stop: () => { clearInterval(timer); delay.disable(); } };
}

module.exports = { createPressure, watchPressure };
