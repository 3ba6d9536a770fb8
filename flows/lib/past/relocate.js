// @ts-check
'use strict';

const { CATCH_UP_WITHIN_MS, FINAL_AFTER_MS, REBUILD_PADDING_MS } = require('./coverage');
const { emptyOutcome } = require('../locator');
const { checkpointOf, fromCheckpoint, beginAt, reach } = require('./beginning');
const { catchUp, createIncoming } = require('./catch-up');
const { onlyOf } = require('./people');
const { allStored } = require('./background');
const { createReplay } = require('./replay');

/**
 * A time of which readings came when it was over. Who heard everything before goes on from a checkpoint up to the present, and so does the
 * locator of the present afterwards; without one the time itself and what is aside of it is located once more.
 * @param {import('./catch-up').Deps} deps
 * @param {import('./rebuild').Task} task
 */
async function relocate(deps, { part: { fromMs, toMs, staff }, isRepeat }) {
  const { site, coverage, clock } = deps;
  const wholeMs = (/** @type {number} */ ms) => Math.floor(ms / 1000) * 1000; // a location may carry the beginning of its second
  const beforeMs = wholeMs(fromMs - FINAL_AFTER_MS);
  const checkpoint = fromMs > clock() - CATCH_UP_WITHIN_MS ? await checkpointOf(deps, beforeMs, staff) : null;
  const beginning = checkpoint && await fromCheckpoint(deps, checkpoint, staff);
  if (!beginning) {
    const paddingMs = isRepeat ? 0 : REBUILD_PADDING_MS;
    await rebuildRange(deps, wholeMs(fromMs - paddingMs), Math.min(toMs + paddingMs, clock()), staff);
    // The locator of the present went on without it, and may differ for a while from one that heard it in time.
    const paddedMs = toMs + REBUILD_PADDING_MS;
    if (!isRepeat && paddedMs > clock() - PRESENT_MS) coverage.repeats.add({ fromMs, toMs: paddedMs, staff });
    return;
  }
  const incoming = createIncoming(() => {}, clock());
  site.bus.on('batch', incoming.hear);
  try {
    await catchUp(deps, incoming, { fromMs: beforeMs, staff, beginning });
  } finally {
    site.bus.off('batch', incoming.hear);
  }
}

/**
 * A time that somebody asks to have located again. Who is where now stays as it is, but for since when.
 */

const RUN_OUT_MS = 15 * 60_000; // so long it is followed how stays go on that were not over at the end
const RUN_OUT_STEP_MS = 60_000;
const PRESENT_MS = 16_000; // what is newer belongs to the locator of the present: history looks 8 s ahead, and its readings take a moment

/**
 * @param {import('./catch-up').Deps} deps
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

module.exports = { relocate, PRESENT_MS, rebuildRange };
