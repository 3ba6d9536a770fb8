// @ts-check
'use strict';

const { rejectionMessage } = require('../outbox/messages');
const { createRefusals } = require('../devices/refusals');
const { readMessage } = require('./readings');

/**
 * Where messages of readings come in: what is refused is counted, remembered, and published with its reason.
 * @param {Pick<ReturnType<typeof import('../outbox').createOutbox>, 'put'>} outbox
 * @param {{messages: number, readings: number, refused: number}} counters are counted up
 */
function createDoor(outbox, counters) {
  const refusals = createRefusals();
  let rejectedMs = 0;

  /**
   * @param {string} topic
   * @param {Buffer} payload
   * @param {number} nowMs
   * @returns {import('./readings').Batch|null} what is good of it
   */
  function admit(topic, payload, nowMs) {
    counters.messages += 1;
    const { batch, rejections } = readMessage(topic, payload, nowMs);
    for (const rejection of rejections) {
      counters.refused += rejection.count;
      refusals.add(rejection, nowMs);
      rejectedMs = Math.max(nowMs, rejectedMs + 1); // no two may have the same, or they would be one point
      outbox.put(rejectionMessage(rejection, topic, payload, rejectedMs), nowMs);
    }
    counters.readings += batch?.readings.length ?? 0;
    return batch;
  }

  return { admit, refusals };
}

module.exports = { createDoor };
