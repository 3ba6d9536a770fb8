'use strict';

const { batchesFault } = require('../lib/live/inbox');
const { Rate, showBadge } = require('../lib/shared/badge');
const { configNode } = require('../lib/shared/config-node');

module.exports = function register(RED) {
  /** Finds out from checked readings who is where; sends what is new, a batch of each kind. */
  function SdaLocate(definition) {
    RED.nodes.createNode(this, definition);
    const { site: { bus, live, broker: { results } } } = configNode(RED, definition.site, 'site').app;
    const [batches, locations] = [new Rate(Date.now()), new Rate(Date.now())];
    const message = (topic, payload) => (payload?.length > 0 ? { topic, payload } : null);
    const sendLate = (late) => { if (late) this.send([null, null, null, null, { ...late, late: true }]); };

    if (results.attached()) this.warn('another sda-locate of this site sends nothing from now on: one is enough');
    const sendNew = ({ locations: located, stays, presence, events }) => {
      locations.add(located?.length ?? 0);
      // stays first: whoever sees a location in the database finds the stays before it
      if (stays) this.send([null, message('stays', stays)]);
      this.send([message('locations', located), null, message('presence', presence), message('events', events)]);
    };
    const detach = results.attach((found, late) => {
      if (late) for (const kind of ['stays', 'locations', 'events']) sendLate(message(kind, found[kind]));
      else sendNew(found);
    });
    bus.emit('nodeOpened');
    const hide = showBadge(this, (nowMs) => ({ fill: 'green', shape: 'dot',
      text: `${batches.perSecond(nowMs)} in/s, ${locations.perSecond(nowMs)} located/s` }));

    this.on('input', ({ payload }, _send, done) => {
      const fault = batchesFault(payload);
      if (fault) return done(new Error(fault));
      batches.add(payload.length);
      live.put(payload, Date.now());
      return done();
    });
    const report = (error) => this.error(error);
    bus.on('error', report);
    this.on('close', () => {
      live.drain();
      bus.off('error', report);
      detach(); // what is found until there is another one goes to the outbox directly
      bus.emit('nodeClosed');
      hide();
    });
  }

  RED.nodes.registerType('sda-locate', SdaLocate);
};
