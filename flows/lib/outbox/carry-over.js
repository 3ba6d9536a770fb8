// @ts-check
'use strict';

/**
 * A deploy of everything makes the outbox anew: what the broker has not acknowledged goes from the one of before into the new one.
 * @typedef {Pick<ReturnType<typeof import('./index').createOutbox>, 'put'|'unacknowledged'>} Outbox
 */

/** The outbox of before by the node that sends it. @type {Map<string, Outbox>} */
const before = new Map();

/** @param {string} id of the node @param {Outbox} outbox @param {number} nowMs */
function carryOver(id, outbox, nowMs) {
  const earlier = before.get(id);
  before.set(id, outbox);
  if (earlier && earlier !== outbox) for (const message of earlier.unacknowledged()) outbox.put(message, nowMs);
}

/** The node was taken away for good. @param {string} id */
const forget = (id) => before.delete(id);

module.exports = { carryOver, forget };
