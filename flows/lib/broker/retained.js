// @ts-check
'use strict';

/**
 * A subscription of QoS 0 misses what was published while there was no connection, and in a session that goes on the broker does not
 * send retained messages again, such as its own figures. So it is asked for them after each reconnect.
 * @param {{client?: import('mqtt').MqttClient}} broker config node of Node-RED
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
      client = broker.client;
      client.on('connect', ask);
    },
    end,
  };
}

module.exports = { followRetained };
