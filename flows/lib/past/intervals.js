// @ts-check
'use strict';

/**
 * Intervals of time that are not located: for everybody, or for people by name. What is in none of them is located. Half-open,
 * epoch ms, disjoint and ascending for each subject. Bounded: what does not fit is merged into larger intervals, never left out. Pure.
 * @typedef {'located'|'to be located'|'being located'} State
 * @typedef {{fromMs: number, toMs: number, state: State}} Interval toMs: Infinity has no end
 * @typedef {Interval & {id: string}} Gap id: of a person; EVERYBODY
 * @typedef {string[]|null} Who null: everybody and each one by name; [] what concerns everybody; else that and what concerns these people
 * @typedef {ReturnType<typeof createIntervals>} Intervals
 */

/** @type {'located'} */
const LOCATED = 'located';
/** @type {'to be located'} */
const WAITING = 'to be located';
/** @type {'being located'} */
const RUNNING = 'being located';
/** Nobody has an empty id. */
const EVERYBODY = '';
/** A tenth of an hour of 20,000 phones' backlogs is 1 MB on disk. */
const MAX_INTERVALS = 20_000;

/**
 * @param {unknown} [kept] what `toJSON` said; what is being located there is to be located, and what is no interval is left out
 * @param {number} [most] intervals
 */
function createIntervals(kept, most = MAX_INTERVALS) {
  /** @type {Map<string, Interval[]>} */
  const lists = new Map();
  let count = 0;
  for (const [id, rows] of Object.entries(kept ?? {})) replace(id, joined(readRows(rows), 0));
  if (count > most) shrink();

  /** @param {string} id @param {Interval[]} list */
  function replace(id, list) {
    count += list.length - (lists.get(id)?.length ?? 0);
    if (list.length > 0) lists.set(id, list);
    else lists.delete(id);
  }

  /** Fewer and larger intervals; afterwards nothing is located that was not before. */
  function shrink() {
    const target = Math.floor(most * 0.9);
    const everybody = lists.get(EVERYBODY) ?? [];
    if (lists.size > target || everybody.length > target) { // so many people are everybody
      const all = [...lists.values()].flat();
      for (const id of [...lists.keys()]) replace(id, []);
      replace(EVERYBODY, joined(all, 0));
    }
    if (count <= target) return;
    const distances = [...lists.values()].flatMap((list) => list.slice(1)
      .map(({ fromMs }, i) => fromMs - /** @type {Interval} */ (list[i]).toMs)).sort((a, b) => a - b);
    const limit = /** @type {number} */ (distances[count - target - 1]);
    for (const [id, list] of [...lists]) replace(id, joined(list, limit, true));
  }

  /** @param {Who} who @returns {Iterable<string>} */
  const subjects = (who) => (who === null ? lists.keys() : [EVERYBODY, ...who]);

  return {
    /**
     * @param {number} fromMs @param {number} toMs @param {State} state @param {string[]} [ids] of people; everybody's, if not given
     * @returns {boolean} whether that is new
     */
    mark(fromMs, toMs, state, ids = [EVERYBODY]) {
      let changed = false;
      if (fromMs >= toMs) return changed;
      for (const id of ids) {
        const list = lists.get(id) ?? [];
        if (list.some((one) => one.state === state && one.fromMs <= fromMs && one.toMs >= toMs)) continue;
        const next = cut(list, fromMs, toMs);
        if (state !== LOCATED) next.push({ fromMs, toMs, state });
        replace(id, joined(next, 0));
        changed = true;
      }
      if (count > most) shrink();
      return changed;
    },
    /** Time that is being located there is located now; time that became due since then stays due.
     * @param {number} fromMs @param {number} toMs @param {string[]} [ids] */
    finish(fromMs, toMs, ids = [EVERYBODY]) {
      if (fromMs >= toMs) return;
      for (const id of ids) {
        const list = lists.get(id);
        if (list) replace(id, list.flatMap((one) => (one.state === RUNNING ? cut([one], fromMs, toMs) : [one])));
      }
    },
    /** The earliest gap that touches a time. @param {number} fromMs @param {number} toMs @param {Who} who @returns {Gap|null} */
    firstGap(fromMs, toMs, who) {
      /** @type {Gap|null} */
      let first = null;
      for (const id of subjects(who)) {
        const gap = lists.get(id)?.find((one) => one.toMs > fromMs);
        if (gap && gap.fromMs < toMs && gap.fromMs < (first?.fromMs ?? Infinity)) first = { ...gap, id };
      }
      return first;
    },
    /** Everybody's, in order. @returns {Interval[]} */
    everybody: () => lists.get(EVERYBODY) ?? [],
    /** Those of people by name, in no order. @returns {Gap[]} */
    named: () => [...lists].flatMap(([id, list]) => (id === EVERYBODY ? [] : list.map((one) => ({ ...one, id })))),
    /** @param {string} id */
    has: (id) => lists.has(id),
    /** Older time can never be located. @param {number} beforeMs */
    prune(beforeMs) {
      for (const [id, list] of [...lists]) replace(id, cut(list, -Infinity, beforeMs));
    },
    /** @returns {Record<string, [fromMs: number, toMs: number|null, state: State][]>} by person; null: no end */
    toJSON: () => Object.fromEntries([...lists].map(([id, list]) =>
      [id, list.map(({ fromMs, toMs, state }) => [fromMs, Number.isFinite(toMs) ? toMs : null, state])])),
  };
}

/** Without a time. @param {Interval[]} list @param {number} fromMs @param {number} toMs @returns {Interval[]} */
function cut(list, fromMs, toMs) {
  return list.flatMap((one) => (one.toMs <= fromMs || one.fromMs >= toMs ? [one]
    : [{ ...one, toMs: fromMs }, { ...one, fromMs: toMs }].filter((part) => part.fromMs < part.toMs)));
}

/**
 * In order, and merged where they touch; one without an end is where the live path is, and touches none.
 * @param {Interval[]} list @param {number} apartMs merged when not farther apart @param {boolean} [all] those of two states, too
 * @returns {Interval[]}
 */
function joined(list, apartMs, all = false) {
  /** @type {Interval[]} */
  const found = [];
  for (const one of list.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = found.at(-1);
    const touches = last && Number.isFinite(one.toMs) && (all || one.state === last.state) && one.fromMs - last.toMs <= apartMs;
    const near = last && (one.fromMs < last.toMs || touches);
    if (near) {
      const state = one.state === last.state ? one.state : WAITING;
      found[found.length - 1] = { fromMs: last.fromMs, toMs: Math.max(last.toMs, one.toMs), state };
    } else found.push(one);
  }
  return found;
}

/** @param {unknown} rows @returns {Interval[]} */
function readRows(rows) {
  if (!Array.isArray(rows)) return [];
  return rows.map((row) => ({ fromMs: row?.[0], toMs: row?.[1] ?? Infinity, state: WAITING }))
    .filter(({ fromMs, toMs }) => Number.isFinite(fromMs) && typeof toMs === 'number' && fromMs < toMs);
}

module.exports = { createIntervals, LOCATED, WAITING, RUNNING, EVERYBODY };
