// @ts-check
'use strict';

const { RETENTION_MS } = require('../coverage');
const { hasTags } = require('./people');
const { allStored } = require('./probe');
const { WARM_UP_MS } = require('./recover');
const { createReplay } = require('./replay');
const { lookUpStarts } = require('./starts');

/**
 * A time that somebody asks to have located again. Who is where now stays as it is, but for since when.
 */

const RUN_OUT_MS = 15 * 60_000; // so long it is followed how stays go on that were not over at the end
const RUN_OUT_STEP_MS = 60_000;
const PRESENT_MS = 16_000; // what is newer belongs to the locator of the present: history looks 8 s ahead, and its readings take a moment

/**
 * @param {import('./recover').Means} means
 * @param {number} fromMs inclusive
 * @param {number} toMs inclusive
 * @param {string[]|null} people it is about; null: everybody
 */
async function rebuildRange(means, fromMs, toMs, people) {
  const staff = people && new Set(people);
  const { site, store, background, feed, publishing, clock } = means;
  await allStored(means);
  const warmMs = Math.max(fromMs - WARM_UP_MS, clock() - RETENTION_MS);
  const { building, changes } = await means.changes.since(warmMs);
  const only = people && onlyOf(people, [building, site.building()]);
  const replay = createReplay(await site.newLocator(building), site.emptyOutcome, { fromMs, toMs, staff, changes });
  const steps = { some: () => publishing.some(replay) };

  await feed.through(replay, warmMs, Math.max(fromMs, warmMs), steps, only);
  await lookUpStarts(replay.locator, warmMs, store, background);
  const presentMs = clock() - PRESENT_MS;
  let cursorMs = Math.max(Math.min(toMs + 1, presentMs), fromMs);
  await feed.through(replay, fromMs, cursorMs, steps, only);
  const endMs = Math.min(cursorMs + RUN_OUT_MS, presentMs);
  while (cursorMs < endMs && replay.openStays().length > 0) {
    const nextMs = Math.min(cursorMs + RUN_OUT_STEP_MS, endMs);
    await feed.through(replay, cursorMs, nextMs, steps, only);
    cursorMs = nextMs;
  }
  // Where it is open at the end the locator of the present knows better, if it knows anything.
  await publishing.publish(replay.take(({ staff_id: staffId, ts }) => !site.history.knowsSecond(staffId, ts)));
  // What still goes on at the present is published by who sees its end.
  if (cursorMs < presentMs) await publishing.publish({ locations: [], stays: replay.openStays() }, true);
  publishStarts(site, replay, fromMs, cursorMs, clock());
}

/** Whose phones are asked for one by one; of more it is quicker to read everybody's. */
const MOST_PHONES = 500;

/**
 * Whose readings say where these people are: their own phones'; and of gateways all, since it counts, too, that one next to them
 * hears nothing.
 * @param {string[]} phones ids of these people @param {import('../building').Building[]} buildings of then and of now
 * @returns {import('../store').Only|null} null: everybody's
 */
function onlyOf(phones, buildings) {
  if (phones.length > MOST_PHONES) return null;
  return { phones, gateways: buildings.some((building) => phones.some((id) => hasTags(building, id))) };
}

/**
 * Who sees the end of a stay publishes it, from the beginning that he knows: if that is another one now, he has to know.
 * @param {import('../site').Site} site
 * @param {ReturnType<typeof createReplay>} replay
 * @param {number} fromMs @param {number} toMs what was located anew
 * @param {number} nowMs
 */
function publishStarts(site, replay, fromMs, toMs, nowMs) {
  const now = new Map(site.openStays().map((presence) => [presence.staff_id, presence]));
  for (const { staff_id: id, room, since } of replay.openPresences()) {
    const present = now.get(id);
    if (present?.room !== room || present.since === since || present.since > toMs) continue;
    if (since >= fromMs || present.since >= fromMs) site.began(id, room, since, nowMs);
  }
}

module.exports = { PRESENT_MS, rebuildRange };
