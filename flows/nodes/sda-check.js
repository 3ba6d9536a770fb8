'use strict';

const { createInbox } = require('../lib/intake/inbox');
const { bytesOf, partsOf } = require('../lib/intake/input');
const { Rate, showBadge } = require('../lib/shared/badge');
const { configNode } = require('../lib/shared/config-node');

module.exports = function register(RED) {
  /** Checks messages of readings; sends what is good of those that came together as one message, and what is refused as another. */
  function SdaCheck(definition) {
    RED.nodes.createNode(this, definition);
    const { site, inboxes, deployGap } = configNode(RED, definition.site, 'site');
    const [messages, refusals] = [new Rate(Date.now()), new Rate(Date.now())];
    let [batches, refused, finished] = [[], [], []];

    const inbox = createInbox(({ message, done }) => {
      try {
        const checked = site.check(String(message.topic), bytesOf(message.payload), Date.now());
        if (checked.batch) batches.push(checked.batch);
        refused.push(...checked.refused);
        finished.push(done);
      } catch (error) {
        done(error);
      }
    }, { after: () => send() });
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
    inboxes.add(inbox);
    deployGap?.nodeOpened();
    const hide = showBadge(this, (nowMs) => {
      const [rate, bad, waiting] = [messages.perSecond(nowMs), refusals.perSecond(nowMs), inbox.size()];
      return { fill: bad === '0' ? 'green' : 'yellow', shape: 'dot',
        text: `${rate} msg/s${bad === '0' ? '' : `, ${bad} refused/s`}${waiting > 0 ? `, ${waiting} waiting` : ''}` };
    });

    this.on('input', (message, _send, done) => partsOf(message, done).forEach(inbox.put));
    this.on('close', () => {
      deliver = () => { // without wires: the nodes behind may be closed already
        if (refused.length > 0) site.results.publish('refusals', refused, Date.now());
        site.locate(batches, Date.now());
      };
      inbox.drain();
      inboxes.delete(inbox);
      deployGap?.nodeClosed();
      hide();
    });
  }

  RED.nodes.registerType('sda-check', SdaCheck);
};
