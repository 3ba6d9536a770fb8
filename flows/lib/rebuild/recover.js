// @ts-check
'use strict';

const { MARGIN_MS, RETENTION_MS } = require('../coverage');
const { byTime, createGrouping } = require('../intake/batches');
const { allStored } = require('./probe');
const { createReplay } = require('./replay');
const { lookUpStarts } = require('./starts');

/**
 * After a start: what happened since everything was located last is located again from the readings in the database, by a
 * second locator that had some minutes to get into the state of then. When it has caught up with the present it takes
 * the place of the one that was started fresh, which had the present in hand until then: so stays, and who is where
 * since when, are what they would be without the interruption.
 */

const WARM_UP_MS = 15 * 60_000; // as long as a locator remembers somebody
const SHORTEST_WARM_UP_MS = 2 * 60_000; // places are known again after one; who came back within 15 minutes may not be
const STRAGGLING_MS = 5000; // receivers' clocks and the way into the database
const UNDERWAY_MS = 2000; // what came to the broker before we did, and was not kept for us, is in the database by then
const NEAR_MS = 15_000; // nearer than this to the present, the rest is done at once
const AHEAD_MS = 5 * 60_000; // the contract's bound on clocks ahead
const AT_ONCE = 200; // batches
const LOOK_MS = 200;
const DRAIN_MS = 5 * 60_000; // who sends only old batches for so long has a clock that is wrong

/**
 * @typedef {import('../intake/readings').Batch} Batch
 * @typedef {object} Means what a recovery works with
 * @property {import('../site').Site} site
 * @property {import('../store').Store} store
 * @property {import('./background').Background} background
 * @property {ReturnType<typeof import('./feed').createFeed>} feed
 * @property {ReturnType<typeof import('./publish').createPublishing>} publishing
 * @property {ReturnType<typeof import('./building-changes').createBuildingChanges>} changes
 * @property {import('../coverage').Coverage} coverage
 * @property {() => number} clock
 * @property {(text: string) => void} doing
 * @property {(text: string) => void} log
 * @property {(reason: string) => void} hinder says what hinders at the moment; '' when it goes on
 */

/**
 * From when on the time before this start is not located, epoch ms. Without a record of that the newest heartbeat says it.
 * @param {Pick<Means, 'site'|'store'|'background'|'coverage'>} means
 */
async function gapStart({ site: { startedMs }, store, background, coverage }) {
  const { fromMs, known } = coverage.beforeStart();
  if (known) return fromMs;
  const settled = await background.retry(async () => await store.settledMs(startedMs - 3_600_000, startedMs) ??
    await store.settledMs(startedMs - 8 * 24 * 3_600_000, startedMs));
  if (settled !== null) return Math.min(Math.max(settled - MARGIN_MS, fromMs), startedMs);
  return (await background.retry(() => store.firstReading(fromMs, startedMs)) ?? startedMs) - MARGIN_MS;
}

/**
 * @param {Means} means
 * @param {ReturnType<typeof import('./incoming').createIncoming>} incoming
 * @param {number} gapMs
 */
async function recover(means, incoming, gapMs) {
  const { site, background, feed, publishing, coverage, clock } = means;
  const oldestMs = clock() - RETENTION_MS;
  const fromMs = Math.floor(Math.max(gapMs, oldestMs) / 1000) * 1000; // a location may carry the beginning of its second
  const warmUpMs = warmUpAfter(coverage.countTry());
  if (warmUpMs < WARM_UP_MS) means.log(`starts before were killed too soon; this one warms up for ${Math.round(warmUpMs / 60_000)} min`);
  const warmMs = Math.max(fromMs - warmUpMs, oldestMs);
  const { building, changes } = await means.changes.since(warmMs);
  incoming.begin(fromMs);
  const replay = createReplay(await site.newLocator(building), site.emptyOutcome,
    { fromMs, eventsToMs: site.startedMs, changes, onBatch: incoming.replayed });
  const some = () => publishing.some(replay);
  const reached = async (/** @type {number} */ ms) => {
    await publishing.publish(replay.take());
    coverage.published({ fromMs: gapMs, toMs: replay.sureUntil(ms - MARGIN_MS), staff: null }, clock());
  };

  await feed.through(replay, warmMs, fromMs, { some });
  await lookUpStarts(replay.locator, warmMs, means.store, background);
  let cursorMs = fromMs;
  const beganMs = clock();
  do {
    const nowMs = clock();
    await allStored(means);
    const toMs = Math.max(nowMs - STRAGGLING_MS, cursorMs);
    await feed.through(replay, cursorMs, toMs, { some, reading: incoming.reading, reached });
    cursorMs = toMs;
    await background.breathe();
  } while (clock() - cursorMs > NEAR_MS || (incoming.draining(clock()) && clock() - beganMs < DRAIN_MS && await wait(background)));
  await publishing.publish(replay.take());
  while (clock() < site.startedMs + UNDERWAY_MS) await wait(background);
  await join(means, incoming, replay, cursorMs);
  site.adopt(replay, clock());
  incoming.end();
  coverage.published({ fromMs: gapMs, toMs: site.startedMs, staff: null }, clock());
  coverage.caughtUp(clock());
}

/**
 * Shorter after two starts that were killed before they got on, so that kills may come fast for ever.
 * @param {number} tries starts before that did not get on
 */
const warmUpAfter = (tries) => Math.max(WARM_UP_MS / 2 ** Math.max(tries - 1, 0), SHORTEST_WARM_UP_MS);

/** @param {import('./background').Background} background */
const wait = (background) => background.pause(LOOK_MS).then(() => true);

/**
 * The last seconds, from the database and from what arrives meanwhile.
 * @param {Means} means
 * @param {ReturnType<typeof import('./incoming').createIncoming>} incoming
 * @param {ReturnType<typeof createReplay>} replay
 * @param {number} cursorMs
 */
async function join(means, incoming, replay, cursorMs) {
  const { store, background, clock } = means;
  /** @type {Batch[]|null} */
  let arrived = null;
  /** @type {Map<string, Batch>} */
  let stored = new Map();
  while (arrived === null) { // once more when it was more than can be kept
    incoming.keep();
    await allStored(means);
    stored = await background.retry(() => readInto(new Map(), store, cursorMs, clock() + AHEAD_MS));
    arrived = incoming.take();
  }
  for (const batch of arrived) stored.set(keyOf(batch), batch); // of the last ones the database may have a part only
  const heard = new Set(stored.keys());
  const came = () => (incoming.take() ?? []).filter((batch) => !heard.has(keyOf(batch)));
  // The last few are heard in one go: nothing can come between them and the moment at which the locators change places.
  for (let next = [...stored.values()]; next.length > 0; next = came()) {
    background.begin();
    for (const batch of next.sort(byTime)) {
      heard.add(keyOf(batch));
      if (batch.ts >= cursorMs) replay.hear(batch, clock());
      if (next.length > AT_ONCE) await background.breathe();
    }
  }
}

/** @param {Batch} batch */
const keyOf = (batch) => `${batch.ts} ${batch.kind} ${batch.receiver}`;

/**
 * @param {Map<string, Batch>} heard is added to @param {import('../store').Store} store @param {number} fromMs @param {number} toMs
 */
async function readInto(heard, store, fromMs, toMs) {
  const grouping = createGrouping();
  const keep = (/** @type {Batch[]} */ batches) => batches.forEach((batch) => heard.set(keyOf(batch), batch));
  await store.readings(fromMs, toMs, async (rows) => keep(grouping.push(rows)));
  keep(grouping.finish());
  return heard;
}

module.exports = { gapStart, recover, WARM_UP_MS };
