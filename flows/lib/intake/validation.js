// @ts-check
'use strict';

const { refusalOf } = require('../outbox/messages');
const { createRefusals } = require('../devices/refusals');
const { PROBE_TOPIC, probeMs } = require('./probe');
const { readMessage } = require('./readings');

/**
 * Validates messages of readings. What is refused is counted, and remembered with its reason.
 * @typedef {import('../outbox/messages').Refusal} Refusal
 * @param {{messages: number, readings: number, refused: number}} counters are counted up
 * @param {(sentMs: number, nowMs: number) => void} [onProbe] one of ours came back
 */
function createValidation(counters, onProbe = () => {}) {
  const refusals = createRefusals();
  let refusedMs = 0;

  /**
   * @param {string} topic
   * @param {Buffer} payload
   * @param {number} nowMs
   * @returns {{batch: import('./readings').Batch|null, refused: Refusal[]}} batch: what is good of it
   */
  function validate(topic, payload, nowMs) {
    if (topic === PROBE_TOPIC) return probed(payload, nowMs);
    counters.messages += 1;
    const { batch, rejections } = readMessage(topic, payload, nowMs);
    counters.readings += batch?.readings.length ?? 0;
    const refused = rejections.map((rejection) => refuse(rejection, topic, payload, nowMs));
    if (batch && batch.readings.length > 0) refusals.measured(batch.receiver); // after its refusals: one RSSI among them is enough
    return { batch, refused };
  }

  /** @param {Buffer} payload @param {number} nowMs */
  function probed(payload, nowMs) {
    const sentMs = probeMs(payload);
    if (sentMs !== null) onProbe(sentMs, nowMs);
    return { batch: null, refused: [] };
  }

  /** @param {import('./readings').Rejection} rejection @param {string} topic @param {Buffer} payload @param {number} nowMs */
  function refuse(rejection, topic, payload, nowMs) {
    counters.refused += rejection.count;
    refusals.add(rejection, nowMs);
    refusedMs = Math.max(nowMs, refusedMs + 1); // no two may have the same, or they would be one point
    return refusalOf(rejection, topic, payload, refusedMs);
  }

  return { validate, refusals };
}

module.exports = { createValidation };
