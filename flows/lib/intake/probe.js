// @ts-check
'use strict';

/**
 * A batch without readings, which the flows publish and receive again. It takes the way of readings, and their order is kept: when it is
 * stored, all before it is stored (`rebuild/probe.js`), and when it comes back here, all before it has come (`coverage/broker-drops.js`).
 */

/** No receiver has such an id. */
const PROBE_TOPIC = 'sda/v1/phone/_flows/readings';

/** @param {number} ms when it is sent, epoch ms */
const probeMessage = (ms) => ({ topic: PROBE_TOPIC, payload: JSON.stringify({ v: 1, ts: ms, readings: [] }) });

/** When a probe was sent, epoch ms; null: it is none of ours. @param {Buffer} payload @returns {number|null} */
function probeMs(payload) {
  const digits = /^\{"v":1,"ts":(\d{1,15}),/.exec(payload.toString('latin1', 0, 64))?.[1];
  return digits === undefined ? null : Number(digits);
}

module.exports = { PROBE_TOPIC, probeMessage, probeMs };
