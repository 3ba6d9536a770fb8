// @ts-check
'use strict';

/**
 * Look-ups that are too many for a line each: polls of the present, and whoever asks for the past faster than any person
 * reads. Those of one caller, address and route within a minute become one entry: whose history, over which time, how many.
 * @typedef {{name: string, keyId: string|null, address: string, onBehalfOf?: string}} Who onBehalfOf: whose question it passes on
 * @typedef {{who: Who, route: string, subjects: Set<string>|null, fromMs: number, toMs: number, count: number, sinceMs: number}} Gathered
 *   subjects null: everybody
 */

/** A caller as the log names it; no key's name has a slash. @param {Who} who */
const writtenName = ({ name, onBehalfOf }) => (onBehalfOf === undefined ? name : `${name}/${onBehalfOf}`);

const GATHER_MS = 60_000;
/** Entries that are open at a time; one more ends the oldest early. */
const OPEN_MAX = 2000;

/** @param {(entry: Gathered) => void} take takes each entry when its minute is over */
function createGather(take) {
  /** @type {Map<string, Gathered>} in the order of their beginning */
  const open = new Map();

  /** @param {string} mark @param {Gathered} entry */
  function end(mark, entry) {
    open.delete(mark);
    take(entry);
  }

  return {
    /**
     * @param {Who} who
     * @param {string} route
     * @param {string|readonly string[]} subjects '*' is everybody
     * @param {number} fromMs @param {number} toMs the time it asks about
     * @param {number} nowMs
     * @param {number} distinct more people than this are written as everybody
     */
    add(who, route, subjects, fromMs, toMs, nowMs, distinct) {
      const mark = `${writtenName(who)} ${who.address} ${route}`;
      let entry = open.get(mark);
      if (!entry) {
        entry = { who, route, subjects: new Set(), fromMs, toMs, count: 0, sinceMs: nowMs };
        open.set(mark, entry);
      }
      entry.count += 1;
      if (fromMs < entry.fromMs) entry.fromMs = fromMs;
      if (toMs > entry.toMs) entry.toMs = toMs;
      if (subjects === '*') entry.subjects = null;
      else if (typeof subjects === 'string') entry.subjects?.add(subjects);
      else for (const id of subjects) entry.subjects?.add(id);
      if (entry.subjects && entry.subjects.size > distinct) entry.subjects = null;
      if (open.size > OPEN_MAX) for (const [oldest, one] of open) { end(oldest, one); break; }
    },
    /** Pass on the entries whose minute is over. @param {number} nowMs */
    tick(nowMs) {
      for (const [mark, entry] of open) {
        if (nowMs >= entry.sinceMs && nowMs - entry.sinceMs < GATHER_MS) break; // in the order of their beginning
        end(mark, entry);
      }
    },
    /** Pass on all entries, because we stop. */
    flush: () => { for (const [mark, entry] of open) end(mark, entry); },
  };
}

module.exports = { createGather, writtenName };
