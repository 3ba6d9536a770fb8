'use strict';

const { bytesOf, partsOf } = require('../lib/live/inbox');
const { Rate, showBadge } = require('../lib/shared/badge');
const { configNode } = require('../lib/shared/config-node');

module.exports = function register(RED) {
  /** Checks messages of readings; sends what is good of those that came together as one message, and what is refused as another. */
  function SdaCheck(definition) {
    RED.nodes.createNode(this, definition);
    const { site: { bus, live, broker } } = configNode(RED, definition.site, 'site').app;
    const [messages, refusals] = [new Rate(Date.now()), new Rate(Date.now())];
    let [batches, refused, finished] = [[], [], []];

    const check = ({ message, done }) => {
      try {
        const checked = live.check(String(message.topic), bytesOf(message.payload), Date.now());
        if (checked.batch) batches.push(checked.batch);
        refused.push(...checked.refused);
        finished.push(done);
      } catch (error) {
        done(error);
      }
    };
    let deliver = () => this.send([
      batches.length > 0 ? { topic: 'readings', payload: batches } : null,
      refused.length > 0 ? { topic: 'refusals', payload: refused } : null,
    ]);
    const send = () => {
      messages.add(finished.length);
      refusals.add(refused.length);
      if (batches.length + refused.length > 0) deliver();
      for (const done of finished) done();
      [batches, refused, finished] = [[], [], []];
    };
    const inbox = live.openInbox(check, send);
    bus.emit('nodeOpened');
    const hide = showBadge(this, (nowMs) => {
      const [rate, bad, waiting] = [messages.perSecond(nowMs), refusals.perSecond(nowMs), inbox.size()];
      return { fill: bad === '0' ? 'green' : 'yellow', shape: 'dot',
        text: `${rate} msg/s${bad === '0' ? '' : `, ${bad} refused/s`}${waiting > 0 ? `, ${waiting} waiting` : ''}` };
    });

    this.on('input', (message, _send, done) => { for (const part of partsOf(message, done)) inbox.put(part); });
    this.on('close', () => {
      deliver = () => { // without wires: the nodes behind may be closed already
        if (refused.length > 0) broker.results.publish('refusals', refused, Date.now());
        live.locate(batches, Date.now());
      };
      inbox.close();
      bus.emit('nodeClosed');
      hide();
    });
  }

  RED.nodes.registerType('sda-check', SdaCheck);
};
