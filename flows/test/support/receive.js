'use strict';

/** One MQTT message of readings, as *check* and *locate* take it one after the other. */
function receive(site, topic, payload, nowMs) {
  const { batch, refused } = site.live.check(topic, payload, nowMs);
  if (refused.length > 0) site.broker.results.publish('refusals', refused, nowMs);
  if (batch) site.live.locate([batch], nowMs);
}

module.exports = { receive };
