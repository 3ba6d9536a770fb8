'use strict';

const { Publisher } = require('../lib/broker/connections');
const { isKind } = require('../lib/broker/messages');
const { Rate, showBadge } = require('../lib/shared/badge');
const { configNode } = require('../lib/shared/config-node');

module.exports = function register(RED) {
  /** Keeps what is to be published until the broker has acknowledged it; connects with the broker, also what subscribes. */
  function SdaPublish(definition) {
    RED.nodes.createNode(this, definition);
    const { site: { bus, broker: { outbox, results, subscriber } }, knownTime } = configNode(RED, definition.site, 'site').app;
    const rate = new Rate(Date.now());
    const [publishing, subscribing] = [definition.broker, definition.subscriber].map((id) => () => RED.nodes.getNode(id));
    const publisher = new Publisher(publishing);
    const connect = () => [publishing(), subscribing()].forEach((broker) => broker?.connect());
    const stopWaiting = knownTime?.wait(this);
    if (!stopWaiting) RED.events.once('flows:started', connect);

    outbox.attach({
      send: (message) => this.send({ ...message, qos: 1 }),
      connected: publisher.connected,
      connection: publisher.connection,
    });
    subscriber.attach(definition.subscriber ? subscribing : null);
    bus.emit('nodeOpened');
    const hide = showBadge(this, (nowMs) => {
      const { waiting, in_flight: inFlight, dropped } = outbox.counters();
      const kept = waiting + inFlight;
      const text = `${rate.perSecond(nowMs)} items/s${kept > 0 ? `, ${kept} waiting` : ''}${dropped > 0 ? `, ${dropped} lost` : ''}`;
      return publisher.connected() ? { fill: dropped > 0 ? 'yellow' : 'green', shape: 'dot', text } : { fill: 'red', shape: 'ring', text: `no broker, ${text}` };
    });

    this.on('input', ({ topic, payload, sda_id: id }, _send, done) => {
      try {
        if (id !== undefined && !isKind(topic)) outbox.acknowledge(id, Date.now());
        else rate.add(results.publish(topic, payload, Date.now()));
        done();
      } catch (error) {
        done(error);
      }
    });
    this.on('close', () => {
      stopWaiting?.();
      RED.events.off('flows:started', connect);
      outbox.attach(null);
      subscriber.attach(null);
      bus.emit('nodeClosed');
      hide();
    });
  }

  RED.nodes.registerType('sda-publish', SdaPublish);
};
