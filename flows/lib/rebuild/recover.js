// @ts-check
'use strict';

const { MARGIN_MS, RETENTION_MS } = require('../coverage');
const { ALIVE_MS, GIVEN_UP_MS } = require('../coverage/stored');
const { byTime, createGrouping } = require('../intake/batches');
const { createReplay } = require('./replay');
const { lookUpStarts } = require('./starts');

/**
 * After a start: what happened since everything was located last is located again from the readings in the database, by a
 * second locator that had some minutes to get into the state of then. When it has caught up with the present it takes
 * the place of the one that was started fresh, which had the present in hand until then: so stays, and who is where
 * since when, are what they would be without the interruption.
 */

const WARM_UP_MS = 15 * 60_000; // as long as a locator remembers somebody
const STRAGGLING_MS = 5000; // receivers' clocks and the way into the database
const UNDERWAY_MS = 2000; // what came to the broker before we did, and was not kept for us, is in the database by then
const NEAR_MS = 15_000; // nearer than this to the present, the rest is done at once
const AHEAD_MS = 5 * 60_000; // the contract's bound on clocks ahead
const AT_ONCE = 200; // batches
const LOOK_MS = 200;
const ARRIVING = 'waiting until InfluxDB has what has arrived';
/** What a wait for the database takes when something is amiss on the way there. */
const LONG_MS = 15_000;
/** So long the first batch is waited for alone, then for a later one as well; doubled each time another one takes its place. */
const LATER_MS = 1000;
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
 * @property {(reason: string) => void} hinder says what hinders at the moment; '' when it goes on
 * @property {(text: string) => void} lose says what is given up for good
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
  while (!await locate(means, incoming, gapMs)) means.doing(ARRIVING);
}

/**
 * @param {Means} means
 * @param {ReturnType<typeof import('./incoming').createIncoming>} incoming
 * @param {number} gapMs
 * @returns {Promise<boolean>} false: something was read before the first batch of since the start had come, so perhaps before all
 *   of that time was stored; now there is one
 */
async function locate(means, incoming, gapMs) {
  const { site, background, feed, publishing, coverage, clock, doing } = means;
  while (!incoming.hasFresh() && clock() < site.startedMs + UNDERWAY_MS) await wait(background);
  const oldestMs = clock() - RETENTION_MS;
  const fromMs = Math.floor(Math.max(gapMs, oldestMs) / 1000) * 1000; // a location may carry the beginning of its second
  const warmMs = Math.max(fromMs - WARM_UP_MS, oldestMs);
  const { building, changes } = await means.changes.since(warmMs);
  incoming.begin(fromMs);
  const replay = createReplay(await site.newLocator(building), site.emptyOutcome,
    { fromMs, eventsToMs: site.startedMs, changes, onBatch: incoming.replayed });
  const some = () => publishing.some(replay);
  let isProven = true;
  const reached = async (/** @type {number} */ ms) => {
    await publishing.publish(replay.take());
    if (isProven) coverage.published({ fromMs: gapMs, toMs: replay.sureUntil(ms - MARGIN_MS), staff: null }, clock());
  };

  await feed.through(replay, warmMs, fromMs, { some });
  await lookUpStarts(replay.locator, warmMs, means.store, background);
  let cursorMs = fromMs;
  const beganMs = clock();
  do {
    doing(ARRIVING);
    const nowMs = clock();
    isProven &&= incoming.hasFresh();
    await allStored(means, incoming, incoming.newest());
    doing('');
    const toMs = Math.max(nowMs - STRAGGLING_MS, cursorMs);
    await feed.through(replay, cursorMs, toMs, { some, reading: incoming.reading, reached });
    cursorMs = toMs;
    await background.breathe();
  } while (clock() - cursorMs > NEAR_MS || (incoming.draining(clock()) && clock() - beganMs < DRAIN_MS && await wait(background)));
  await publishing.publish(replay.take());
  while (clock() < site.startedMs + UNDERWAY_MS) await wait(background);
  await join(means, incoming, replay, cursorMs);
  if (!isProven && incoming.hasFresh()) return false;
  site.adopt(replay, clock());
  incoming.end();
  coverage.published({ fromMs: gapMs, toMs: site.startedMs, staff: null }, clock());
  coverage.caughtUp(clock());
  return true;
}

/** @param {import('./background').Background} background */
const wait = (background) => background.pause(LOOK_MS).then(() => true);

/** Batches that never came. @type {WeakSet<Batch>} */
const givenUp = new WeakSet();

/**
 * Until the database has a batch or one that arrived later, and so everything that arrived before it. A batch may never get
 * there: the broker can have dropped it for Telegraf alone. When nothing arrives later either, it is given up, with everything
 * working, after the same time as in `coverage/stored.js`.
 * @param {Pick<Means, 'store'|'background'|'clock'|'hinder'|'lose'|'coverage'>} means
 * @param {Pick<ReturnType<typeof import('./incoming').createIncoming>, 'newest'>} incoming
 * @param {Batch|null} batch
 */
async function allStored({ store, background, clock, hinder, lose, coverage }, incoming, batch) {
  if (!batch || givenUp.has(batch)) return;
  const beganMs = clock();
  let [later, laterMs, patienceMs] = [batch, beganMs, LATER_MS];
  let workingSinceMs = beganMs;
  let hindered = false;
  for (;;) {
    for (const one of new Set([batch, later])) {
      if (!await background.retry(() => store.hasReading(one))) continue;
      if (hindered) hinder('');
      return;
    }
    const nowMs = clock();
    if (nowMs - coverage.aliveMs() > ALIVE_MS) workingSinceMs = nowMs;
    if (nowMs - workingSinceMs >= GIVEN_UP_MS) break;
    if (nowMs - laterMs >= patienceMs) [later, laterMs, patienceMs] = [incoming.newest() ?? batch, nowMs, 2 * patienceMs];
    if (nowMs - beganMs >= LONG_MS) {
      hindered = true;
      hinder(`InfluxDB does not have what arrived ${Math.round((nowMs - beganMs) / 1000)} s ago; the log of telegraf may say why`);
    }
    await background.pause(LOOK_MS);
  }
  hinder('');
  givenUp.add(batch);
  lose(`readings that arrived up to ${new Date(beganMs).toISOString()} never got into InfluxDB; their time is located without them`);
}

/**
 * The last seconds, from the database and from what arrives meanwhile.
 * @param {Means} means
 * @param {ReturnType<typeof import('./incoming').createIncoming>} incoming
 * @param {ReturnType<typeof createReplay>} replay
 * @param {number} cursorMs
 */
async function join(means, incoming, replay, cursorMs) {
  const { store, background, clock, doing } = means;
  /** @type {Batch[]|null} */
  let arrived = null;
  /** @type {Map<string, Batch>} */
  let stored = new Map();
  while (arrived === null) { // once more when it was more than can be kept
    doing(ARRIVING);
    await allStored(means, incoming, incoming.keep());
    stored = await background.retry(() => readInto(new Map(), store, cursorMs, clock() + AHEAD_MS));
    arrived = incoming.take();
  }
  doing('');
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
