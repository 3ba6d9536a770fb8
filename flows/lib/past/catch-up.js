// @ts-check
'use strict';

const { MARGIN_MS, RETENTION_MS } = require('./coverage');
const { byTime, Grouping, RecentBatches } = require('../live/batches');
const { emptyOutcome } = require('../locator');
const { beginAt, WARM_UP_MS, reach } = require('./beginning');
const { onlyOf } = require('./people');
const { allStored } = require('./background');
const { createReplay } = require('./replay');

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
 * @property {ReturnType<typeof import('./replay').createFeed>} feed
 * @property {ReturnType<typeof import('./publish').createPublishing>} publishing
 * @property {ReturnType<typeof import('./beginning').createBuildingChanges>} changes
 * @property {import('./coverage').Coverage} coverage
 * @property {import('./checkpoints').Checkpoints} checkpoints
 * @property {ReturnType<typeof import('./checkpoints').createCheckpointSaving>} saving of checkpoints
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

/** @param {Deps} deps @param {Incoming} incoming @param {number} gapMs */
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

/**
 * A time up to the present is located by a second locator, from stored readings and in the end from what arrives. When it has caught up,
 * the locator of the present goes on from its state: so history, and who is where since when, are what they would be if nothing had been
 * missed.
 * @typedef {import('../live/readings').Batch} Batch
 * @typedef {ReturnType<typeof createIncoming>} Incoming
 */

const STRAGGLING_MS = 5000; // receivers' clocks and the way into the database
const NEAR_MS = 15_000; // nearer than this to the present, the rest is done at once
const AHEAD_MS = 5 * 60_000; // the contract's bound on clocks ahead
const BEHIND_MS = 60_000; // receivers' clocks: of a time that was read more may have come
const AT_ONCE = 200; // batches
const POLL_MS = 200;
const DRAIN_MS = 5 * 60_000; // who sends only old batches for so long has a clock that is wrong

/**
 * @param {Deps} deps
 * @param {Incoming} incoming gets every batch that arrives
 * @param {object} time
 * @param {number} time.fromMs what is found from then on is published; a whole second
 * @param {string[]|null} time.staff of these people; null: of all
 * @param {import('./beginning').Beginning} time.beginning at `fromMs`
 * @param {number} [time.eventsToMs] events before are published, too; none, if not given
 * @param {number} [time.notBeforeMs] our clock at the end
 * @param {(endMs: number, replay: ReturnType<typeof createReplay>) => void} [time.onSliceDone] what is sure until then is published
 */
async function catchUp(deps, incoming, time) {
  const { fromMs, staff, beginning, eventsToMs, notBeforeMs = -Infinity, onSliceDone: onTimeDone = () => {} } = time;
  const { site, background, feed, publishing, coverage, clock } = deps;
  // Some were not known there as they are now: they go on from an older checkpoint, later.
  for (const part of staff ? [] : coverage.missedAt(beginning.sinceMs ?? -Infinity)) coverage.repeats.add({ ...part, toMs: clock() });
  incoming.begin(fromMs);
  const theirs = staff && new Set(staff);
  const only = staff && onlyOf(staff, [beginning.building, site.building()]);
  const replay = createReplay(beginning, emptyOutcome,
    { fromMs, staff: theirs, eventsToMs, onBatch: incoming.replayed });
  const publishSome = () => publishing.publishSome(replay);
  const onSliceDone = async (/** @type {number} */ ms) => {
    await publishing.publish(replay.take());
    onTimeDone(ms, replay);
    if (!staff) deps.saving.replayed(replay, ms);
  };

  await reach(deps, beginning, replay, fromMs, { publishSome }, only);
  let cursorMs = Math.max(fromMs, beginning.readMs);
  const beganMs = clock();
  do {
    const nowMs = clock();
    await allStored(deps);
    const toMs = Math.max(nowMs - STRAGGLING_MS, cursorMs);
    await feed.replayRange(replay, cursorMs, toMs, { publishSome, onSliceStart: incoming.onSliceStart, onSliceDone }, only);
    cursorMs = toMs;
    await background.yieldIfDue();
  } while (clock() - cursorMs > NEAR_MS || (incoming.draining(clock()) && clock() - beganMs < DRAIN_MS && await wait(background)));
  await publishing.publish(replay.take());
  while (clock() < notBeforeMs) await wait(background);
  await join(deps, incoming, replay, cursorMs, only);
  const ended = replay.endedOfLate();
  const stays = site.live.adopt(replay, clock(), theirs);
  incoming.end();
  // Until now the locator of the present published as well, and may have known a stay's end worse, but said it later.
  await publishing.publish({ locations: [], stays: [...ended, ...stays] });
  const isOpen = (/** @type {import('../locator').Presence} */ { staff_id: id, state }) => state !== 'lost' && (theirs?.has(id) ?? true);
  await publishing.retractContradicted(site.live.openStays().filter(isOpen), fromMs);
}

/** @param {import('./background').Background} background */
const wait = (background) => background.pause(POLL_MS).then(() => true);

/**
 * The last seconds, from the database and from what arrives meanwhile.
 * @param {Deps} deps @param {Incoming} incoming @param {ReturnType<typeof createReplay>} replay
 * @param {number} cursorMs what is newer was not heard yet @param {import('../store').Only|null} only
 */
