// @ts-check
'use strict';

const { keyOf } = require('./batches');

/**
 * @typedef {import('./readings').Batch} Batch
 * @typedef {{batch: Batch, sinceMs: number, isBacklog: boolean}} Arrived sinceMs: when, on a clock that only goes on
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
/** A batch that waits less is in time … */
const IN_TIME_MS = 100;
/** … and when for so long nothing waited longer and nothing was skipped, all are taken in order again. */
const RECOVERED_AFTER_MS = 1000;
/** A batch so old was kept by its receiver: clocks differ less, and where the machine keeps up a batch waits less in the broker. */
const OLD_MS = 60_000;
/** So many that were taken out of a queue are cut off at once. */
const CUT = 1024;

/**
 * Checked batches on their way to the locator. They are taken in the order of arrival, in pieces, so that the socket is read between
 * two of them and nothing waits in the broker for what is slow here. When the first in line has waited too long for too long, more
 * comes than can be located: from then on only the newest batch of each receiver is taken, and the others are handed to `skip`.
 * Waiting is measured by the arrival here alone, so receivers' clocks do not count. A burst of what receivers kept while they were
 * offline is no overload: it is taken in order, after the present of others. Every batch is taken or skipped, once, and the newest of
 * a receiver is never skipped. Pure but for the event loop.
 */
class NewestFirst {
  #take;
  #skip;
  #after;
  #onFault;
  #later;
  #clockMs;
  /** In the order of arrival. @type {Fifo<Arrived>} */
  #arrived = new Fifo();
  /** While behind: of receivers that send what they kept. */
  #backlogs = new Backlogs();
  /** While behind: each receiver once, in the order in which they came in line. @type {Fifo<Entry>} */
  #line = new Fifo();
  /** @type {Map<string, Entry>} those in line, by receiver */
  #newest = new Map();
  #due = false;
  #behind = false;
  /** Since when the first has waited too long. */
  #lateSinceMs = Infinity;
  /** When it did last, or something was skipped. */
  #lateMs = -Infinity;
  #endedMs = 0;

  /**
   * @param {object} deps
   * @param {(batch: Batch) => void} deps.take locates it
   * @param {(batch: Batch) => void} deps.skip notes that it is to be located later
   * @param {() => void} [deps.after] called after each piece
   * @param {(error: unknown) => void} [deps.onFault] one that failed is not tried again
   * @param {(work: () => void) => void} [deps.later] in the next turn of the event loop
   * @param {() => number} [deps.clockMs] only goes on
   */
  constructor({ take, skip, after = () => {}, onFault = () => {}, later = setImmediate, clockMs = () => performance.now() }) {
    this.#take = take;
    this.#skip = skip;
    this.#after = after;
    this.#onFault = onFault;
    this.#later = later;
    this.#clockMs = clockMs;
  }

