// @ts-check
'use strict';

const { createBacklogs, isBacklog } = require('./backlogs');
const { keyOf } = require('./batches');
const { createFifo } = require('./fifo');

/**
 * Checked batches on their way to the locator. They are taken in the order of arrival, in pieces, so that the socket is read between
 * two of them and nothing waits in the broker for what is slow here. When the first in line has waited too long for too long, more
 * comes than can be located: from then on only the newest batch of each receiver is taken, and the others are handed to `skip`.
 * Waiting is measured by the arrival here alone, so receivers' clocks do not count. A burst of what receivers kept while they were
 * offline is no overload: it is taken in order, after the present of others. Every batch is taken or skipped, once, and the newest of
 * a receiver is never skipped. Pure but for the event loop.
 * @typedef {import('./readings').Batch} Batch
 * @typedef {import('./backlogs').Arrived} Arrived
 * @typedef {ReturnType<typeof createNewestFirst>} NewestFirst
 * @typedef {{batches: Batch[], ts: number, sinceMs: number}} Entry of a receiver; batches: of one window, which may come in parts;
 *   sinceMs: when the receiver came in line, on `clockMs`
 */

/** A request waits that long at most, beside the batch that is being located. */
const PIECE_MS = 3;
/** While behind, locating gets half as long as reading and checking took since the last piece, and so a third of the time … */
const LOCATING_SHARE = 0.5;
/** … but a request waits no longer than that. */
const LONGEST_PIECE_MS = 30;
/** More is too long: half of what the live view may be old beside the second that is shown. */
const BEHIND_MS = 500;
/** A garbage collection or a stopped process makes batches wait once; they are taken within this time unless too many come. */
const OVERLOADED_AFTER_MS = 250;
/** Bounds the memory: more wait only where the machine stood still, or for a backlog. */
const MAX_WAITING = 60_000;
/** A backlog gives way to the present for so long; then only the newest of its receivers is taken, too. */
const BACKLOG_WAITS_MS = 30_000;
/** What waits less is in time … */
const IN_TIME_MS = 100;
/** … and when for so long nothing waited longer and nothing was skipped, all are taken in order again. */
const RECOVERED_AFTER_MS = 1000;

/**
 * @param {object} deps
 * @param {(batch: Batch) => void} deps.take locates it
 * @param {(batch: Batch) => void} deps.skip notes that it is to be located later
 * @param {() => void} [deps.after] called after each piece
 * @param {(error: unknown) => void} [deps.onFault] one that failed is not tried again
 * @param {(work: () => void) => void} [deps.later] in the next turn of the event loop
 * @param {() => number} [deps.clockMs] only goes on
 */