async function join(deps, incoming, replay, cursorMs, only) {
  const { store, background, clock } = deps;
  /** @type {Batch[]|null} */
  let arrived = null;
  /** @type {Map<string, Batch>} */
  let stored = new Map();
  while (arrived === null) { // once more when it was more than can be kept
    incoming.keep();
    await allStored(deps);
    stored = await background.retry(() => readInto(new Map(), store, cursorMs - BEHIND_MS, clock() + AHEAD_MS, only));
    arrived = incoming.take();
  }
  for (const batch of arrived) stored.set(keyOf(batch), batch); // of the last ones the database may have a part only
  /** @type {Set<string>} */
  const heard = new Set();
  const isNew = (/** @type {Batch} */ batch) => !heard.has(keyOf(batch)) && (batch.ts >= cursorMs || !incoming.wasReplayed(batch));
  // The last few are heard in one go: nothing can come between them and the moment at which the locators change places.
  for (let next = [...stored.values()].filter(isNew); next.length > 0; next = (incoming.take() ?? []).filter(isNew)) {
    background.begin();
    for (const batch of next.sort(byTime)) {
      heard.add(keyOf(batch));
      replay.hear(batch, clock());
      if (next.length > AT_ONCE) await background.yieldIfDue();
    }
  }
}

/** @param {Batch} batch */
const keyOf = (batch) => `${batch.ts} ${batch.kind} ${batch.receiver}`;

/**
 * @param {Map<string, Batch>} heard is added to @param {import('../store').Store} store @param {number} fromMs @param {number} toMs
 * @param {import('../store').Only|null} only
 */
async function readInto(heard, store, fromMs, toMs, only) {
  const grouping = new Grouping();
  const keep = (/** @type {Batch[]} */ batches) => batches.forEach((batch) => heard.set(keyOf(batch), batch));
  await store.readings(fromMs, toMs, async (rows) => keep(grouping.push(rows)), only);
  keep(grouping.finish());
  return heard;
}

/**
 * Readings that arrive while the time before a start is located. At a moment that `allStored` chooses, the database has all that
 * arrived before; later readings are kept here, so that both together are everything. Readings of a time that is read already,
 * and not heard there, are late. So is what arrived before that moment and was not heard: not every broker keeps the order after a
 * kill, and a probe may overtake readings on their way to the database. Pure.
 */

const KEPT_BATCHES = 50_000; // 20 s of 10,000 phones: the database is rarely a second behind
const OLD_MS = 10_000; // what is older on arrival was queued in the broker
const LOOK_MS = 1000;

/**
 * @param {(batch: Batch) => void} onLate
 * @param {number} startedMs
 * @param {number} [bound] batches kept
 */
function createIncoming(onLate, startedMs, bound = KEPT_BATCHES) {
  /** @type {Batch[]|null} */
  let kept = null;
  let overflowed = false;
  let look = { fromMs: 0, fresh: 0, old: 0 };
  let drainingMs = -Infinity;
  let recentBatches = new RecentBatches();
  let beganMs = -Infinity;
  /** Older readings are read, or never will be. */
  let readMs = -Infinity;
  /** Up to here it is being read. */
  let readingMs = startedMs;
  /** @type {Set<Batch>} of a time that is being read: it may be heard there yet */
  let open = new Set();
  /** @type {Set<Batch>} of a time that will be read */
  let awaited = new Set();

  /** @param {Batch} batch @param {number} nowMs @param {boolean} stored whether one of its beacons is registered */
  function hear(batch, nowMs, stored) {
    if (stored) {
      const isOver = batch.ts < readingMs;
      const waiting = isOver ? open : awaited;
      if (batch.ts >= readMs && waiting.size < bound) waiting.add(batch);
      else if (isOver) lateUnlessHeard(batch);
    }
    if (kept) {
      if (kept.length >= bound) {
        kept = [];
        overflowed = true;
      }
      kept.push(batch);
    }
    if (nowMs - look.fromMs > LOOK_MS) look = { fromMs: nowMs, fresh: 0, old: 0 };
    if (batch.ts < nowMs - OLD_MS) look.old += 1;
    else look.fresh += 1;
    if (look.old > look.fresh) drainingMs = nowMs;
  }

  /** @param {Batch} batch */
  function lateUnlessHeard(batch) {
    if (!recentBatches.knows(batch)) onLate(batch);
  }

  return {
    hear,
    /** From here on the past is read. @param {number} ms */
    begin(ms) {
      recentBatches = new RecentBatches();
      beganMs = readMs = readingMs = ms;
      awaited = new Set([...open, ...awaited]);
      open = new Set();
      for (const batch of awaited) if (batch.ts < ms && awaited.delete(batch)) onLate(batch);
    },
    /** The next slice ends here, and all before is read. @param {number} ms */
    onSliceStart(ms) {
      [readMs, readingMs] = [readingMs, Math.max(readingMs, ms)];
      for (const batch of awaited) if (batch.ts < readingMs && awaited.delete(batch)) open.add(batch);
      for (const batch of open) if (batch.ts < readMs && open.delete(batch)) lateUnlessHeard(batch);
    },
    /** One out of the past. @param {Batch} batch */
    replayed(batch) { if (batch.ts >= beganMs) recentBatches.isRepeated(batch); },
    /** Whether it was given to `replayed`. @param {Batch} batch */
    wasReplayed: (batch) => recentBatches.knows(batch),
    /** The past is through. */
    end() {
      for (const waiting of [open, awaited]) waiting.forEach(lateUnlessHeard);
      [open, awaited] = [new Set(), new Set()];
    },
    /** Keep everything from now on. */
    keep() {
      kept = [];
      overflowed = false;
    },
    /** Batches kept since the last call, in the order of arrival; null when there were too many. @returns {Batch[]|null} */
    take() {
      const taken = overflowed ? null : kept;
      kept = [];
      return taken;
    },
    /** Whether the broker is still delivering what it queued. @param {number} nowMs */
    draining: (nowMs) => nowMs - drainingMs < LOOK_MS,
  };
}

module.exports = { gapStart, recover, catchUp, createIncoming };
