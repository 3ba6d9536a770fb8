// @ts-check
'use strict';

const { connect } = require('mqtt');
const { gatherWrites } = require('./gather-writes');

/**
 * The connections to the broker, which Node-RED's config nodes `mqtt-broker` open: what the flows need of them beside messages.
 * @typedef {{connected?: boolean, client?: any, brokerurl?: string, options?: any}} BrokerNode config node of Node-RED; client: of
 *   MQTT.js, another one after a change of the node; a mocked broker has none
 */

/** The connection that publishes, as the outbox sees it. */
class Publisher {
  #brokerNode;
  /** @type {unknown} client whose writes are gathered */
  #gathers = null;

  /** @param {() => BrokerNode|null|undefined} brokerNode */
  constructor(brokerNode) {
    this.#brokerNode = brokerNode;
  }

  connected = () => {
    const { client, connected } = this.#brokerNode() ?? {};
    if (connected && client && client !== this.#gathers) gatherWrites(this.#gathers = client);
    return connected === true;
  };

  /** Another value after each reconnect. */
  connection = () => this.#brokerNode()?.client?.stream;
}

/**
 * The connection that subscribes. It is another one than that which publishes: messages that wait for the flows delay no acknowledgement
 * of what they publish, and the broker can forget what waits without a break for the outbox.
 */
class Subscriber {
  /** @type {(() => BrokerNode|null|undefined)|null} */
  #brokerNode = null;

  /** @param {(() => BrokerNode|null|undefined)|null} next null: the flows have no such connection, or it is the publisher's */
  attach(next) {
    this.#brokerNode = next;
  }

  connected() {
    return !this.#brokerNode || this.#brokerNode()?.connected === true;
  }

  /**
   * Lets the broker forget what it keeps for the flows: a client of the same name begins their session anew. The flows' own client
   * connects and subscribes again, within about a second.
   */
  forgetQueue() {
    const { brokerurl, options } = this.#brokerNode?.() ?? {};
    if (brokerurl === undefined) return;
    const own = { ...options, onread: undefined, clean: true, reconnectPeriod: 0 }; // `onread` hands over to the flows' own client
    const other = connect(brokerurl, own);
    const end = () => { other.end(true); };
    other.on('connect', end).on('error', end);
  }
}

const KEEP_ALIVE_MS = 1000;

/**
 * Messages that arrive prove that the connection is alive. MQTT.js counts only answers to its own packets, and these wait behind the
 * messages that the broker sends: with a long queue they come later than MQTT.js waits, and it would begin the queue anew.
 * @param {BrokerNode} broker
 * @param {() => number} [clockMs] only goes on
 * @returns {() => void} to be called when messages have arrived
 */
function createKeepAlive(broker, clockMs = () => performance.now()) {
  let saidMs = -Infinity;
  return () => {
    const nowMs = clockMs();
    if (nowMs - saidMs < KEEP_ALIVE_MS) return;
    saidMs = nowMs;
    broker.client?.reschedulePing?.(true);
  };
}

/**
 * A subscription of QoS 0 misses what was published while there was no connection, and in a session that goes on the broker does not
 * send retained messages again, such as its own figures. So it is asked for them after each reconnect.
 * @param {BrokerNode} broker
 * @param {string} filter topic
 */
function followRetained(broker, filter) {
  /** @type {import('mqtt').MqttClient|undefined} */
  let client;
  const ask = () => client?.subscribe(/** @type {any} */ ({ [filter]: { qos: 0 }, resubscribe: true }));
  const end = () => { client?.off('connect', ask); };

  return {
    /** To be called now and then: a config node that was changed has another client. */
    tick() {
      if (!broker.client || broker.client === client) return;
      end();
      client = /** @type {import('mqtt').MqttClient} */ (broker.client);
      client.on('connect', ask);
    },
    end,
  };
}

/**
 * Whether a topic matches the filter of a subscription (MQTT 3.1.1, 4.7). Pure.
 * @param {string} filter with `+` for one level and `#` for all further ones
 * @returns {(topic: string) => boolean}
 */
function createTopicFilter(filter) {
  const pattern = filter.split('/').map((level) => (level === '+' ? '[^/]*' : level === '#' ? '.*' : level.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
    .join('/').replace(/\/\.\*$/, '(?:/.*)?');
  const matching = new RegExp(`^${pattern}$`, 's');
  return (topic) => matching.test(topic);
}

module.exports = { Publisher, Subscriber, createKeepAlive, createTopicFilter, followRetained };
