// @ts-check
'use strict';

const { ALIVE_MS, GIVEN_UP_MS } = require('../history/arrival');
const { byTime, createGrouping } = require('./batches');
const { createReplay } = require('./replay');
const { lookUpStarts } = require('./starts');

/**
 * After a start: what happened since everything was located last is located again from the readings in the database, by a
 * second locator that had some minutes to get into the state of then. When it has caught up with the present it takes
 * the place of the one that was started fresh, which had the present in hand until then: so stays, and who is where
 * since when, are what they would be without the interruption.
 */

const RETENTION_MS = 7 * 24 * 3_600_000 - 60_000;
const WARM_UP_MS = 15 * 60_000; // as long as a locator remembers somebody
/** Told once more: what a killed broker forgot (30 s) and who was about to be lost (60 s). */
const MARGIN_MS = 90_000;
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
 * @property {import('./toil').Toil} toil
 * @property {ReturnType<typeof import('./feed').createFeed>} feed
 * @property {ReturnType<typeof import('./tell').createTelling>} telling
 * @property {ReturnType<typeof import('./turns').createTurns>} turns
 * @property {import('./missed').Missed} missed
 * @property {() => number} clock
 * @property {(ms: number) => void} reached
 * @property {(text: string) => void} doing
 * @property {(reason: string) => void} hinder says what hinders at the moment; '' when it goes on
 * @property {(text: string) => void} lose says what is given up for good
 * @property {() => number} aliveMs when ingest worked last, epoch ms
 */

/** Up to when everything was located before this start, epoch ms. @param {Pick<Means, 'site'|'store'|'toil'>} means */
async function gapStart({ site: { startedMs }, store, toil }) {
  const oldestMs = startedMs - RETENTION_MS;
  const settled = await toil.insist(async () => await store.settledMs(startedMs - 3_600_000, startedMs) ??
    await store.settledMs(startedMs - 8 * 24 * 3_600_000, startedMs));
  if (settled !== null) return Math.min(Math.max(settled, oldestMs), startedMs);
  return await toil.insist(() => store.firstReading(oldestMs, startedMs)) ?? startedMs;
}

/**
 * Of which time before the start there is not everything yet.
 * @param {number} settledMs up to when it is located again; 0: that is not known; the start itself: nothing was missed
 * @param {number} startedMs
 * @returns {{fromMs: number, toMs: number}|null} epoch ms, the end exclusive
 */
function missing(settledMs, startedMs) {
  if (settledMs === startedMs) return null;
  const fromMs = (settledMs || startedMs - RETENTION_MS) - MARGIN_MS;
  return fromMs < startedMs ? { fromMs, toMs: startedMs } : null;
}

/**
 * @param {Means} means
 * @param {ReturnType<typeof import('./arrivals').createArrivals>} arrivals
 * @param {number} gapMs
 */
async function recover(means, arrivals, gapMs) {
  const { site, toil, feed, telling, missed, clock, reached, doing } = means;
  const oldestMs = clock() - RETENTION_MS;
  const fromMs = Math.floor(Math.max(gapMs - MARGIN_MS, oldestMs) / 1000) * 1000; // a location may carry the beginning of its second
  const warmMs = Math.max(fromMs - WARM_UP_MS, oldestMs);
  const { building, turns } = await means.turns.since(warmMs);
  missed.begin(fromMs);
  const replay = createReplay(await site.newLocator(building), site.emptyOutcome, { fromMs, turns, missed });
  const tell = () => telling.some(replay);

  await feed.through(replay, warmMs, fromMs, tell, () => {});
  await lookUpStarts(replay.locator, warmMs, means.store, toil);
  let cursorMs = fromMs;
  const beganMs = clock();
  do {
    doing(ARRIVING);
    const nowMs = clock();
    await allStored(means, arrivals, arrivals.newest());
    doing('');
    const toMs = Math.max(nowMs - STRAGGLING_MS, cursorMs);
    await feed.through(replay, cursorMs, toMs, tell, (ms) => reached(Math.max(ms, gapMs)));
    cursorMs = toMs;
    await toil.breathe();
  } while (clock() - cursorMs > NEAR_MS || (arrivals.draining(clock()) && clock() - beganMs < DRAIN_MS && await wait(toil)));
  await telling.tell(replay.take());
  while (clock() < site.startedMs + UNDERWAY_MS) await wait(toil);
  await join(means, arrivals, replay, cursorMs);
  site.adopt(replay, clock());
  missed.end();
}

