// @ts-check
'use strict';

const { howSure, isProbable, isSure } = require('../shared/probable');

/**
 * Results as messages for the broker (the contract's payloads).
 * @typedef {import('../locator').Outcome} Outcome
 * @typedef {import('./outbox').Message} Message
 */

/** Mosquitto takes packets of 64 KiB; the rest is room for the topic and the frame. */
const MESSAGE_BYTES = 60 * 1024;
const FRAME_BYTES = 64; // around the lists
const PAYLOAD_KEPT_BYTES = 1024;

/**
 * A location as it is stored: whole per cent take a byte on disk, where a share with two decimals takes four. Of who is sure
 * there is no runner-up; where there might be one and is none it says so, since a point that is written again keeps what it lacks.
 * @param {Outcome['locations'][number]} location of our own, or of a user's node, which may not say how sure it is
 */
function storedLocation({ probability, runner_up: runnerUp, ...location }) {
  if (typeof probability !== 'number') return location;
  const pct = Math.round(probability * 100);
  return { ...location, sure_pct: pct, runner_up: isSure(probability) ? undefined : runnerUp ?? '' };
}

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
  let bytes = FRAME_BYTES;
  const finish = () => {
    if (parts.locations.length + parts.stays.length === 0) return;
    const payload = `{"v":1,"locations":[${parts.locations.join()}],"stays":[${parts.stays.join()}]}`;
    messages.push({ topic: 'sda/v1/locations', payload });
    parts = { locations: [], stays: [] };
    bytes = FRAME_BYTES;
  };
  for (const [list, items] of /** @type {const} */ ([['locations', locations], ['stays', stays]])) {
    for (const item of items) {
      const text = JSON.stringify(list === 'locations' ? storedLocation(/** @type {any} */ (item)) : item);
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
  topic: `sda/v1/staff/${presence.staff_id}/location`, retain: true,
  payload: JSON.stringify({ ...presence, ...howSure(presence) }),
});

/**
 * By what a presence is another one than before: not by a probability that is a little higher.
 * @param {import('../locator').Presence} presence
 */
const wordsOf = ({ probability, runner_up: _, ...presence }) => JSON.stringify({ ...presence, probably: isProbable(probability) });

/**
 * An event, with who or what it is about as its `subject`: two events of one moment differ in it.
 * @template {{ts: number, type: string, staff_id?: string, gateway?: string, beacon?: string, room?: string}} Event
 * @param {Event} event
 */
const eventOf = (event) => ({ ...event, subject: event.gateway ?? event.beacon ?? event.staff_id ?? event.room });

/** @typedef {import('../live/readings').Rejection & {ts: number, topic: string, payload: string}} Refusal payload: its beginning */

/**
 * A refusal, with the message that it is about.
 * @param {import('../live/readings').Rejection} rejection
 * @param {string} topic
 * @param {Buffer} payload
 * @param {number} ts no two refusals may have the same, or they would be one point
 * @returns {Refusal}
 */
function refusalOf({ kind, receiver, reason, detail, count }, topic, payload, ts) {
  return { ts, topic, kind, receiver, reason, detail, count, payload: payload.subarray(0, PAYLOAD_KEPT_BYTES).toString('utf8') };
}

/** @param {Refusal} refusal @returns {Message} */
const refusalMessage = (refusal) => ({ topic: 'sda/v1/rejected', payload: JSON.stringify(refusal) });

/** @typedef {'locations'|'stays'|'presence'|'events'|'refusals'|'heartbeat'} Kind */

/** Something that cannot be published; the message says what and why. */
class Unpublishable extends Error {
  /** @param {string} reason */
  constructor(reason) {
    super(reason);
    this.name = 'Unpublishable';
  }
}

/** Keys of an item of each kind, and the type of their values. @type {Record<Kind, Record<string, string>>} */
const KEYS = {
  locations: { staff_id: 'string', ts: 'number', room: 'string' },
  stays: { staff_id: 'string', ts: 'number', room: 'string' },
  presence: { staff_id: 'string', ts: 'number', state: 'string' },
  events: { type: 'string', ts: 'number' },
  refusals: { reason: 'string', ts: 'number' },
  heartbeat: { ts: 'number' },
};
/** @type {Record<Kind, (items: any[]) => Message[]>} */
const SERIALIZE = {
  locations: (locations) => locationMessages({ locations, stays: [] }),
  stays: (stays) => locationMessages({ locations: [], stays }),
  presence: (presences) => presences.map(presenceMessage),
  events: (events) => events.map((event) => ({ topic: 'sda/v1/events', payload: JSON.stringify(eventOf(event)) })),
  refusals: (refusals) => refusals.map(refusalMessage),
  heartbeat: (figures) => figures.map((one) => ({ topic: 'sda/v1/flows/health', payload: JSON.stringify(one) })),
};

/** @param {unknown} topic @returns {topic is Kind} */
const isKind = (topic) => typeof topic === 'string' && Object.hasOwn(SERIALIZE, topic);

/**
 * A batch as messages for the broker.
 * @param {unknown} kind @param {unknown} items
 * @returns {Message[]}
 * @throws {Unpublishable}
 */
function messagesOf(kind, items) {
  if (!isKind(kind)) throw new Unpublishable(`msg.topic is ${JSON.stringify(kind)}, not one of ${Object.keys(SERIALIZE).join(', ')}`);
  if (!Array.isArray(items)) throw new Unpublishable(`msg.payload of "${kind}" must be an array`);
  const keys = Object.entries(KEYS[kind]);
  items.forEach((item, index) => {
    const wrong = keys.find(([key, type]) => typeof item?.[key] !== type);
    if (wrong) throw new Unpublishable(`msg.payload[${index}] of "${kind}" must be an object whose ${wrong[0]} is a ${wrong[1]}`);
  });
  const messages = SERIALIZE[kind](items);
  const large = messages.find(({ payload }) => payload.length > MESSAGE_BYTES / 3 // bytes are three times as many at most
    && Buffer.byteLength(payload) > MESSAGE_BYTES + FRAME_BYTES);
  if (large) throw new Unpublishable(`one item of "${kind}" has ${Buffer.byteLength(large.payload)} bytes, at most ${MESSAGE_BYTES} are published`);
  return messages;
}

module.exports = { locationMessages, presenceMessage, wordsOf, eventOf, messagesOf, isKind, refusalOf, Unpublishable };
