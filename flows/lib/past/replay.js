// @ts-check
'use strict';

const { Grouping } = require('../live/batches');
const { stayOf } = require('./stays');
const { inOneGo, inPieces } = require('../shared/pieces');

/**
 * Past readings through a locator of their own, on their own time. What it finds within the window is collected; what
 * lies before only brings the locator to the state it had then. Pure.
 * @typedef {import('../live/readings').Batch} Batch
 * @typedef {import('../locator').Outcome} Outcome
 * @typedef {import('../locator').Location} Location
 * @typedef {import('../locator').Stay} Stay
 * @typedef {import('../locator').Presence} Presence
 * @typedef {import('../locator').Locator} Locator
 * @typedef {{locations: Location[], stays: Stay[], events: import('../locator').LocationEvent[]}} Found
 */

const TICK_MS = 250; // event time between ticks: steps and states end as punctually as live
const QUIET_MS = 2 * 60_000; // when nobody was heard for so long everybody is lost already …
const QUIET_TICK_MS = 10_000; // … and only forgotten at some time, which needs no hurry
const KEPT_MS = 60_000; // longer than the locator of the present is behind with what it publishes
const FORGOTTEN_MS = 20 * 60_000; // after so long without a reading a locator knows nobody any more

/**
 * @param {Pick<import('./beginning').Beginning, 'locator'|'sinceMs'|'knows'|'changes'>} beginning
 * @param {() => Outcome} emptyOutcome
 * @param {object} window what is found within is wanted
 * @param {number} window.fromMs inclusive
 * @param {number} [window.toMs] inclusive
 * @param {Set<string>|null} [window.staff] of these people; null: of all
 * @param {number} [window.eventsToMs] events within the window are wanted up to there, exclusive; none, if not given
 * @param {(batch: Batch) => void} [window.onBatch] gets what is heard, and what is left out
 */
function createReplay(beginning, emptyOutcome, window) {
  const { locator, sinceMs = -Infinity, changes, knows = () => false } = beginning;
  const { fromMs, toMs = Infinity, staff = null, eventsToMs = -Infinity, onBatch = () => {} } = window;
  const outcome = emptyOutcome();
  /** @type {Map<string, Presence>} everybody's last */
  const presences = new Map();
  let found = nothing();
  /** Of the last minute. @type {Stay[]} */
  let ended = [];
  /** @type {Location[]} found, but not sure yet */
  const doubted = [];
  let changed = 0;
  let nowMs = sinceMs;
  let heardMs = sinceMs;

  /** @param {Batch} batch in the order of time @param {number} [latestMs] the clock when that is nearer than the batch says */
  function hear(batch, latestMs = Infinity) {
    const ms = Math.min(batch.ts, latestMs);
    onBatch(batch);
    if (knows(batch)) return;
    pass(ms);
    heardMs = Math.max(heardMs, ms);
    locator.hear(batch, nowMs, outcome);
    sift();
  }

  /** Let event time pass. @param {number} ms @returns {import('../shared/pieces').Work<void>} another building takes its time */
  function* passing(ms) {
    for (let change = changes[changed]; change && change.ms <= ms; change = changes[changed]) {
      tickTo(Math.max(nowMs, change.ms));
      changed += 1;
      const next = changes[changed];
      if (change.prepare && next?.prepare && next.ms <= ms && isEmpty()) continue; // nobody was ever in that building
      change.take(locator, nowMs, outcome, change.prepare && (yield* change.prepare(locator)));
      sift();
    }
    tickTo(ms);
  }

  /** As `passing`, at once. @param {number} ms */
  const pass = (ms) => inOneGo(passing(ms));

  /** Whether nobody is known any more. */
  const isEmpty = () => nowMs - heardMs > FORGOTTEN_MS;

  /** @param {number} ms */
  function tickTo(ms) {
    if (nowMs === -Infinity) nowMs = ms;
    for (;;) {
      if (isEmpty()) break;
      const stepMs = nowMs - heardMs > QUIET_MS ? QUIET_TICK_MS : TICK_MS;
      const nextMs = (Math.floor(nowMs / stepMs) + 1) * stepMs;
      if (nextMs > ms) break;
      nowMs = nextMs;
      locator.tick(nowMs, outcome);
      sift();
    }
    nowMs = Math.max(nowMs, ms);
  }

  /** @param {{staff_id: string}} one */
  const wanted = (one) => staff === null || staff.has(one.staff_id);

  function sift() {
    for (const location of outcome.locations.splice(0)) {
      if (location.ts >= fromMs && location.ts <= toMs && wanted(location)) found.locations.push(location);
    }
    for (const stay of outcome.stays.splice(0)) {
      if (stay.leave_ms < fromMs || stay.enter_ms > toMs || !wanted(stay)) continue;
      found.stays.push(stay);
      ended.push(stay);
    }
    for (const presence of outcome.presences.splice(0)) presences.set(presence.staff_id, presence);
    outcome.late.length = 0; // of readings in order none is late
    for (const event of outcome.events.splice(0)) if (event.ts >= fromMs && event.ts < eventsToMs) found.events.push(event);
  }

  /** Who is where now. */
  const openPresences = () => locator.openStays().filter(wanted).filter(({ state }) => state !== 'lost');

  /** Stays that began within the window and still go on, as far as they are known. @returns {Stay[]} */
  function openStays() {
    return openPresences().filter(({ since, ts }) => since <= toMs && ts > since && ts >= fromMs).map(stayOf);
  }

  /**
   * Results since the last call, but for locations that may still change.
   * @param {(location: Location) => boolean} [enough] which of those are to be taken all the same
   */
  function take(enough = () => false) {
    /** @type {Location[]} */
    const sure = [];
    const open = doubted.splice(0);
    for (const location of [...open, ...found.locations]) {
      const settled = location.ts < locator.doubtedSince(location.staff_id) || enough(location);
      (settled ? sure : doubted).push(location);
    }
    ended = ended.filter(({ leave_ms: ms }) => ms > nowMs - KEPT_MS);
    const taken = { ...found, locations: sure };
    found = nothing();
    return taken;
  }

  return {
    hear, pass, passing, take, openStays, openPresences, locator, presences,
    /** Stays of the last minute, whether they were taken or not. */
    endedOfLate: () => ended.filter(({ leave_ms: ms }) => ms > nowMs - KEPT_MS),
    /** The locator's knowledge of these people, or of everybody. @param {Iterable<string>} [ids] */
    save(ids) {
      const saved = locator.save(nowMs, outcome, ids);
      sift();
      return saved;
    },
    /** Whether another building comes up to then, so that `passing` may take its time. @param {number} ms */
    changesBy(ms) {
      for (let k = changed; (changes[k]?.ms ?? Infinity) <= ms; k += 1) if (changes[k]?.prepare) return true;
      return false;
    },
    /** Before this everything that was found is handed out by `take`, and does not change any more. @param {number} ms at most */
    sureUntil: (ms) => doubted.reduce((least, { ts }) => Math.min(least, ts), ms),
    count: () => found.locations.length + found.stays.length + found.events.length,
  };
}

