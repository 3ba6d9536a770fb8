// @ts-check
'use strict';

const { eventOf, messagesOf } = require('./messages');

/**
 * What was found out, on its way to the outbox. The nodes of the flow carry it there as messages, a batch of each kind; while none
 * is attached (a node is being deployed again, or there is no Node-RED) it goes to the outbox directly. No object that is handed
 * over is kept or changed here afterwards, so whoever receives it may do with it what they like.
 * @typedef {import('./messages').Kind} Kind
 * @typedef {Partial<Record<Kind, any[]>>} Batches of each kind what has come together
 * @typedef {(batches: Batches, late: boolean) => void} Carrier late: of the past, located again; it is in the outbox already
 * @typedef {ReturnType<typeof createResults>} Results
 * @param {Pick<ReturnType<typeof import('./index').createOutbox>, 'put'>} outbox
 * @param {Pick<import('../history/recent-events').RecentEvents, 'add'>} [recentEvents] gets the events that are published
 * @param {(staffId: string) => void} [onPerson] is called before a location or stay of that person is published: a flow may add some
 * @param {(presences: import('../locator').Presence[]) => void} [onPresences] gets those that are published
 */
function createResults(outbox, recentEvents, onPerson = () => {}, onPresences = () => {}) {
  /** @type {Batches} */
  let gathered = {};
  /** @type {Carrier|null} */
  let carrier = null;

  /**
   * Put a batch into the outbox. All of it is serialized before any of it is taken.
   * @param {unknown} kind @param {unknown} items @param {number} nowMs
   * @returns {number} of how many
   * @throws {import('./messages').Unpublishable} there is no such kind, or one of the items is none of it
   */
  function publish(kind, items, nowMs) {
    const messages = messagesOf(kind, items);
    const published = /** @type {any[]} */ (items);
    if (kind === 'locations' || kind === 'stays') for (const { staff_id: id } of published) onPerson(id);
    if (kind === 'presence') onPresences(published);
    for (const message of messages) outbox.put(message, nowMs);
    if (kind === 'events') recentEvents?.add(published.map(eventOf), nowMs);
    return published.length;
  }

  return {
    publish,
    /** @param {Kind} kind @param {any[]} items go with the next `deliver` */
    add(kind, items) {
      if (items.length === 0) return;
      const earlier = gathered[kind];
      if (earlier) for (const item of items) earlier.push(item);
      else gathered[kind] = items.slice();
    },
    /** Hand over what has come together. @param {number} nowMs */
    deliver(nowMs) {
      const batches = gathered;
      const kinds = /** @type {Kind[]} */ (Object.keys(batches));
      if (kinds.length === 0) return;
      gathered = {};
      if (carrier) carrier(batches, false);
      else for (const kind of kinds) publish(kind, batches[kind], nowMs);
    },
    /**
     * What was located again and has been published: for users' nodes alone. The receiver may change it.
     * @param {Batches} batches
     */
    again: (batches) => carrier?.(batches, true),
    /** Whether somebody carries batches to `publish`. */
    attached: () => carrier !== null,
    /**
     * @param {Carrier} next carries batches to `publish` from now on
     * @returns {() => void} takes it off again
     */
    attach(next) {
      carrier = next;
      return () => { if (carrier === next) carrier = null; };
    },
  };
}

module.exports = { createResults };
