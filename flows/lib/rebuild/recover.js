// @ts-check
'use strict';

const { MARGIN_MS, RETENTION_MS } = require('../coverage');
const { beginAt, WARM_UP_MS } = require('./beginning');
const { catchUp } = require('./catch-up');

/**
 * After a start: what happened since everything was located last is located from the readings in the database. The locator that was
 * started fresh has the present in hand until then.
 */

const SHORTEST_WARM_UP_MS = 2 * 60_000; // places are known again after one; who came back within 15 minutes may not be
const UNDERWAY_MS = 2000; // what came to the broker before we did, and was not kept for us, is in the database by then

/**
 * @typedef {object} Deps what work on the past uses
 * @property {import('../site').Site} site
 * @property {import('../store').Store} store
 * @property {import('./background').Background} background
 * @property {ReturnType<typeof import('./feed').createFeed>} feed
 * @property {ReturnType<typeof import('./publish').createPublishing>} publishing
 * @property {ReturnType<typeof import('./building-changes').createBuildingChanges>} changes
 * @property {import('../coverage').Coverage} coverage
 * @property {import('../checkpoints').Checkpoints} checkpoints
 * @property {ReturnType<typeof import('./saving').createSaving>} saving of checkpoints
 * @property {() => number} clock
 * @property {(text: string) => void} reportStep
 * @property {(text: string) => void} log
 * @property {(reason: string) => void} reportBlocked what the work waits for; '': it goes on
 */

/**
 * From when on the time before this start is not located, epoch ms. Without a record of that the newest heartbeat says it.
 * @param {Pick<Deps, 'site'|'store'|'background'|'coverage'>} deps
 */
async function gapStart({ site: { startedMs }, store, background, coverage }) {
  const { fromMs, known } = coverage.beforeStart();
  if (known) return fromMs;
  const settled = await background.retry(async () => await store.settledMs(startedMs - 3_600_000, startedMs) ??
    await store.settledMs(startedMs - 8 * 24 * 3_600_000, startedMs));
  if (settled !== null) return Math.min(Math.max(settled - MARGIN_MS, fromMs), startedMs);
  return (await background.retry(() => store.firstReading(fromMs, startedMs)) ?? startedMs) - MARGIN_MS;
}

/** @param {Deps} deps @param {import('./catch-up').Incoming} incoming @param {number} gapMs */
async function recover(deps, incoming, gapMs) {
  const { site: { startedMs, live }, coverage, clock } = deps;
  const fromMs = Math.floor(Math.max(gapMs, clock() - RETENTION_MS) / 1000) * 1000; // a location may carry the beginning of its second
  const warmUpMs = warmUpAfter(coverage.countTry());
  if (warmUpMs < WARM_UP_MS) deps.log(`starts before were killed too soon; this one warms up for ${Math.round(warmUpMs / 60_000)} min`);
  const beginning = await beginAt(deps, fromMs, null, warmUpMs);
  await catchUp(deps, incoming, { fromMs, staff: null, beginning, eventsToMs: live.eventsFromMs(), notBeforeMs: startedMs + UNDERWAY_MS,
    onSliceDone: (ms, replay) => coverage.published({ fromMs: gapMs, toMs: replay.sureUntil(ms - MARGIN_MS), staff: null }, clock()) });
  coverage.published({ fromMs: gapMs, toMs: startedMs, staff: null }, clock());
  coverage.caughtUp(clock());
}

/**
 * Shorter after two starts that were killed before they got on, so that kills may come fast for ever.
 * @param {number} tries starts before that did not get on
 */
const warmUpAfter = (tries) => Math.max(WARM_UP_MS / 2 ** Math.max(tries - 1, 0), SHORTEST_WARM_UP_MS);

module.exports = { gapStart, recover };
