// @ts-check
'use strict';

const { trueStart } = require('./stays');

const SETTLED_MS = 60_000; // who is heard at all is heard within a minute, or was lost before
const LOOK_BACK_MS = 24 * 3_600_000;

/**
 * Who was somewhere already when the reading of the past set in, and since when really, as far as it is stored.
 * @param {import('../locator').Locator} locator after the warm-up
 * @param {number} warmMs when it set in
 * @param {import('../store').Store} store
 * @param {import('./background').Background} background
 */
async function lookUpStarts(locator, warmMs, store, background) {
  const going = locator.openStays().filter(({ since, state }) => since <= warmMs + SETTLED_MS && state !== 'lost');
  for (const presence of going) {
    const { staff_id: staffId, since } = presence;
    const [last, first] = await background.retry(async () => {
      const stay = await store.lastStay(staffId, since - LOOK_BACK_MS, since);
      const fromMs = stay ? Math.floor(stay.leave_ms / 1000) * 1000 : since - LOOK_BACK_MS;
      return [stay, fromMs < since ? await store.firstLocation(staffId, fromMs, since) : null];
    });
    const trueMs = trueStart(presence, last, first);
    if (trueMs < since) locator.resume({ ...presence, since: trueMs });
  }
}

module.exports = { lookUpStarts };
