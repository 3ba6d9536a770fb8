// @ts-check
'use strict';

const { RUNNING, WAITING, createIntervals, EVERYBODY } = require('./intervals');

/**
 * Times of which readings came when they were over already, because a receiver sent a backlog. They are located again from the
 * database when no more comes. Pure.
 * @typedef {import('./intervals').Gap} Gap
 * @typedef {{fromMs: number, toMs: number, gaps: Gap[]}} Group gaps that are near each other
 */

/** So much time before and after late readings is located with them: they hardly ever change more. */
const REBUILD_PADDING_MS = 2 * 60_000;
const GRID_MS = 10_000; // kept in steps, so that a backlog is few changes of the record
const QUIET_MS = 15_000; // a backlog is through, and stored …
const LONGEST_WAIT_MS = 5 * 60_000; // … and who sends one that never ends is not waited for
const APART_MS = 10 * 60_000; // nearer ones are one: what it takes to get into the state of then is read once

/**
 * @param {import('./intervals').Intervals} gaps @param {number} startedMs
 * @param {Pick<import('./known-people').KnownPeople, 'note'>} [knownPeople] knows who will be located later, before that
 */
function createLateTimes(gaps, startedMs, knownPeople) {
  /** Our clock at the first and the last of a person's late readings. @type {Map<string, {sinceMs: number, lastMs: number}>} */
  const heard = new Map(gaps.named().map(({ id }) => [id, { sinceMs: startedMs, lastMs: startedMs }]));

  /** @param {Group} group @param {number} nowMs */
  function isDue(group, nowMs) {
    const times = group.gaps.map(({ id }) => heard.get(id) ?? { sinceMs: nowMs, lastMs: nowMs });
    return times.every(({ lastMs }) => nowMs - lastMs >= QUIET_MS) || times.some(({ sinceMs }) => nowMs - sinceMs >= LONGEST_WAIT_MS);
  }

  return {
    /** @param {string} id @param {number} ts @param {number} nowMs @returns {boolean} whether that is new */
    add(id, ts, nowMs) {
      knownPeople?.note(id);
      const fromMs = Math.floor(ts / GRID_MS) * GRID_MS;
      heard.set(id, { sinceMs: heard.get(id)?.sinceMs ?? nowMs, lastMs: nowMs });
      return gaps.mark(fromMs, fromMs + GRID_MS, WAITING, [id]);
    },
    /**
     * Those that are to be located now; they count as being located from here on.
     * @param {number} nowMs @param {(id: string) => boolean} hasTags who has tags is located apart from who has a phone alone
     */
    take(nowMs, hasTags) {
      const waiting = gaps.named().filter(({ state }) => state === WAITING).sort((a, b) => a.fromMs - b.fromMs);
      const due = [true, false].flatMap((tags) => groups(waiting.filter(({ id }) => hasTags(id) === tags)))
        .filter((group) => isDue(group, nowMs));
      for (const gap of due.flatMap((group) => group.gaps)) gaps.mark(gap.fromMs, gap.toMs, RUNNING, [gap.id]);
      return due.map((group) => ({ fromMs: group.fromMs, toMs: group.toMs, staff: [...new Set(group.gaps.map(({ id }) => id))] }));
    },
    /** Forget who has no gap any more. */
    forget() { for (const id of heard.keys()) if (!gaps.has(id)) heard.delete(id); },
    /** How many people wait since before a time. @param {number} ms */
    waitingSince: (ms) => [...heard.values()].filter(({ sinceMs }) => sinceMs < ms).length,
  };
}

/** @param {Gap[]} gaps by their beginning @returns {Group[]} */
function groups(gaps) {
  /** @type {Group[]} */
  const found = [];
  for (const gap of gaps) {
    const last = found.at(-1);
    if (last && gap.fromMs < last.toMs + APART_MS) {
      last.toMs = Math.max(last.toMs, gap.toMs);
      last.gaps.push(gap);
    } else found.push({ fromMs: gap.fromMs, toMs: gap.toMs, gaps: [gap] });
  }
  return found;
}

/**
 * Times that are located, and are located once more when they are over: the locator of the present went on without readings that came late,
 * and may differ for a while from one that heard them in time. What is stored of them holds meanwhile. Pure.
 * @typedef {import('./coverage').Part} Part
 * @typedef {ReturnType<typeof createRepeats>} Repeats
 */

const BREAK_MS = 15_000; // what was on its way when the connection to the broker broke
const LONGEST_MS = 10 * 60_000; // who is late all the time is located once more in pieces of that length

