// @ts-check
'use strict';

const { beginAt, reach } = require('./beginning');
const { emptyOutcome } = require('../locator');
const { onlyOf } = require('./people');
const { allStored } = require('./probe');
const { createReplay } = require('./replay');

/**
 * A time that somebody asks to have located again. Who is where now stays as it is, but for since when.
 */

const RUN_OUT_MS = 15 * 60_000; // so long it is followed how stays go on that were not over at the end
const RUN_OUT_STEP_MS = 60_000;
const PRESENT_MS = 16_000; // what is newer belongs to the locator of the present: history looks 8 s ahead, and its readings take a moment

/**
 * @param {import('./recover').Deps} deps
 * @param {number} fromMs inclusive
 * @param {number} toMs inclusive
 * @param {string[]|null} people it is about; null: everybody
 */
async function rebuildRange(deps, fromMs, toMs, people) {
  const staff = people && new Set(people);
  const { site, feed, publishing, clock } = deps;
  await allStored(deps);
  const from = await beginAt(deps, fromMs, people);
  const only = people && onlyOf(people, [from.building, site.building()]);
  const replay = createReplay(from, emptyOutcome, { fromMs, toMs, staff });
  const callbacks = { publishSome: () => publishing.publishSome(replay) };

  await reach(deps, from, replay, fromMs, callbacks, only);
  const presentMs = clock() - PRESENT_MS;
  let cursorMs = Math.max(Math.min(toMs + 1, presentMs), fromMs);
  await feed.replayRange(replay, fromMs, cursorMs, callbacks, only);
  const endMs = Math.min(cursorMs + RUN_OUT_MS, presentMs);
  while (cursorMs < endMs && replay.openStays().length > 0) {
    const nextMs = Math.min(cursorMs + RUN_OUT_STEP_MS, endMs);
    await feed.replayRange(replay, cursorMs, nextMs, callbacks, only);
    cursorMs = nextMs;
  }
  // Where it is open at the end the locator of the present knows better, if it knows anything.
  await publishing.publish(replay.take(({ staff_id: staffId, ts }) => !site.memory.history.knowsSecond(staffId, ts)));
  // What still goes on at the present is published by who sees its end.
  if (cursorMs < presentMs) await publishing.publish({ locations: [], stays: replay.openStays() }, true);
  publishStarts(site, replay, fromMs, cursorMs, clock());
}

/**
 * Who sees the end of a stay publishes it, from the beginning that he knows: if that is another one now, he has to know.
 * @param {import('../site').Site} site
 * @param {ReturnType<typeof createReplay>} replay
 * @param {number} fromMs @param {number} toMs what was located anew
 * @param {number} nowMs
 */
function publishStarts(site, replay, fromMs, toMs, nowMs) {
  const now = new Map(site.live.openStays().map((presence) => [presence.staff_id, presence]));
  for (const { staff_id: id, room, since } of replay.openPresences()) {
    const present = now.get(id);
    if (present?.room !== room || present.since === since || present.since > toMs) continue;
    if (since >= fromMs || present.since >= fromMs) site.live.correctStayStart(id, room, since, nowMs);
  }
}

module.exports = { PRESENT_MS, rebuildRange };
