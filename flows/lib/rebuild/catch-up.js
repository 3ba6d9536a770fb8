// @ts-check
'use strict';

const { byTime, Grouping } = require('../live/batches');
const { reach } = require('./beginning');
const { emptyOutcome } = require('../locator');
const { onlyOf } = require('./people');
const { allStored } = require('./probe');
const { createReplay } = require('./replay');

/**
 * A time up to the present is located by a second locator, from stored readings and in the end from what arrives. When it has caught up,
 * the locator of the present goes on from its state: so history, and who is where since when, are what they would be if nothing had been
 * missed.
 * @typedef {import('./recover').Deps} Deps
 * @typedef {import('../live/readings').Batch} Batch
 * @typedef {ReturnType<typeof import('./incoming').createIncoming>} Incoming
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

module.exports = { catchUp };
