// @ts-check
'use strict';

/**
 * Whether there is a connection to the broker, and whether it is another one than before: a broker that was killed has forgotten the
 * latest. Pure.
 * @typedef {import('.').Line} Line
 */

const GO_ON_MS = 10_000; // a connection that is broken off on purpose is back by then

function createConnection() {
  const broken = {};
  /** @type {unknown} null: there was none yet */
  let last = null;
  let goesOnFromMs = -Infinity;

  return {
    /** @param {Line|null} line @param {number} nowMs @returns {'none'|'same'|'another'} */
    look(line, nowMs) {
      const goesOn = nowMs - goesOnFromMs < GO_ON_MS;
      if (!line?.connected()) {
        if (last !== null && !goesOn) last = broken;
        return 'none';
      }
      const before = last;
      last = line.connection?.() ?? line;
      return last === before || before === null || (goesOn && before !== broken) ? 'same' : 'another';
    },
    /** It breaks for a moment, and the broker goes on: the next one counts as the same. @param {number} nowMs */
    willGoOn(nowMs) { goesOnFromMs = nowMs; },
  };
}

module.exports = { createConnection };
