// @ts-check
'use strict';

const { timeout, TimeoutStrategy } = require('cockatiel');
const { createGather } = require('./gather');
const { createLines } = require('./lines');
const { createWriter } = require('./writer');

/**
 * Who looked up whose history, over which time, when: one line for each look-up of the past, one a minute for polls of the present.
 *
 * "The present" is a window that begins within the last ten minutes. What begins before it is written at once, up to
 * SINGLE_MAX a minute for each caller; who asks faster is a program, and what it asks beyond that is gathered by the minute
 * as polls are: whose history and when is kept, the order is not. A kill loses what is being gathered, the last minute at most. The
 * answer to what is written at once waits until its line is with the operating system, so that no kill costs it.
 * @typedef {ReturnType<typeof createAudit>} Audit
 * @typedef {import('./gather').Who} Who
 */

const PRESENT_MS = 10 * 60_000;
const SINGLE_MAX = 200;
const MINUTE_MS = 60_000;
/** More people in one minute are written as everybody, which is never too few. */
const DISTINCT_MAX = 20_000;
const DISTINCT_WHEN_LARGE = 100;
/** No answer waits longer for a disk that does not take its line, as for InfluxDB: the line waits in memory. */
const timeoutPolicy = timeout(800, TimeoutStrategy.Aggressive);

/**
 * @param {{folder: string, clock: () => number, warn: (text: string) => void, bounds?: object}} edge
 */
function createAudit({ folder, clock, warn, bounds = {} }) {
  const lines = createLines();
  const writer = createWriter({ folder, warn, newFile: lines.newFile, ...bounds });
  const gather = createGather((entry) => writer.put((ts) => lines.lookup(entry, ts), clock()));
  const counters = { lookups: 0, single: 0 };
  /** @type {Map<string, number>} look-ups of the past by caller, this minute */
  let singles = new Map();
  let minute = 0;

  /** @param {Who} who @param {number} nowMs @returns {boolean} whether it is among the first of its caller in this minute */
  function isWithinQuota(who, nowMs) {
    const now = Math.floor(nowMs / MINUTE_MS);
    if (now !== minute) {
      minute = now;
      singles = new Map();
    }
    const count = (singles.get(who.name) ?? 0) + 1;
    singles.set(who.name, count);
    return count <= SINGLE_MAX;
  }

  /** Wait until what was put is written, as long as an answer waits. @returns {Promise<void>} */
  const written = () => timeoutPolicy.execute(writer.settle).catch(() => {}); // the time was over: nothing else can fail

  return {
    /**
     * A caller looks up the history of others.
     * @param {Who} who
     * @param {string} route as it is described: `/extractbeacon`, `/api/v1/staff/{staff_id}/stays`
     * @param {string|readonly string[]} subjects staff ids; `*` is everybody
     * @param {number} fromMs @param {number} toMs the time it is about
     * @returns {Promise<void>|undefined} when it may be answered: undefined is at once
     */
    lookedUp(who, route, subjects, fromMs, toMs) {
      const nowMs = clock();
      counters.lookups += 1;
      const large = writer.isLarge(nowMs);
      if (fromMs >= nowMs - PRESENT_MS || large || !isWithinQuota(who, nowMs)) {
        gather.add(who, route, subjects, fromMs, toMs, nowMs, large ? DISTINCT_WHEN_LARGE : DISTINCT_MAX);
        return undefined;
      }
      counters.single += 1;
      const ids = subjects === '*' ? null : new Set(typeof subjects === 'string' ? [subjects] : subjects);
      writer.put((ts) => lines.lookup({ who, route, subjects: ids, fromMs, toMs, count: 1, sinceMs: nowMs }, ts), nowMs);
      return written();
    },
    /**
     * An admin did something.
     * @param {string} kind
     * @param {Who|null} who null: by hand, in a file
     * @param {string} about
     * @returns {Promise<void>} when it may be answered
     */
    adminAction(kind, who, about) {
      writer.put((ts) => lines.adminAction(kind, who, about, ts), clock());
      return written();
    },
    /** About once a second. */
    tick() {
      gather.tick(clock());
      writer.tick(clock());
    },
    /** Everything goes to the disk, because we stop. @returns {Promise<void>} */
    close() {
      gather.flush();
      return writer.close();
    },
    /** For readers: when it returns all that was put is in the file, or the disk hangs. */
    settle: written,
    folder,
    counters: () => ({ ...counters, ...writer.counters() }),
    part: writer.part,
  };
}

module.exports = { createAudit, PRESENT_MS, SINGLE_MAX };
