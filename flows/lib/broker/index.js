// @ts-check
'use strict';

const { eventOf, messagesOf } = require('./messages');
const { Outbox } = require('./outbox');
const { Subscriber } = require('./connections');

/**
 * The flows' side of the broker, on two connections: one publishes what was found out, the other subscribes. What is published waits
 * in the outbox until the broker has acknowledged it.
 */
class Broker {
  /** @param {import('../events').EventBus} bus @param {ConstructorParameters<typeof Outbox>[1]} [bounds] of the outbox */
  constructor(bus, bounds) {
    this.outbox = new Outbox(bus, bounds);
    this.results = new Results(this.outbox, bus);
    this.subscriber = new Subscriber();
  }

  /** Both connections. */
  connected = () => this.outbox.connected() && this.subscriber.connected();

  /** Take off what is retained of a person. @param {string} staffId @param {number} nowMs */
  clearPresence(staffId, nowMs) {
    this.outbox.put({ topic: `sda/v1/staff/${staffId}/location`, payload: '', retain: true }, nowMs);
  }
}

/**
 * Results on their way to the outbox. The nodes of the flow carry it there as messages, a batch of each kind; while none
 * is attached (a node is being deployed again, or there is no Node-RED) it goes to the outbox directly. No object that is handed
 * over is kept or changed here afterwards, so whoever receives it may do with it what they like.
 * @typedef {import('./messages').Kind} Kind
 * @typedef {Partial<Record<Kind, any[]>>} Batches of each kind what has come together
 * @typedef {(batches: Batches, late: boolean) => void} Carrier late: of the past, located again; it is in the outbox already
 */
class Results {
  #outbox;
  #bus;
  /** @type {Batches} */
  #gathered = {};
  /** @type {Carrier|null} */
  #carrier = null;

  /** @param {Pick<Outbox, 'put'>} outbox @param {import('../events').EventBus} bus hears of each batch, before it is published */
  constructor(outbox, bus) {
    this.#outbox = outbox;
    this.#bus = bus;
  }

  /**
   * Put a batch into the outbox. All of it is serialized before any of it is taken.
   * @param {unknown} kind @param {unknown} items @param {number} nowMs
   * @returns {number} of how many
   * @throws {import('./messages').Unpublishable} there is no such kind, or one of the items is none of it
   */
  publish(kind, items, nowMs) {
    const messages = messagesOf(kind, items);
    const published = /** @type {any[]} */ (items);
    this.#bus.emit(/** @type {Kind} */ (kind), kind === 'events' ? published.map(eventOf) : published, nowMs);
    for (const message of messages) this.#outbox.put(message, nowMs);
    return published.length;
  }

  /** @param {Kind} kind @param {any[]} items go with the next `deliver` */
  add(kind, items) {
    if (items.length === 0) return;
    const earlier = this.#gathered[kind];
    if (earlier) for (const item of items) earlier.push(item);
    else this.#gathered[kind] = items.slice();
  }

  /** Hand over what has come together. @param {number} nowMs */
  deliver(nowMs) {
    const batches = this.#gathered;
    const kinds = /** @type {Kind[]} */ (Object.keys(batches));
    if (kinds.length === 0) return;
    this.#gathered = {};
    if (this.#carrier) this.#carrier(batches, false);
    else for (const kind of kinds) this.publish(kind, batches[kind], nowMs);
  }

  /** Results that were located again and published: for users' nodes alone. The receiver may change it. @param {Batches} batches */
  again(batches) {
    this.#carrier?.(batches, true);
  }

  /** Whether somebody carries batches to `publish`. */
  attached() {
    return this.#carrier !== null;
  }

  /**
   * @param {Carrier} next carries batches to `publish` from now on
   * @returns {() => void} takes it off again
   */
  attach(next) {
    this.#carrier = next;
    return () => { if (this.#carrier === next) this.#carrier = null; };
  }
}

module.exports = { Broker, Results };