/** @returns {Found} */
const nothing = () => ({ locations: [], stays: [], events: [] });

/**
 * Stored readings into a replay, slice by slice: a slice is one question to the database, small enough to ask again.
 */

const FIRST_SLICE_MS = 60_000;
const SHORTEST_SLICE_MS = 5000;
const LONGEST_SLICE_MS = 30 * 60_000;
const SLICE_MS = 2000; // a start that is killed soon goes on after the last slice
const SLICE_ROWS = 200_000; // so that what a question costs by itself (100 ms for 10,000 series) is a small part

/**
 * @param {import('../store').Store} store
 * @param {import('./background').Background} background
 * @param {() => number} clock
 * @param {(rows: number, ms: number) => void} onRows how many, up to which time
 */
function createFeed(store, background, clock, onRows) {
  let lengthMs = FIRST_SLICE_MS;

  /**
   * @param {ReturnType<typeof createReplay>} replay
   * @param {number} fromMs inclusive
   * @param {number} toMs exclusive
   * @param {object} callbacks
   * @param {() => Promise<void>} callbacks.publishSome what was found; is called often
   * @param {(endMs: number) => void} [callbacks.onSliceStart] what is read next ends there
   * @param {(endMs: number) => Promise<void>} [callbacks.onSliceDone] everything before was heard
   * @param {import('../store').Only|null} [only] of these receivers; null: of all
   */
  async function replayRange(replay, fromMs, toMs, { publishSome, onSliceStart = () => {}, onSliceDone = async () => {} }, only = null) {
    let cursorMs = fromMs;
    while (cursorMs < toMs) {
      const endMs = Math.min(cursorMs + lengthMs, toMs);
      onSliceStart(endMs);
      const askedMs = clock();
      const rows = await slice(replay, cursorMs, endMs, publishSome, only);
      const tookMs = clock() - askedMs;
      cursorMs = endMs;
      if (rows > SLICE_ROWS || tookMs > SLICE_MS) lengthMs = Math.max(Math.floor(lengthMs / 2), SHORTEST_SLICE_MS);
      else if (rows < SLICE_ROWS / 4 && tookMs < SLICE_MS / 2) lengthMs = Math.min(lengthMs * 2, LONGEST_SLICE_MS);
      if (rows === 0 && endMs < toMs) {
        onSliceStart(toMs);
        cursorMs = (await background.retry(() => store.firstReading(endMs, toMs, only))) ?? toMs;
      }
      await inPieces(replay.passing(cursorMs));
      await publishSome();
      await onSliceDone(cursorMs);
    }
  }

  /**
   * @param {ReturnType<typeof createReplay>} replay @param {number} fromMs @param {number} toMs
   * @param {() => Promise<void>} publishSome @param {import('../store').Only|null} only
   * @returns {Promise<number>} rows
   */
  async function slice(replay, fromMs, toMs, publishSome, only) {
    let resumeMs = fromMs;
    let count = 0;
    await background.retry(async () => {
      const grouping = new Grouping();
      /** @param {import('../live/readings').Batch[]} batches */
      const hear = async (batches) => {
        background.begin();
        for (const batch of batches) {
          if (replay.changesBy(batch.ts)) await inPieces(replay.passing(batch.ts));
          replay.hear(batch);
          resumeMs = batch.ts + 1; // an answer that breaks off is asked for from here on
          await background.yieldIfDue();
        }
        await background.yieldIfDue(1);
      };
      await store.readings(resumeMs, toMs, async (rows) => {
        count += rows.length;
        await hear(grouping.push(rows));
        onRows(rows.length, resumeMs);
        await publishSome();
      }, only);
      await hear(grouping.finish());
    });
    return count;
  }

  return { replayRange };
}

module.exports = { createReplay, createFeed };
