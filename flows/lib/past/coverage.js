// @ts-check
'use strict';

const { rmSync } = require('node:fs');
const path = require('node:path');
const { setTimeout: wait } = require('node:timers/promises');
const { createIntervals, EVERYBODY, LOCATED, RUNNING, WAITING } = require('./intervals');
const { createLateTimes, createRepeats, createUnconfirmed, ARRIVED_MS, REBUILD_PADDING_MS } = require('./late-times');
const { createStateFile } = require('../shared/state-file');
const { StoreUnavailable } = require('../store/influx');

/**
 * Which time is located and stored. The live path, late readings, a start, a rebuild by hand and interruptions write it; whatever
 * answers about the past asks it. Everybody's last gap has no end: it begins where the live path's results are stored up to.
 * @typedef {ReturnType<typeof createCoverage>} Coverage
 * @typedef {import('./intervals').Who} Who
 * @typedef {(fromMs: number, toMs: number, who: Who, nowMs: number) => void} RefuseIncomplete half-open; throws StoreUnavailable
 * @typedef {{fromMs: number, toMs: number, staff: string[]|null}} Part of the past; null: everybody's
 */

/** Readings are kept so long, less a minute: what is older can never be located. */
const RETENTION_MS = 7 * 24 * 3_600_000 - 60_000;
/** A stay is stored when it ends; one that lasted longer is not found again after a start either (`beginning.js`). */
const LONGEST_STAY_MS = 24 * 3_600_000;
const SAVE_MS = 10_000; // the live path's progress is saved so often
/** Without progress for so long, something is amiss. */
const UNFINISHED_MS = 10 * 60_000;
const ON_ITS_WAY_MS = 60_000;
const RETRY_MS = 5 * 60_000; // what failed is tried again after that

/**
 * @param {object} deps
 * @param {number} deps.startedMs
 * @param {(fromMs: number) => Promise<number|null>} deps.newestStored time of the newest location that is stored since then
 * @param {() => number} deps.newestPublished time of the newest location that was published, epoch ms
 * @param {CoverageRecord} [deps.record]
 * @param {Pick<import('./known-people').KnownPeople, 'note'>} [deps.knownPeople] knows who will be located later, before that
 * @param {(ms: number) => Promise<unknown>} [deps.sleep]
 */
