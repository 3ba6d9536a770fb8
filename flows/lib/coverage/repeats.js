// @ts-check
'use strict';

const { REBUILD_PADDING_MS } = require('./divergence');
const { createIntervals, EVERYBODY, RUNNING, WAITING } = require('./intervals');
const { createUnconfirmed } = require('./unconfirmed');

/**
 * What is located and is to be located once more when it is over: the locator of the present went on without readings that came late,
 * and may differ for a while from one that heard them in time. What is stored of it holds meanwhile. Pure.
 * @typedef {import('.').Part} Part
 * @typedef {ReturnType<typeof createRepeats>} Repeats
 * @typedef {import('./intervals').Gap} Gap
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
    /** What is over; it is given once. @param {number} overMs what is newer is not over @returns {Part[]} */
    takeDue(overMs) {
      const all = [...intervals.everybody().map((one) => ({ ...one, id: EVERYBODY })), ...intervals.named()];
      const due = all.map((one) => ({ ...one, toMs: Math.min(one.toMs, Math.max(overMs, one.fromMs + LONGEST_MS)) }))
        .filter(({ state, fromMs, toMs }) => state === WAITING && fromMs < toMs && toMs <= overMs);
      const parts = [true, false].flatMap((of) => joined(due.filter(({ id }) => (id === EVERYBODY) === of)));
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
function joined(due) {
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

module.exports = { createRepeats };
