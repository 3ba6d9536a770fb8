// @ts-check
'use strict';

const POLL_MS = 1000;

/**
 * A clock that is behind would refuse what the broker keeps, so nothing is taken in until it is right. All that began with it begins
 * anew then: Node-RED ends, to be started again.
 * @param {import('./known-time').KnownTime} knownTime
 * @param {{log: (text: string) => void, warn: (text: string) => void}} logger
 * @returns {(() => void)|null} ends the wait; null: the clock is right
 */
function waitForClock(knownTime, logger) {
  const { reason } = knownTime.part(Date.now());
  if (!reason) return null;
  logger.warn(`nothing is taken in: ${reason}`);
  const timer = setInterval(() => {
    knownTime.reload();
    if (knownTime.behindMs(Date.now()) > 0) return;
    logger.log('the clock is right: Node-RED ends, to be started again with it');
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, POLL_MS);
  return () => clearInterval(timer);
}

module.exports = { waitForClock };