function createCoverage({ startedMs, newestStored, newestPublished, record = createRecord(null, () => {}), knownPeople,
  sleep = (ms) => wait(ms) }) {
  const kept = record.load();
  const gaps = createIntervals(kept.gaps);
  const requests = createIntervals(kept.requests);
  const repeats = createRepeats(kept.repeats, () => saving.changed());
  const divergence = createDivergence(kept.missed, gaps, repeats);
  const known = kept.live !== null;
  const liveMs = known ? (gaps.everybody().at(-1)?.fromMs ?? startedMs) - (kept.live ? MARGIN_MS : 0) : -Infinity;
  gaps.mark(liveMs, startedMs, WAITING);
  gaps.mark(startedMs, Infinity, RUNNING);
  prune(startedMs);
  const late = createLateTimes(gaps, startedMs, knownPeople);
  const saving = createSaving(() => record.save({ gaps: gaps.toJSON(), requests: requests.toJSON(), repeats: repeats.toJSON(),
    missed: divergence.toJSON(), live: following, tries }), sleep);
  const tailMs = () => gaps.everybody().at(-1)?.fromMs ?? startedMs;
  const stored = createStored({ newestStored, newestPublished, onLost: (toMs) => lost(tailMs(), toMs) }, startedMs);
  const unconfirmed = createUnconfirmed();
  /** Given to be located, and not stored yet. @type {Set<Part>} */
  const taken = new Set();
  /** Before this nothing is given out: the last part failed. */
  let againMs = -Infinity;
  let startKnown = known;
  /** When the time before the start was located; from then on the live path says how far everything is. */
  let caughtUpMs = Infinity;
  let [following, tries] = [false, kept.tries];
  let [progressMs, savedMs] = [startedMs, startedMs];

  /** @param {number} nowMs */
  function prune(nowMs) {
    for (const intervals of [gaps, requests, repeats]) intervals.prune(nowMs - RETENTION_MS);
    divergence.prune(nowMs);
  }

  /** Readings of that time may not have been located: they will be, from the database. @param {number} fromMs @param {number} toMs */
  function lost(fromMs, toMs) {
    if (gaps.mark(Math.min(fromMs, tailMs()), toMs, WAITING)) saving.changed();
  }

  /** A heartbeat came back, and so what was published before it is stored. @param {number} aliveMs */
  function finishStored(aliveMs) {
    const arrived = unconfirmed.takeStored(aliveMs);
    for (const part of arrived) {
      gaps.finish(part.fromMs, part.toMs, part.staff ?? [EVERYBODY]);
      taken.delete(part);
      if (part.staff === null && part.toMs <= startedMs && part.fromMs < part.toMs) tries = Math.max(0, kept.tries - 1);
    }
    if (!following && caughtUpMs + ARRIVED_MS <= aliveMs) [following, tries] = [true, 0];
    if (following) gaps.finish(tailMs(), stored.untilMs() - FINAL_AFTER_MS);
    repeats.finishStored(aliveMs);
    divergence.end(arrived.flatMap(({ staff }) => staff ?? []), aliveMs);
    if (arrived.length === 0) return;
    late.forget();
    saving.changed();
  }

  /** @param {number} fromMs @param {number} toMs @param {Who} who @param {number} nowMs */
  function firstGap(fromMs, toMs, who, nowMs) {
    const gap = gaps.firstGap(fromMs, toMs, who);
    const isLive = gap?.toMs === Infinity && following;
    return isLive && !stored.isHeld(nowMs) ? null : gap && { ...gap, isLive };
  }

  /** @type {RefuseIncomplete} */
  function refuseIncomplete(fromMs, toMs, who, nowMs) {
    const gap = fromMs < toMs ? firstGap(fromMs, toMs, who, nowMs) : null;
    if (!gap) return;
    const whose = gap.id === EVERYBODY ? '' : ` for ${gap.id}`;
    throw new StoreUnavailable(gap.isLive ? `what was located since ${iso(gap.fromMs)} is still on its way there`
      : `the time from ${iso(gap.fromMs)} to ${iso(Math.min(gap.toMs, nowMs))} is being located again${whose}`);
  }

  return {
    ...divergence.asked, refuseIncomplete,
    ...createUndecided({ gaps, repeats, following: () => following, firstGap }),
    /** For stays: what ended in a time that lacks may have begun in the window, long before. @type {RefuseIncomplete} */
    refuseIncompleteStays: (fromMs, toMs, who, nowMs) =>
      refuseIncomplete(fromMs, fromMs < toMs ? toMs + LONGEST_STAY_MS : toMs, who, nowMs),
    /** Up to when a time is complete, epoch ms within it. @type {(fromMs: number, toMs: number, who: Who, nowMs: number) => number} */
    completeUntil: (fromMs, toMs, who, nowMs) =>
      Math.max(fromMs, Math.min(toMs, nowMs, firstGap(fromMs, toMs, who, nowMs)?.fromMs ?? Infinity, repeats.firstMs(fromMs, toMs, who))),

    /**
     * Readings of a time that is over, which the locator did not take.
     * @param {string} id of a person @param {number} ts @param {number} nowMs
     */
    late(id, ts, nowMs) {
      if (ts <= nowMs - RETENTION_MS || !late.add(id, ts, nowMs)) return;
      divergence.begin(id, ts, nowMs);
      // which says that it changed
      repeats.hold(id, ts - FINAL_AFTER_MS, ts > nowMs - CATCH_UP_WITHIN_MS ? nowMs : ts + REBUILD_PADDING_MS);
    },
    /**
     * The part of the past to be located now; it counts as being located from here on. No more is given until all of that is stored.
     * @param {number} nowMs @param {(id: string) => boolean} hasTags @returns {Part[]}
     */
    takeDue(nowMs, hasTags) {
      if (taken.size > 0 || nowMs < againMs) return [];
      const due = following ? gaps.everybody().filter(({ state }) => state === WAITING) : [];
      for (const { fromMs, toMs } of due) gaps.mark(fromMs, toMs, RUNNING);
      for (const { fromMs, toMs } of due) taken.add({ fromMs, toMs, staff: null });
      for (const part of late.take(nowMs, hasTags)) taken.add(part);
      return [...taken];
    },
    /** A located part is published; it counts as soon as it is stored. @param {Part} part @param {number} nowMs */
    published(part, nowMs) {
      progressMs = nowMs;
      unconfirmed.add(part, nowMs);
    },

    /** It could not be located: it is still to be, and is given out again after a while. @param {Part} part @param {number} nowMs */
    failed(part, nowMs) {
      taken.delete(part);
      gaps.mark(part.fromMs, part.toMs, WAITING, part.staff ?? [EVERYBODY]);
      againMs = nowMs + RETRY_MS;
      saving.changed();
    },

    lost,

    /** From when on the time before the start is not located; known: whether the record says so. */
    beforeStart: () => ({ fromMs: gaps.everybody().find(({ toMs }) => toMs >= startedMs)?.fromMs ?? startedMs, known }),
    /** That time is being located from here on; what is before that is located already. @param {number} fromMs */
    locateBeforeStart(fromMs) {
      if (!known) gaps.mark(-Infinity, fromMs, LOCATED);
      gaps.mark(fromMs, startedMs, RUNNING);
      startKnown = true;
      saving.changed();
    },
    /** Starts before this one that were killed before any of that time was located; this one counts from here on. */
    countTry() {
      tries = kept.tries + 1;
      saving.changed();
      return kept.tries;
    },
    /** That time is located and published. @param {number} nowMs */
    caughtUp: (nowMs) => { caughtUpMs = nowMs; },
    isCaughtUp: () => following,
    /** Whether a heartbeat now would prove that. @param {number} nowMs @param {number} lastMs when the last one was sent */
    awaitsHeartbeat: (nowMs, lastMs) => !following && nowMs >= caughtUpMs + ARRIVED_MS && lastMs < caughtUpMs + ARRIVED_MS,
    /** A heartbeat came back; to be called once a second or more often. @param {number} readBackMs @param {number} nowMs */
    async tick(readBackMs, nowMs) {
      await stored.tick(readBackMs, nowMs);
      if (!stored.isHeld(nowMs)) finishStored(stored.aliveMs());
      if (nowMs - savedMs < SAVE_MS) return;
      prune(savedMs = nowMs);
      saving.changed();
    },
    /** Everybody's time before is located and stored, but for late readings, epoch ms; 0: not known yet. @param {number} nowMs */
    settledMs: (nowMs) => (startKnown ? firstGap(-Infinity, Infinity, [], nowMs)?.fromMs ?? nowMs : 0),

    /**
     * A time is located again by hand, also over a restart. What is stored of it holds meanwhile.
     * @param {number} fromMs @param {number} toMs
     */
    request(fromMs, toMs) { if (requests.mark(fromMs, toMs, WAITING)) saving.changed(); },
    /** That is done, or given up. @param {number} fromMs @param {number} toMs */
    answered(fromMs, toMs) { if (requests.mark(fromMs, toMs, LOCATED)) saving.changed(); },
    requests: () => requests.everybody(),

    repeats,

    /** Work that is unfinished for longer than it should be, in words; '': nothing. @param {number} nowMs */
    overdue(nowMs) {
      const awaitedMs = stored.awaitedSinceMs();
      if (awaitedMs !== null && nowMs - awaitedMs > ON_ITS_WAY_MS) {
        return `InfluxDB does not have everything that was located since ${iso(stored.untilMs())}, although ingest works again`;
      }
      if (nowMs - progressMs <= UNFINISHED_MS) return '';
      const gap = firstGap(-Infinity, nowMs, [], nowMs);
      if (gap && !gap.isLive) return `the time from ${iso(gap.fromMs)} on is not located, without progress since ${iso(progressMs)}`;
      const people = late.waitingSince(nowMs - UNFINISHED_MS);
      return people > 0 ? `late readings of ${people} people have not been located for ${UNFINISHED_MS / 60_000} minutes` : '';
    },
    /** @returns {Promise<void>} when all of it is saved */
    settle: () => saving.settle(),
  };
}

