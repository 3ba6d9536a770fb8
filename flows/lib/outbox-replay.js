// @ts-check
'use strict';

/**
 * What the broker has acknowledged within the last minute, oldest first. Of retained topics only that they were cleared:
 * of the others whoever publishes them knows the newest. Pure.
 * @typedef {import('./outbox').Message} Message
 * @param {{keptMs: number, bytes: number}} bounds
 */
function createReplay({ keptMs, bytes: most }) {
  /** @type {{message: Message, ms: number}[]} */
  let kept = [];
  let first = 0;
  let bytes = 0;

  /** @param {number} nowMs of a time with a connection: while there is none nothing grows old */
  function trim(nowMs) {
    for (let oldest = kept[first]; oldest && (nowMs - oldest.ms > keptMs || bytes > most); oldest = kept[first]) {
      bytes -= oldest.message.payload.length;
      first += 1;
    }
    if (first < 1000 && first < kept.length) return;
    kept = kept.slice(first);
    first = 0;
  }

  return {
    /** @param {Message} message @param {number} nowMs */
    keep({ topic, payload, retain = false }, nowMs) {
      if (retain && payload !== '') return;
      kept.push({ message: { topic, payload, retain }, ms: nowMs });
      bytes += payload.length;
      trim(nowMs);
    },
    trim,
    /** All of it, which is not kept any more. @returns {Message[]} */
    take() {
      const taken = kept.slice(first).map(({ message }) => message);
      kept = [];
      first = 0;
      bytes = 0;
      return taken;
    },
  };
}

module.exports = { createReplay };