  /** @param {Batch[]} batches @param {number} nowMs epoch ms */
  put(batches, nowMs) {
    const sinceMs = this.#clockMs();
    for (const batch of batches) this.#arrived.push({ batch, sinceMs, isBacklog: nowMs - batch.ts > OLD_MS });
    if (!this.#due && batches.length > 0) this.#later(this.#work);
    this.#due ||= batches.length > 0;
  }

  /** Take all that waits, now: under overload the newest of each receiver. */
  drain() {
    while (this.size() > 0) this.#takeSome();
  }

  size() {
    return this.#arrived.size() + this.#line.size() + this.#backlogs.size();
  }

  /** How long the first in line has waited, ms. */
  waitedMs() {
    const nowMs = this.#clockMs();
    return nowMs - Math.min(...[this.#line, this.#backlogs, this.#arrived].map((queue) => queue.first()?.sinceMs ?? nowMs));
  }

  /** Whether only the newest of each receiver is taken. */
  isBehind() {
    this.#judge(this.#clockMs());
    return this.#behind;
  }

  #work = () => {
    this.#takeSome();
    this.#due = this.size() > 0;
    if (this.#due) this.#later(this.#work);
  };

  #takeSome() {
    const nowMs = this.#clockMs();
    this.#judge(nowMs);
    if (this.#behind) this.#enterAll(); // a twentieth of what their check took
    const endMs = this.#clockMs() + this.#pieceMs(nowMs);
    do {
      if (this.size() > 0) this.#takeNext();
    } while (this.size() > 0 && this.#clockMs() < endMs);
    this.#after();
    this.#endedMs = this.#clockMs();
  }

  /** Whether too much comes. @param {number} nowMs */
  #judge(nowMs) {
    const waited = this.waitedMs();
    if (this.#behind) {
      if (waited > IN_TIME_MS) this.#lateMs = nowMs;
      this.#behind = nowMs - this.#lateMs < RECOVERED_AFTER_MS || this.#line.size() + this.#backlogs.size() > 0;
      return;
    }
    this.#lateSinceMs = waited < BEHIND_MS ? Infinity : Math.min(this.#lateSinceMs, nowMs);
    if (nowMs - this.#lateSinceMs < OVERLOADED_AFTER_MS && this.#arrived.size() <= MAX_WAITING) return;
    [this.#behind, this.#lateSinceMs, this.#lateMs] = [true, Infinity, nowMs];
  }

  /** How long locating may take now: while behind, reading and checking go on beside it. @param {number} nowMs */
  #pieceMs(nowMs) {
    if (!this.#behind) return PIECE_MS;
    if (this.#line.size() === 0) return LONGEST_PIECE_MS;
    return Math.min(Math.max(PIECE_MS, LOCATING_SHARE * (nowMs - this.#endedMs)), LONGEST_PIECE_MS);
  }

  /** An arrived batch gets in line, or to the backlog of its receiver. A backlog that waited too long gets in line. */
  #enterAll() {
    const [arrived, backlogs] = [this.#arrived, this.#backlogs];
    const nowMs = this.#clockMs();
    for (let one = arrived.shift(); one; one = arrived.shift()) {
      if (one.isBacklog || backlogs.has(one.batch)) backlogs.push(one);
      else this.#enter(one);
    }
    const waitsTooLong = nowMs - (backlogs.first()?.sinceMs ?? nowMs) > BACKLOG_WAITS_MS;
    if (waitsTooLong || backlogs.size() > MAX_WAITING) for (let one = backlogs.shift(); one; one = backlogs.shift()) this.#enter(one);
  }

  /** One gets in line, in the place of an older one of its receiver. @param {Arrived} arrived */
  #enter({ batch, sinceMs }) {
    const key = keyOf(batch);
    const entry = this.#newest.get(key);
    if (!entry) {
      const first = { batches: [batch], ts: batch.ts, sinceMs };
      this.#newest.set(key, first);
      this.#line.push(first);
    } else if (batch.ts < entry.ts) this.#leaveOut(batch);
    else if (batch.ts === entry.ts) entry.batches.push(batch);
    else {
      const older = entry.batches;
      [entry.batches, entry.ts] = [[batch], batch.ts];
      for (const one of older) this.#leaveOut(one);
    }
  }

  #takeNext() {
    const entry = this.#line.shift();
    if (!entry) {
      this.#attempt(this.#take, /** @type {Arrived} */ (this.#backlogs.shift() ?? this.#arrived.shift()).batch);
      return;
    }
    this.#newest.delete(keyOf(/** @type {Batch} */ (entry.batches[0])));
    for (const batch of entry.batches) this.#attempt(this.#take, batch);
  }

  /** @param {Batch} batch */
  #leaveOut(batch) {
    this.#lateMs = this.#clockMs();
    this.#attempt(this.#skip, batch);
  }

  /** @param {(batch: Batch) => void} step @param {Batch} batch */
  #attempt(step, batch) {
    try {
      step(batch);
    } catch (error) {
      this.#onFault(error);
    }
  }
}

/**
 * A queue, first in, first out, without a cost that grows with its length.
 * @template T
 */
class Fifo {
  /** @type {T[]} */
  #items = [];
  #next = 0;

  /** @param {T} item */
  push(item) {
    this.#items.push(item);
  }

  /** @returns {T|undefined} */
  shift() {
    if (this.#next >= this.#items.length) return undefined;
    const item = this.#items[this.#next];
    this.#next += 1;
    if (this.#next === this.#items.length || (this.#next >= CUT && 2 * this.#next >= this.#items.length)) {
      this.#items = this.#items.slice(this.#next);
      this.#next = 0;
    }
    return item;
  }

  first() {
    return this.#items[this.#next];
  }

  size() {
    return this.#items.length - this.#next;
  }
}

/**
 * Batches that receivers kept while they were offline, in the order of arrival. Newer ones of such a receiver wait here, too, so that
 * its order stays.
 */
class Backlogs {
  /** @type {Fifo<Arrived>} */
  #waiting = new Fifo();
  /** How many wait, by receiver. @type {Map<string, number>} */
  #counts = new Map();

  /** Whether something of the batch's receiver waits. @param {Batch} batch */
  has(batch) {
    return this.#counts.has(keyOf(batch));
  }

  /** @param {Arrived} one */
  push(one) {
    const key = keyOf(one.batch);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#waiting.push(one);
  }

  shift() {
    const one = this.#waiting.shift();
    if (!one) return undefined;
    const key = keyOf(one.batch);
    const left = /** @type {number} */ (this.#counts.get(key)) - 1;
    if (left > 0) this.#counts.set(key, left);
    else this.#counts.delete(key);
    return one;
  }

  first() {
    return this.#waiting.first();
  }

  size() {
    return this.#waiting.size();
  }
}

module.exports = { NewestFirst, BACKLOG_WAITS_MS, BEHIND_MS, OLD_MS, OVERLOADED_AFTER_MS, MAX_WAITING, RECOVERED_AFTER_MS, PIECE_MS };