/** @param {number} ms */
const iso = (ms) => (Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : 'ever');

/** Up to when a time is complete where no record says otherwise. @type {Coverage['completeUntil']} */
const toNow = (fromMs, toMs, _who, nowMs) => Math.max(fromMs, Math.min(toMs, nowMs));

/**
 * When the locator of the present knew something else than one that heard every reading in time. Pure.
 * @typedef {import('./intervals').Intervals} Intervals
 */

/** Located once more after a start: what a killed broker forgot (30 s), and who was about to be lost (60 s). */
const MARGIN_MS = 90_000;
/** The place of a moment is decided and published by then. */
const FINAL_AFTER_MS = 15_000;
/** Late readings that are newer than this are located up to the present, older ones with `REBUILD_PADDING_MS` around them. */
const CATCH_UP_WITHIN_MS = 30 * 60_000;

/** Copies of the locator's state are hardly ever kept for longer. */
const REMEMBERED_MS = 2 * 3_600_000;

/**
 * @param {unknown} kept what `toJSON` said
 * @param {Pick<Intervals, 'everybody'|'has'>} gaps @param {import('./late-times').Repeats} repeats
 */
function createDivergence(kept, gaps, repeats) {
  /** People whose readings the locator of the present missed, from the first of them until it went on from one that heard them. */
  const missed = createIntervals(kept);

  return {
    /** @param {string} id of a person @param {number} ts of readings that came late @param {number} nowMs */
    begin(id, ts, nowMs) { if (ts > nowMs - CATCH_UP_WITHIN_MS) missed.mark(ts, Infinity, WAITING, [id]); },
    /** Late readings of these people are located. @param {string[]} ids @param {number} nowMs */
    end(ids, nowMs) { missed.mark(nowMs, Infinity, LOCATED, ids.filter((id) => !gaps.has(id))); },
    /** @param {number} nowMs */
    prune: (nowMs) => missed.prune(nowMs - REMEMBERED_MS),
    toJSON: missed.toJSON,
    asked: {
      /** Whether the locator of the present knew all of these people then. @param {number} ms @param {string[]} staff [] of everybody */
      knewAll: (ms, staff) => missed.firstGap(ms, ms + 1, staff) === null,
      /** People whose readings of then it missed and knew later, and since when. @param {number} ms @returns {Part[]} */
      missedAt: (ms) => missed.named().filter(({ id, fromMs, toMs }) => fromMs <= ms && ms < toMs && !gaps.has(id))
        .map(({ id, fromMs, toMs }) => ({ fromMs, toMs, staff: [id] })),
      /** Since when it may miss something of everybody, epoch ms; Infinity: it does not. The last gap is the present. */
      divergedSince: () => Math.min(gaps.everybody().slice(0, -1)[0]?.fromMs ?? Infinity, repeats.everybodySince()),
      /** Nothing before this is to be located for everybody, but by hand, epoch ms. */
      neededSince: () => Math.min((gaps.everybody()[0]?.fromMs ?? Infinity) - MARGIN_MS, repeats.everybodySince()),
    },
  };
}