function createNewestFirst({ take, skip, after = () => {}, onFault = () => {}, later = setImmediate, clockMs = () => performance.now() }) {
  /** In the order of arrival. @type {import('./fifo').Fifo<Arrived>} */
  const arrived = createFifo();
  /** While behind: of receivers that send what they kept. */
  const backlogs = createBacklogs();
  /** While behind: each receiver once, in the order in which they came in line. @type {import('./fifo').Fifo<Entry>} */
  const line = createFifo();
  /** @type {Map<string, Entry>} those in line, by receiver */
  const newest = new Map();
  let due = false;
  let behind = false;
  /** Since when the first has waited too long, and when it did last or something was skipped. */
  let [lateSinceMs, lateMs] = [Infinity, -Infinity];
  let endedMs = 0;

  /** How long the first in line has waited. @param {number} nowMs */
  const waitedMs = (nowMs) => nowMs - Math.min(...[line, backlogs, arrived].map((queue) => queue.first()?.sinceMs ?? nowMs));

  /** @param {number} nowMs */
  function judge(nowMs) {
    const waited = waitedMs(nowMs);
    if (behind) {
      if (waited > IN_TIME_MS) lateMs = nowMs;
      behind = nowMs - lateMs < RECOVERED_AFTER_MS || line.size() + backlogs.size() > 0;
      return;
    }
    lateSinceMs = waited < BEHIND_MS ? Infinity : Math.min(lateSinceMs, nowMs);
    if (nowMs - lateSinceMs < OVERLOADED_AFTER_MS && arrived.size() <= MAX_WAITING) return;
    [behind, lateSinceMs, lateMs] = [true, Infinity, nowMs];
  }

  /** @param {(batch: Batch) => void} step @param {Batch} batch */
  function attempt(step, batch) {
    try {
      step(batch);
    } catch (error) {
      onFault(error);
    }
  }

  /** @param {Batch} batch */
  function leaveOut(batch) {
    lateMs = clockMs();
    attempt(skip, batch);
  }

  /** What arrived gets in line, or to the backlog of its receiver. A backlog that waited too long gets in line. */
  function enterAll() {
    const nowMs = clockMs();
    for (let one = arrived.shift(); one; one = arrived.shift()) {
      if (one.isBacklog || backlogs.has(one.batch)) backlogs.push(one);
      else enter(one);
    }
    const waitsTooLong = nowMs - (backlogs.first()?.sinceMs ?? nowMs) > BACKLOG_WAITS_MS;
    if (waitsTooLong || backlogs.size() > MAX_WAITING) for (let one = backlogs.shift(); one; one = backlogs.shift()) enter(one);
  }

  /** One gets in line, in the place of an older one of its receiver. @param {Arrived} arrived */
  function enter({ batch, sinceMs }) {
    const key = keyOf(batch);
    const entry = newest.get(key);
    if (!entry) {
      const first = { batches: [batch], ts: batch.ts, sinceMs };
      newest.set(key, first);
      line.push(first);
    } else if (batch.ts < entry.ts) leaveOut(batch);
    else if (batch.ts === entry.ts) entry.batches.push(batch);
    else {
      const older = entry.batches;
      Object.assign(entry, { batches: [batch], ts: batch.ts });
      older.forEach(leaveOut);
    }
  }

  function takeNext() {
    const entry = line.shift();
    if (!entry) {
      attempt(take, /** @type {Arrived} */ (backlogs.shift() ?? arrived.shift()).batch);
      return;
    }
    newest.delete(keyOf(/** @type {Batch} */ (entry.batches[0])));
    for (const batch of entry.batches) attempt(take, batch);
  }

  const size = () => arrived.size() + line.size() + backlogs.size();

  /** How long locating may take now: while behind, reading and checking go on beside it. @param {number} nowMs */
  function pieceMs(nowMs) {
    if (!behind) return PIECE_MS;
    if (line.size() === 0) return LONGEST_PIECE_MS;
    return Math.min(Math.max(PIECE_MS, LOCATING_SHARE * (nowMs - endedMs)), LONGEST_PIECE_MS);
  }

  function takeSome() {
    const nowMs = clockMs();
    judge(nowMs);
    if (behind) enterAll(); // a twentieth of what their check took
    const endMs = clockMs() + pieceMs(nowMs);
    do {
      if (size() > 0) takeNext();
    } while (size() > 0 && clockMs() < endMs);
    after();
    endedMs = clockMs();
  }

  function work() {
    takeSome();
    due = size() > 0;
    if (due) later(work);
  }

  return {
    /** @param {Batch[]} batches @param {number} nowMs epoch ms */
    put(batches, nowMs) {
      const sinceMs = clockMs();
      for (const batch of batches) arrived.push({ batch, sinceMs, isBacklog: isBacklog(batch, nowMs) });
      if (!due && batches.length > 0) later(work);
      due ||= batches.length > 0;
    },
    /** Take all that waits, now: under overload the newest of each receiver. */
    drain() { while (size() > 0) takeSome(); },
    size,
    /** How long the first in line has waited, ms. */
    waitedMs: () => waitedMs(clockMs()),
    /** Whether only the newest of each receiver is taken. */
    isBehind() {
      judge(clockMs());
      return behind;
    },
  };
}

module.exports = { createNewestFirst, BACKLOG_WAITS_MS, BEHIND_MS, OVERLOADED_AFTER_MS, MAX_WAITING, RECOVERED_AFTER_MS, PIECE_MS };
