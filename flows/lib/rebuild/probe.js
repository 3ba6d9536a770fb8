// @ts-check
'use strict';

const { probeMessage } = require('../live/readings');

/**
 * Whether InfluxDB has all readings that the broker has acknowledged. A probe is a batch without readings, which takes their way: the
 * broker and Telegraf keep the order, so when the probe is stored, all that came before it is stored. It needs no receiver that speaks,
 * and one that is lost is followed by another.
 */

const ACKNOWLEDGE_MS = 10_000;
const RETRY_MS = 5000; // the broker may have been killed, or its queue for the spool full
const POLL_MS = 200;
/** What the way into the database takes when something is amiss there. */
const LONG_MS = 15_000;

/**
 * Until InfluxDB has all that has arrived here by now.
 * @param {Pick<import('./recover').Deps, 'site'|'store'|'background'|'clock'|'reportStep'|'reportBlocked'>} deps
 */
async function allStored({ site: { broker: { outbox } }, store, background, clock, reportStep, reportBlocked }) {
  reportStep('waiting until InfluxDB has what has arrived');
  const beganMs = clock();
  let sentMs = -Infinity;
  let blocked = false;
  for (;;) {
    const nowMs = clock();
    if (outbox.connected() && nowMs - sentMs >= RETRY_MS) {
      sentMs = nowMs;
      await background.retry(() => outbox.publish(probeMessage(nowMs), clock(), ACKNOWLEDGE_MS));
    }
    if (await background.retry(() => store.newestProbe(beganMs)) !== null) break;
    if (nowMs - beganMs >= LONG_MS) {
      blocked = true;
      reportBlocked(`InfluxDB does not have what arrived ${Math.round((nowMs - beganMs) / 1000)} s ago; the log of telegraf may say why`);
    }
    await background.pause(POLL_MS);
  }
  if (blocked) reportBlocked('');
  reportStep('');
}

module.exports = { allStored };