/**
 * @param {unknown} kept what `toJSON` said
 * @param {() => void} onChange
 */
function createRepeats(kept, onChange) {
  const intervals = createIntervals(kept);
  const unconfirmed = createUnconfirmed();
  const idsOf = (/** @type {Part} */ { staff }) => staff ?? [EVERYBODY];

  /** @param {Part} part */
  const add = (part) => { if (intervals.mark(part.fromMs, part.toMs, WAITING, idsOf(part))) onChange(); };

  return {
    add,
    /** Of everybody, around a break of the connection. @param {number} nowMs */
    addBreak: (nowMs) => add({ fromMs: nowMs - BREAK_MS, toMs: nowMs + REBUILD_PADDING_MS, staff: null }),
    /** Somebody's time that is located once more with a part of `late`. @param {string} id @param {number} fromMs @param {number} toMs */
    hold(id, fromMs, toMs) { if (intervals.mark(fromMs, toMs, RUNNING, [id])) onChange(); },
    /** Times that are over; each is given once. @param {number} overMs newer ones are not over @returns {Part[]} */
    takeDue(overMs) {
      const all = [...intervals.everybody().map((one) => ({ ...one, id: EVERYBODY })), ...intervals.named()];
      const due = all.map((one) => ({ ...one, toMs: Math.min(one.toMs, Math.max(overMs, one.fromMs + LONGEST_MS)) }))
        .filter(({ state, fromMs, toMs }) => state === WAITING && fromMs < toMs && toMs <= overMs);
      const parts = [true, false].flatMap((of) => joinedParts(due.filter(({ id }) => (id === EVERYBODY) === of)));
      for (const part of parts) intervals.mark(part.fromMs, part.toMs, RUNNING, idsOf(part));
      return parts;
    },
    /** That is published, or given up: it counts as soon as it is stored. */
    done: unconfirmed.add,
    /** A heartbeat came back, and so what was published before it is stored. @param {number} aliveMs when it was sent */
    finishStored(aliveMs) {
      const stored = unconfirmed.takeStored(aliveMs);
      for (const part of stored) intervals.finish(part.fromMs, part.toMs, idsOf(part));
      if (stored.length > 0) onChange();
    },
    /** @param {number} fromMs @param {number} toMs @param {import('./intervals').Who} who @returns {number} Infinity: nothing of it */
    firstMs: (fromMs, toMs, who) => intervals.firstGap(fromMs, toMs, who)?.fromMs ?? Infinity,
    /** Since when everybody is located once more, epoch ms; Infinity: they are not. */
    everybodySince: () => intervals.everybody()[0]?.fromMs ?? Infinity,
    count: () => intervals.everybody().length + intervals.named().length,
    prune: intervals.prune,
    toJSON: intervals.toJSON,
  };
}

/** Those of several people that overlap are one part. @param {Gap[]} due @returns {Part[]} */
function joinedParts(due) {
  /** @type {Part[]} */
  const parts = [];
  for (const { fromMs, toMs, id } of due.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = parts.at(-1);
    if (last && fromMs < last.toMs && Math.max(toMs, last.toMs) - last.fromMs <= 2 * LONGEST_MS) {
      last.toMs = Math.max(toMs, last.toMs);
      if (last.staff && !last.staff.includes(id)) last.staff.push(id);
    } else parts.push({ fromMs, toMs, staff: id === EVERYBODY ? null : [id] });
  }
  return parts;
}

/**
 * Parts of the past that were located again and published, but are not yet proven to be stored. Pure.
 */

/** A published point is in the database by then. */
const ARRIVED_MS = 1000;

function createUnconfirmed() {
  /** @type {{part: Part, publishedMs: number}[]} */
  let parts = [];

  return {
    /** @param {Part} part @param {number} nowMs */
    add(part, nowMs) { parts.push({ part, publishedMs: nowMs }); },
    /** Those that a heartbeat proves to be stored; each is given once. @param {number} aliveMs when it was sent @returns {Part[]} */
    takeStored(aliveMs) {
      const isStored = (/** @type {{publishedMs: number}} */ { publishedMs }) => publishedMs + ARRIVED_MS <= aliveMs;
      const stored = parts.filter(isStored);
      parts = parts.filter((one) => !isStored(one));
      return stored.map(({ part }) => part);
    },
  };
}

module.exports = { REBUILD_PADDING_MS, createLateTimes, createRepeats, createUnconfirmed, ARRIVED_MS };