/**
 * Whether it is decided who has a past at all: not while everybody's is to be located somewhere, since somebody may be found there of
 * whom nothing is known yet.
 * @param {object} deps
 * @param {Pick<import('./intervals').Intervals, 'everybody'|'toJSON'>} deps.gaps
 * @param {Pick<import('./late-times').Repeats, 'toJSON'>} deps.repeats
 * @param {() => boolean} deps.following whether the live path says how far everything is: then it does so of the last gap
 * @param {(fromMs: number, toMs: number, who: string[], nowMs: number) => object|null} deps.firstGap of what is not located and stored
 */
const createUndecided = ({ gaps, repeats, following, firstGap }) => ({
  /** Where somebody new may be found, in words; '': nowhere. @param {number} nowMs */
  undecided(nowMs) {
    const first = gaps.everybody().find(({ toMs }) => toMs !== Infinity || !following());
    return first ? `the time ${fromTo(first, nowMs)} is being located` : '';
  },
  /** Whether what is stored is all that there is. @param {number} nowMs */
  isSettled: (nowMs) => firstGap(-Infinity, Infinity, [], nowMs) === null,
  /** Of whom something is to be located, or once more. @returns {string[]} */
  pending: () => [...new Set([gaps, repeats].flatMap((some) => Object.keys(some.toJSON())))].filter((id) => id !== EVERYBODY),
});

/** @param {Pick<import('./intervals').Interval, 'fromMs'|'toMs'>} part @param {number} nowMs */
const fromTo = ({ fromMs, toMs }, nowMs) =>
  `${Number.isFinite(fromMs) ? `from ${new Date(fromMs).toISOString()} ` : ''}to ${new Date(Math.min(toMs, nowMs)).toISOString()}`;

/**
 * Up to when InfluxDB has what the live path located. It has everything a second or two after it was published, and the flows'
 * heartbeat that comes back says so. After an interruption heartbeats come back before locations do, so what was published by
 * then is waited for.
 */

/** A heartbeat comes every five seconds. */
const ALIVE_MS = 15_000;
/** A point that has not arrived by then, with everything working, never will. */
const GIVEN_UP_MS = 15 * 60_000;
const STORED_POLL_MS = 1000;

/**
 * @typedef {ReturnType<typeof createStored>} Stored
 * @param {object} deps
 * @param {(fromMs: number) => Promise<number|null>} deps.newestStored time of the newest location that is stored since then
 * @param {() => number} deps.newestPublished time of the newest location that was published, epoch ms
 * @param {(toMs: number) => void} deps.onLost what was published up to then never arrived
 * @param {number} startedMs
 */