/** @param {import('./toil').Toil} toil */
const wait = (toil) => toil.pause(LOOK_MS).then(() => true);

/** Batches that never came. @type {WeakSet<Batch>} */
const givenUp = new WeakSet();

/**
 * Until the database has a batch or one that arrived later, and so everything that arrived before it. A batch may never get
 * there: the broker can have dropped it for Telegraf alone. When nothing arrives later either, it is given up, with everything
 * working, after the same time as in `arrival.js`.
 * @param {Pick<Means, 'store'|'toil'|'clock'|'hinder'|'lose'|'aliveMs'>} means
 * @param {Pick<ReturnType<typeof import('./arrivals').createArrivals>, 'newest'>} arrivals
 * @param {Batch|null} batch
 */
async function allStored({ store, toil, clock, hinder, lose, aliveMs }, arrivals, batch) {
  if (!batch || givenUp.has(batch)) return;
  const beganMs = clock();
  let [later, laterMs, patienceMs] = [batch, beganMs, LATER_MS];
  let workingSinceMs = beganMs;
  let hindered = false;
  for (;;) {
    for (const one of new Set([batch, later])) {
      if (!await toil.insist(() => store.hasReading(one))) continue;
      if (hindered) hinder('');
      return;
    }
    const nowMs = clock();
    if (nowMs - aliveMs() > ALIVE_MS) workingSinceMs = nowMs;
    if (nowMs - workingSinceMs >= GIVEN_UP_MS) break;
    if (nowMs - laterMs >= patienceMs) [later, laterMs, patienceMs] = [arrivals.newest() ?? batch, nowMs, 2 * patienceMs];
    if (nowMs - beganMs >= LONG_MS) {
      hindered = true;
      hinder(`InfluxDB does not have what arrived ${Math.round((nowMs - beganMs) / 1000)} s ago; the log of telegraf may say why`);
    }
    await toil.pause(LOOK_MS);
  }
  hinder('');
  givenUp.add(batch);
  lose(`readings that arrived up to ${new Date(beganMs).toISOString()} never got into InfluxDB; their time is located without them`);
}

/**
 * The last seconds, from the database and from what arrives meanwhile.
 * @param {Means} means
 * @param {ReturnType<typeof import('./arrivals').createArrivals>} arrivals
 * @param {ReturnType<typeof createReplay>} replay
 * @param {number} cursorMs
 */
async function join(means, arrivals, replay, cursorMs) {
  const { store, toil, clock, doing } = means;
  /** @type {Batch[]|null} */
  let arrived = null;
  /** @type {Map<string, Batch>} */
  let stored = new Map();
  while (arrived === null) { // once more when it was more than can be kept
    doing(ARRIVING);
    await allStored(means, arrivals, arrivals.keep());
    stored = await toil.insist(() => readInto(new Map(), store, cursorMs, clock() + AHEAD_MS));
    arrived = arrivals.take();
  }
  doing('');
  for (const batch of arrived) stored.set(keyOf(batch), batch); // of the last ones the database may have a part only
  const heard = new Set(stored.keys());
  const came = () => (arrivals.take() ?? []).filter((batch) => !heard.has(keyOf(batch)));
  // The last few are heard in one go: nothing can come between them and the moment at which the locators change places.
  for (let next = [...stored.values()]; next.length > 0; next = came()) {
    toil.begin();
    for (const batch of next.sort(byTime)) {
      heard.add(keyOf(batch));
      if (batch.ts >= cursorMs) replay.hear(batch, clock());
      if (next.length > AT_ONCE) await toil.breathe();
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

module.exports = { gapStart, missing, recover, MARGIN_MS, WARM_UP_MS, RETENTION_MS };
