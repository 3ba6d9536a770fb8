'use strict';

const { createPublisher } = require('../lib/broker/publisher');
const { carryOver, forget } = require('../lib/outbox/carry-over');
const { isKind } = require('../lib/outbox/messages');
const { Rate, showBadge } = require('../lib/shared/badge');
const { configNode } = require('../lib/shared/config-node');
const { waitForClock } = require('../lib/intake/wait-for-clock');

module.exports = function register(RED) {
  /** Keeps what is to be published until the broker has acknowledged it; connects with the broker, also what subscribes. */
  function SdaPublish(definition) {
    RED.nodes.createNode(this, definition);
    const { site: { outbox, results, subscriber }, knownTime, deployGap } = configNode(RED, definition.site, 'site');
    const rate = new Rate(Date.now());
    const [publishing, subscribing] = [definition.broker, definition.subscriber].map((id) => () => RED.nodes.getNode(id));
    const publisher = createPublisher(publishing);
    const connect = () => [publishing(), subscribing()].forEach((broker) => broker?.connect());
    const stopWaiting = knownTime && waitForClock(knownTime, this);
    if (!stopWaiting) RED.events.once('flows:started', connect);

    outbox.attach({
      send: (message) => this.send({ ...message, qos: 1 }),
      ...publisher,
    });
    subscriber.attach(definition.subscriber ? subscribing : null);
    carryOver(this.id, outbox, Date.now());
    deployGap?.nodeOpened();
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
    this.on('close', (removed, done) => {
      if (removed) forget(this.id);
      stopWaiting?.();
      RED.events.off('flows:started', connect);
      outbox.attach(null);
      subscriber.attach(null);
      deployGap?.nodeClosed();
      hide();
      done();
    });
  }

  RED.nodes.registerType('sda-publish', SdaPublish);
};
