// @ts-check
'use strict';

const { createHash } = require('node:crypto');
const { TimeoutStrategy, timeout } = require('cockatiel');
const { createWriter } = require('./audit-files');
const { compact } = require('./audit-read');

/**
 * Who looked up whose history, over which time, when: one line for each look-up of the past, one a minute for polls of the present.
 *
 * "The present" is a window that begins within the last ten minutes. What begins before it is written at once, up to
 * SINGLE_MAX a minute for each caller; who asks faster is a program, and what it asks beyond that is gathered by the minute
 * as polls are: whose history and when is kept, the order is not. A kill loses what is being gathered, the last minute at most. The
 * answer to what is written at once waits until its line is with the operating system, so that no kill costs it.
 * @typedef {ReturnType<typeof createAudit>} Audit
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

/**
 * The lines of the audit log, JSON each. Many people are written once a day as a set, `{"set":…,"subjects":…}`, and named by it
 * in the lines after it: a poll of everybody asks for the same ones every minute.
 */

/** So many entries stand in a line itself. */
const INLINE = 20;
/** Sets that are remembered to compare with; one more forgets the oldest, which is then written again. */
const SETS_MAX = 64;

function createLines() {
  /** @type {Map<string, {ids: Set<string>, name: string}>} by caller and route */
  let last = new Map();
  /** @type {Set<string>} written today */
  let written = new Set();

  /**
   * @param {Gathered} entry
   * @returns {{fields: object, set: string}} set: the line to be written before, if any
   */
  function fieldsOf({ who, route, subjects }) {
    if (subjects === null) return { fields: { subjects: '*' }, set: '' };
    const mark = `${writtenName(who)} ${route}`;
    const known = last.get(mark);
    if (known && same(known.ids, subjects)) return { fields: { subjects_set: known.name, subjects_count: subjects.size }, set: '' };
    const entries = compact(subjects);
    if (entries.length <= INLINE) return { fields: { subjects: entries }, set: '' };
    const text = JSON.stringify(entries);
    const name = createHash('sha256').update(text).digest('hex').slice(0, 16);
    last.delete(mark);
    last.set(mark, { ids: subjects, name });
    if (last.size > SETS_MAX) last.delete(/** @type {string} */ (last.keys().next().value));
    const fresh = !written.has(name);
    written.add(name);
    return { fields: { subjects_set: name, subjects_count: subjects.size }, set: fresh ? `{"set":"${name}","subjects":${text}}\n` : '' };
  }

  return {
    /** One look-up, or many that were gathered. @param {Gathered} entry @param {number} ts */
    lookup(entry, ts) {
      const { who, route, fromMs, toMs, count, sinceMs } = entry;
      const { fields, set } = fieldsOf(entry);
      return set + line({ ts, kind: 'lookup', who: writtenName(who), key: who.keyId, address: who.address, route, ...fields,
        from_ms: fromMs, to_ms: toMs, count, ...(count > 1 ? { since_ms: sinceMs } : {}) });
    },
    /**
     * Something an admin did.
     * @param {string} kind
     * @param {Who|null} who null: by hand, in a file
     * @param {string} about
     * @param {number} ts
     */
    adminAction(kind, who, about, ts) {
      const { keyId = null, address = null } = who ?? {};
      return line({ ts, kind, who: who && writtenName(who), key: keyId, address, about });
    },
    /** Another file begins: every set must be written again before it is named. */
    newFile() {
      last = new Map();
      written = new Set();
    },
  };
}

/** @param {Set<string>} a @param {Set<string>} b */
function same(a, b) {
  if (a.size !== b.size) return false;
  for (const id of a) if (!b.has(id)) return false;
  return true;
}

/** @param {object} data */
const line = (data) => `${JSON.stringify(data)}\n`;

module.exports = { createAudit, PRESENT_MS, SINGLE_MAX };
