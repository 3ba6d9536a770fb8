'use strict';

const { Rate, showBadge } = require('../lib/shared/badge');
const { configNode } = require('../lib/shared/config-node');
const { createKeepAlive } = require('../lib/intake/keep-alive');
const { followRetained } = require('../lib/intake/retained');
const { createTopicFilter } = require('../lib/intake/topic-filter');

module.exports = function register(RED) {
  /**
   * Messages of a topic, over the broker's config node, which subscribes. `mqtt in` makes a regular expression for each message and each
   * subscription; here there is one for each subscription. Where it is wanted, messages that come in one turn of the event loop
   * are sent as one.
   */
  function SdaSubscribe(definition) {
    RED.nodes.createNode(this, definition);
    const broker = configNode(RED, definition.broker, 'broker');
    const { topic: filter, together } = definition;
    const options = { qos: Number(definition.qos) };
    const isOurs = createTopicFilter(filter);
    const rate = new Rate(Date.now());
    const keepAlive = createKeepAlive(broker);
    let gathered = [];

    const sendGathered = () => {
      const payload = gathered;
      gathered = [];
      keepAlive();
      if (payload.length > 0) this.send({ topic: 'messages', payload });
    };
    const gather = (topic, payload) => {
      if (gathered.push({ topic, payload }) === 1) setImmediate(sendGathered);
    };
    const take = together ? gather : (topic, payload, { qos, retain }) => this.send({ topic, payload, qos, retain });

    broker.register(this);
    broker.subscribe({ topic: filter, qos: options.qos, options, ref: this.id, brokerId: broker.id, callback: take,
      handler(topic, payload, packet) { // in the place of the config node's own
        if (!isOurs(topic)) return;
        rate.add(1);
        take(topic, payload, packet);
      } });
    const follow = options.qos === 0 ? followRetained(broker, filter) : { look() {}, end() {} };
    const hide = showBadge(this, (nowMs) => {
      follow.look();
      const text = `${rate.perSecond(nowMs)} msg/s`;
      return broker.connected ? { fill: 'green', shape: 'dot', text } : { fill: 'red', shape: 'ring', text: 'no broker' };
    });

    this.on('close', (removed, done) => {
      broker.unsubscribe(filter, this.id, removed);
      sendGathered(); // a node that goes on takes them
      hide();
      follow.end();
      broker.deregister(this, done, removed);
    });
  }

  RED.nodes.registerType('sda-subscribe', SdaSubscribe);
};
