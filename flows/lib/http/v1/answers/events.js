// @ts-check
'use strict';

const { createEvents } = require('../../../history/events');
const { readPage } = require('../pages');
const { possible } = require('../window');
const { KEPT_DAYS, createWindowFields, fromStore } = require('./shared');

/** Which key of an event its subject stands under. @type {Record<string, 'staff_id'|'room'|'gateway'|'beacon'>} */
const SUBJECTS = { enter: 'staff_id', leave: 'staff_id', lost: 'staff_id', crowded: 'room', gateway_down: 'gateway', gateway_up: 'gateway',
  battery_low: 'beacon', battery_ok: 'beacon' };

/** @param {import('.').Context} context */
function createEventAnswers({ site, store, refuseIncomplete = () => {}, ...context }) {
  const windowFields = createWindowFields(context);
  const eventsOf = createEvents({ store, site, clock: context.clock });

  /** @param {import('../ask').Ask} ask */
  async function listEvents({ params: { type, subject }, window, after, limit, nowMs, next }) {
    /** @type {import('../pages').Read<import('../../../store/readings').StoredEvent>} */
    const read = (from, to, count) => fromStore(eventsOf({ type, subject }, from, to, count));
    const part = possible(window, nowMs, KEPT_DAYS);
    if (part.fromMs < part.toMs) await fromStore(async () => refuseIncomplete(part.fromMs, part.toMs, [], nowMs));
    const { items, last } = await readPage(read, part, after, limit,
      { ts: ({ ts }) => ts, id: (event) => `${event.subject} ${event.type}`, newestFirst: true });
    const events = items.map((event) => ({ ...event, ...named(event) }));
    return { ...windowFields(window, []), events, next: next(last) };
  }

  return { listEvents };
}

/** The subject under the key that it has in the message. @param {{type: string, subject: string}} event */
function named({ type, subject }) {
  const key = SUBJECTS[type];
  return key ? { [key]: subject } : {};
}

module.exports = { createEventAnswers };
