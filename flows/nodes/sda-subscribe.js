'use strict';

const { gatherWrites } = require('../lib/broker/gather-writes');
const { createKeepAlive, createTopicFilter, followRetained } = require('../lib/broker/connections');
const { coalesceReads } = require('../lib/broker/read-interval');
const { Rate, showBadge } = require('../lib/shared/badge');
const { configNode } = require('../lib/shared/config-node');

module.exports = function register(RED) {
  /**
   * Messages of a topic, over the broker's config node, which subscribes. `mqtt in` makes a regular expression for each message and each
   * subscription; here there is one for each subscription. With `together`, messages of one turn of the event loop are sent as one.
   */
  function SdaSubscribe(definition) {
    RED.nodes.createNode(this, definition);
    const broker = configNode(RED, definition.broker, 'broker');
    const { topic: filter, together } = definition;
    const options = { qos: Number(definition.qos) };
    const isOurs = createTopicFilter(filter);
    const [rate, keepAlive] = [new Rate(Date.now()), createKeepAlive(broker)];
    const gathered = [];

    const sendGathered = () => {
      if (gathered.length === 0) return;
      keepAlive();
      this.send({ topic: 'messages', payload: gathered.splice(0) });
    };
    const gather = (topic, payload) => {
      if (gathered.push({ topic, payload }) > 1) return;
      if (broker.client) gatherWrites(broker.client); // a mocked broker has none
      setImmediate(sendGathered);
    };
    const take = together ? gather : (topic, payload, { qos, retain }) => this.send({ topic, payload, qos, retain });

    if (together) coalesceReads(broker);
    broker.register(this);
    broker.subscribe({ topic: filter, qos: options.qos, options, ref: this.id, brokerId: broker.id, callback: take,
      handler(topic, payload, packet) { // in the place of the config node's own
        if (!isOurs(topic)) return;
        rate.add(1);
        take(topic, payload, packet);
      } });
    const follow = options.qos === 0 ? followRetained(broker, filter) : { tick() {}, end() {} };
    const hide = showBadge(this, (nowMs) => {
      follow.tick();
      return broker.connected ? { fill: 'green', shape: 'dot', text: `${rate.perSecond(nowMs)} msg/s` }
        : { fill: 'red', shape: 'ring', text: 'no broker' };
    });

    this.on('close', (removed, done) => {
      broker.unsubscribe(filter, this.id, removed);
      [sendGathered, hide, follow.end].forEach((each) => each()); // a node that goes on takes what was gathered
      broker.deregister(this, done, removed);
    });
  }

  RED.nodes.registerType('sda-subscribe', SdaSubscribe);
};
