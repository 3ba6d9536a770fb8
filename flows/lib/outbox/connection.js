// @ts-check
'use strict';

/**
 * Whether there is a connection to the broker, and whether it is another one than before: a broker that was killed has forgotten the
 * latest. Pure.
 * @typedef {import('.').Line} Line
 */

function createConnection() {
  const broken = {};
  /** @type {unknown} null: there was none yet */
  let last = null;

  return {
    /** @param {Line|null} line @returns {'none'|'same'|'another'} */
    look(line) {
      if (!line?.connected()) {
        if (last !== null) last = broken;
        return 'none';
      }
      const before = last;
      last = line.connection?.() ?? line;
      return last === before || before === null ? 'same' : 'another';
    },
  };
}

module.exports = { createConnection };
