// @ts-check
'use strict';

/**
 * What was found out, as messages for the broker (the contract's payloads).
 * @typedef {import('../locator').Outcome} Outcome
 * @typedef {import('./index').Message} Message
 */

/** Mosquitto takes packets of 64 KiB; the rest is room for the topic and the frame. */
const MESSAGE_BYTES = 60 * 1024;
const PAYLOAD_KEPT_BYTES = 1024;

/**
 * The batches for `sda/v1/locations`, each within the size limit.
 * @param {Pick<Outcome, 'locations'|'stays'>} found
 * @param {number} [limit] bytes
 * @returns {Message[]}
 */
function locationMessages({ locations, stays }, limit = MESSAGE_BYTES) {
  /** @type {Message[]} */
  const messages = [];
  /** @type {{locations: string[], stays: string[]}} */
  let parts = { locations: [], stays: [] };
  let bytes = 64; // of the frame around the lists
  const finish = () => {
    if (parts.locations.length + parts.stays.length === 0) return;
    const payload = `{"v":1,"locations":[${parts.locations.join()}],"stays":[${parts.stays.join()}]}`;
    messages.push({ topic: 'sda/v1/locations', payload });
    parts = { locations: [], stays: [] };
    bytes = 64;
  };
  for (const [list, items] of /** @type {const} */ ([['locations', locations], ['stays', stays]])) {
    for (const item of items) {
      const text = JSON.stringify(item);
      const length = Buffer.byteLength(text) + 1;
      if (bytes + length > limit) finish();
      parts[list].push(text);
      bytes += length;
    }
  }
  finish();
  return messages;
}

/** @param {import('../locator').Presence} presence @returns {Message} */
const presenceMessage = (presence) => ({
  topic: `sda/v1/staff/${presence.staff_id}/location`, payload: JSON.stringify(presence), retain: true,
});

/**
 * An event, with whom or what it is about as its `subject`: two events of one moment differ in it.
 * @param {{ts: number, type: string, staff_id?: string, gateway?: string, beacon?: string, room?: string}} event
 * @returns {Message}
 */
function eventMessage(event) {
  const subject = event.gateway ?? event.beacon ?? event.staff_id ?? event.room;
  return { topic: 'sda/v1/events', payload: JSON.stringify({ ...event, subject }) };
}

/**
 * @param {import('../intake/readings').Rejection} rejection
 * @param {string} topic
 * @param {Buffer} payload
 * @param {number} ts no two rejections may have the same, or they would be one point
 * @returns {Message}
 */
function rejectionMessage(rejection, topic, payload, ts) {
  const { kind, receiver, reason, detail, count } = rejection;
  const text = payload.subarray(0, PAYLOAD_KEPT_BYTES).toString('utf8');
  return { topic: 'sda/v1/rejected', payload: JSON.stringify({ ts, topic, kind, receiver, reason, detail, count, payload: text }) };
}

module.exports = { locationMessages, presenceMessage, eventMessage, rejectionMessage };
