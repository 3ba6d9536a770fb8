// @ts-check
'use strict';

/**
 * Whether there is a connection to the broker, and whether it is another one than before: a broker that was killed has forgotten the
 * latest. Pure.
 * @typedef {import('.').Transport} Transport
 */

function createConnection() {
  const broken = {};
  /** @type {unknown} null: there was none yet */
  let last = null;

  return {
    /** @param {Transport|null} transport @returns {'none'|'same'|'another'} */
    check(transport) {
      if (!transport?.connected()) {
        if (last !== null) last = broken;
        return 'none';
      }
      const before = last;
      last = transport.connection?.() ?? transport;
      return last === before || before === null ? 'same' : 'another';
    },
  };
}

module.exports = { createConnection };
