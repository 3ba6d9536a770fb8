// @ts-check
'use strict';

/**
 * What the broker has acknowledged within the last minute, oldest first. Of retained topics only those that are still cleared:
 * of the others whoever publishes them knows the newest. Pure.
 * @typedef {import('./index').Message} Message
 * @param {{keptMs: number, bytes: number}} bounds
 */
function createReplay({ keptMs, bytes: most }) {
  /** @type {{message: Message, ms: number}[]} */
  let kept = [];
  let first = 0;
  let bytes = 0;
  /** When each retained topic was cleared. @type {Map<string, number>} */
  const cleared = new Map();

  /** @param {number} nowMs of a time with a connection: while there is none nothing grows old */
  function trim(nowMs) {
    for (let oldest = kept[first]; oldest && (nowMs - oldest.ms > keptMs || bytes > most); oldest = kept[first]) {
      bytes -= oldest.message.payload.length;
      first += 1;
    }
    for (const [topic, ms] of cleared) {
      if (nowMs - ms <= keptMs) break; // in the order of time
      cleared.delete(topic);
    }
    if (first < 1000 && first < kept.length) return;
    kept = kept.slice(first);
    first = 0;
  }

  return {
    /** @param {Message} message @param {number} nowMs */
    keep({ topic, payload, retain = false }, nowMs) {
      if (retain) {
        cleared.delete(topic);
        if (payload === '') cleared.set(topic, nowMs);
        return;
      }
      kept.push({ message: { topic, payload, retain }, ms: nowMs });
      bytes += payload.length;
      trim(nowMs);
    },
    trim,
    /** All of it, which is not kept any more. @returns {Message[]} */
    take() {
      const taken = [
        ...kept.slice(first).map(({ message }) => message),
        ...[...cleared.keys()].map((topic) => ({ topic, payload: '', retain: true })),
      ];
      cleared.clear();
      kept = [];
      first = 0;
      bytes = 0;
      return taken;
    },
  };
}

module.exports = { createReplay };