function createStored({ newestStored, newestPublished, onLost }, startedMs) {
  let aliveMs = startedMs;
  let untilMs = startedMs;
  let held = false;
  /** When this is stored, so is all before it, and since when that is waited for. @type {{ms: number, sinceMs: number}|null} */
  let awaited = null;
  let lookedMs = 0;

  return {
    /** A heartbeat of this time came back; to be called once a second or more often. @param {number} readBackMs @param {number} nowMs */
    async tick(readBackMs, nowMs) {
      held ||= nowMs - aliveMs > ALIVE_MS;
      aliveMs = Math.max(aliveMs, readBackMs);
      if (!held) untilMs = aliveMs;
      else if (nowMs - aliveMs > ALIVE_MS) awaited = null;
      else if (nowMs - lookedMs >= STORED_POLL_MS) {
        lookedMs = nowMs;
        awaited ??= { ms: newestPublished(), sinceMs: nowMs };
        const { ms, sinceMs } = awaited;
        const stored = ms < untilMs ? ms : await newestStored(untilMs).catch(() => null);
        const lost = stored === null || stored < ms;
        if (lost && nowMs - sinceMs < GIVEN_UP_MS) return;
        if (lost) onLost(sinceMs);
        held = false;
        awaited = null;
        untilMs = aliveMs;
      }
    },
    /** Everything before is stored, epoch ms. */
    untilMs: () => untilMs,
    /** Whether an interruption is not over yet. @param {number} nowMs */
    isHeld: (nowMs) => held || nowMs - aliveMs > ALIVE_MS,
    /** Since when ingest works again, but locations are still on their way; null: they are not. */
    awaitedSinceMs: () => awaited?.sinceMs ?? null,
    /** Time of the newest heartbeat that came back, or of the start, epoch ms. */
    aliveMs: () => aliveMs,
  };
}

/**
 * The record on disk, beside the flows' data.
 * @typedef {{gaps: Record<string, unknown>, requests: Record<string, unknown>, repeats: Record<string, unknown>,
 *   missed: Record<string, unknown>, live: boolean|null, tries: number}} Kept live: whether the live path was what moved on; null:
 *   nothing is known but late times.
 *   tries: starts since one last got on
 * @typedef {{load: () => Kept, save: (kept: Kept) => Promise<void>}} CoverageRecord save never rejects
 * @param {string|null} folder null: nothing is kept
 * @param {(text: string) => void} warn
 * @returns {CoverageRecord}
 */
function createRecord(folder, warn) {
  const stateFile = createStateFile(folder && path.join(folder, 'coverage.json'), warn, {
    unread: 'the newest heartbeat in InfluxDB says what is located',
    unwritten: 'after a restart more than needed is located again',
  });
  const earlier = folder && path.join(folder, 'late.json'); // of earlier releases
  return {
    load() {
      const state = stateFile.read();
      if (state?.v === 1 && state.gaps?.['']) {
        const { gaps, requests = {}, repeats = {}, missed = {} } = state;
        return { gaps, requests, repeats, missed, live: state.live !== false,
          tries: Number(state.tries) || 0 };
      }
      return { gaps: byPerson(createStateFile(earlier, warn).read()), requests: {}, repeats: {}, missed: {}, live: null, tries: 0 };
    },
    async save(kept) {
      if (await stateFile.write({ v: 1, ...kept }) && earlier) rmSync(earlier, { force: true });
    },
  };
}

/** @param {any} state of `late.json`: `{times: [{fromMs, toMs, staff}]}` @returns {Record<string, unknown>} */
function byPerson(state) {
  /** @type {Record<string, [number, number][]>} */
  const gaps = Object.create(null);
  for (const time of Array.isArray(state?.times) ? state.times : []) {
    if (Number.isFinite(time?.toMs)) for (const id of time.staff ?? []) (gaps[String(id)] ??= []).push([time.fromMs, time.toMs + 1]);
  }
  return gaps;
}

/**
 * Saves what changes, not more often than every so often.
 * @param {() => Promise<void>} save @param {(ms: number) => Promise<unknown>} sleep
 */
function createSaving(save, sleep) {
  const EVERY_MS = 250;
  let due = false;
  /** @type {Promise<void>|null} */
  let saving = null;

  async function run() {
    while (due) {
      due = false;
      await save();
      await sleep(EVERY_MS);
    }
    saving = null;
  }

  return {
    changed() {
      due = true;
      saving ??= run();
    },
    /** When everything is saved. */
    settle: async () => { await saving; },
  };
}

module.exports = {
  createCoverage, toNow, CATCH_UP_WITHIN_MS, FINAL_AFTER_MS, MARGIN_MS, REBUILD_PADDING_MS,
  RETENTION_MS, createDivergence, createUndecided, createStored, ALIVE_MS, GIVEN_UP_MS,
  createRecord, createSaving,
};
