// @ts-check
'use strict';

const { RUNNING, WAITING } = require('./intervals');

/**
 * Times of which readings came when they were over already, because a receiver sent a backlog. They are located again from the
 * database when no more comes. Pure.
 * @typedef {import('./intervals').Gap} Gap
 * @typedef {{fromMs: number, toMs: number, gaps: Gap[]}} Group gaps that are near each other
 */

const GRID_MS = 10_000; // kept in steps, so that a backlog is few changes of the record
const QUIET_MS = 15_000; // a backlog is through, and stored …
const LONGEST_MS = 5 * 60_000; // … and who sends one that never ends is not waited for
const APART_MS = 10 * 60_000; // nearer ones are one: what it takes to get into the state of then is read once

/**
 * @param {import('./intervals').Intervals} gaps @param {number} startedMs
 * @param {Pick<import('../history/known-people').KnownPeople, 'note'>} [knownPeople] knows who will be located later, before that
 */
function createLateTimes(gaps, startedMs, knownPeople) {
  /** Our clock at the first and the last of a person's late readings. @type {Map<string, {sinceMs: number, lastMs: number}>} */
  const heard = new Map(gaps.named().map(({ id }) => [id, { sinceMs: startedMs, lastMs: startedMs }]));

  /** @param {Group} group @param {number} nowMs */
  function isDue(group, nowMs) {
    const times = group.gaps.map(({ id }) => heard.get(id) ?? { sinceMs: nowMs, lastMs: nowMs });
    return times.every(({ lastMs }) => nowMs - lastMs >= QUIET_MS) || times.some(({ sinceMs }) => nowMs - sinceMs >= LONGEST_MS);
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

module.exports = { createLateTimes };
