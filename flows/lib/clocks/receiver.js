// @ts-check
'use strict';

const { Stamps } = require('./stamps');

/**
 * The clock of one receiver, estimated from arrival − stamp. Delays only add, so the least difference is nearest to how far it is behind.
 * A batch that is there before its stamp proves a clock ahead, at once. One that comes long after its stamp is kept, or of a clock behind:
 * what was kept comes faster than it was made, or beside what is new; with a clock behind the difference stays. Until that
 * shows the batches are held. Pure.
 * @typedef {import('../live/readings').Batch} Batch
 * @typedef {import('./versions').Versions} Versions
 * @typedef {{ts: number, ms: number}} Arrival ms: by our clock
 */

/** Clocks that differ by less are right: readings of gateways 4 s apart may belong together (`locator/settings.js`) … */
const RIGHT_MS = 2000;
/** … but a gateway that is ahead of the others by more makes theirs old. */
const AHEAD_MS = Object.freeze({ phone: RIGHT_MS, gateway: 500 });
/** A clock that is corrected is so to this; one that comes within half of what is no matter is right again. */
const STEP_MS = 500;
/** Later than this is no delay of the network. */
const LATE_MS = 6000;
/** A clock that is farther off is not corrected: it could be set back by more than is known of its stamps. */
const MOST_MS = 5 * 60_000;
/** So long, and of so many batches, the difference must stay before a clock counts as behind … */
const [STEADY_MS, STEADY_BATCHES] = [20_000, 6];
/** … within this. */
const SPREAD_MS = 1000;
/** So many batches show that a clock was set right. */
const RIGHT_BATCHES = 3;
/** So many of what was kept are remembered. */
const KEPT_SEEN = 10;
/** Batches are held no longer: a receiver that goes on sends each four seconds at least … */
const SILENT_MS = 6000;
/** … and in this time it shows what they are. */
const HELD_MS = 60_000;
/** The least difference is taken over so long, of so many batches. */
const [SPAN_MS, SPAN_BATCHES] = [30_000, 3];

class ReceiverClock {
  /** @param {Versions} versions of it; the clock adds to them @param {'phone'|'gateway'} kind */
  constructor(versions, kind) {
    this.versions = versions;
    this.aheadMs = AHEAD_MS[kind];
    this.stamps = new Stamps();
    /** When the last batch came, by our clock. */
    this.heardMs = 0;
    /** How far it is behind, as the last batches say that are no backlog, ms; negative: ahead. */
    this.offsetMs = versions.last()?.offset_ms ?? 0;
    /** Since when that matters, by our clock. */
    this.wrongSinceMs = versions.list[versions.list.findLastIndex(({ offset_ms: ms }) => Math.abs(ms) < RIGHT_MS) + 1]?.noticed_ms ?? 0;
    /** Held until it is known what they are; ms: when each came. @type {{batch: Batch, ms: number}[]} */
    this.held = [];
    /** Since when, by our clock. */
    this.heldMs = 0;
    /** Late ones in a row, of which each may be kept or of a clock behind. @type {Arrival[]} */
    this.late = [];
    /** Whether a new version is not on disk yet. */
    this.unwritten = false;
    /** Least delays of this span and of the one before. */
    this.span = { sinceMs: 0, leastMs: Infinity, count: 0, beforeMs: Infinity };
  }

  /**
   * Takes a batch. Afterwards `unwritten` says whether there is a new version, which is to be written before `release`.
   * @param {Batch} batch @param {number} nowMs
   * @param {number} waitedMs how long messages wait for us, which is no delay of the receiver; Infinity: not known
   * @returns {Batch[]} those whose time is known, with it
   */
  hear(batch, nowMs, waitedMs) {
    const { ts } = batch;
    this.heardMs = nowMs;
    if (this.unwritten) return this.#hold(batch, nowMs);
    const offsetMs = this.#offsetOf(ts, nowMs);
    const delayMs = nowMs - ts - offsetMs;
    if (this.#isBeforeStamp(delayMs, offsetMs)) {
      this.#decide(nowMs - ts, ts, nowMs);
      return this.#hold(batch, nowMs);
    }
    const lateMs = delayMs - waitedMs;
    if (lateMs <= LATE_MS || this.stamps.has(ts)) return this.#inTime(batch, offsetMs, lateMs, nowMs);
    if (!this.isOpen(ts)) this.late.push({ ts, ms: nowMs });
    return this.#isLate(batch, nowMs);
  }

  /** Lets time pass. @param {number} nowMs @returns {Batch[]} as `hear` */
  pass(nowMs) {
    const isOver = nowMs - this.heldMs > HELD_MS || nowMs - this.heardMs > SILENT_MS || nowMs < this.heldMs;
    return this.held.length > 0 && !this.unwritten && isOver ? this.release() : [];
  }

  /** The batches that are held, each at the time that is known for it now. The new version, if any, is on disk. @returns {Batch[]} */
  release() {
    this.unwritten = false;
    /** @type {Batch[]} */
    const known = [];
    for (let one = this.held[0]; one; one = this.held[0]) {
      const { batch, ms } = one;
      const offsetMs = this.versions.offsetOf(batch.ts);
      if (this.#isBeforeStamp(ms - batch.ts - offsetMs, offsetMs)) { // it came while the version was written, and is not of it
        this.#decide(ms - batch.ts, batch.ts, ms);
        break;
      }
      known.push(this.#timed(batch, offsetMs));
      this.held.shift();
    }
    return known;
  }

  /** The same at the end, when nothing new is known any more. @returns {Batch[]} */
  drain() {
    this.unwritten = false;
    return this.held.splice(0).map(({ batch }) => this.#timed(batch, this.versions.offsetOf(batch.ts)));
  }

  /** Whether a stamp is that of a batch that is held. @param {number} ts */
  isOpen(ts) { return this.held.some(({ batch }) => batch.ts === ts); }

  /** Whether a batch is there before its stamp, by more than clocks may differ. @param {number} delayMs @param {number} offsetMs in use */
  #isBeforeStamp(delayMs, offsetMs) { return delayMs < -(offsetMs === 0 ? this.aheadMs : STEP_MS); }

  /** @param {number} offsetMs @param {number} nowMs */
  #say(offsetMs, nowMs) {
    if (Math.abs(this.offsetMs) < RIGHT_MS) this.wrongSinceMs = nowMs;
    this.offsetMs = offsetMs;
  }

  /**
   * Of a stamp that arrives now: where stamps come twice, it is one of the second time if it fits to that.
   * @param {number} ts @param {number} nowMs
   */
  #offsetOf(ts, nowMs) {
    const last = this.versions.last();
    const delayMs = last?.but.includes(ts) ? nowMs - ts - last.offset_ms : Infinity;
    return last && delayMs >= -STEP_MS && delayMs <= RIGHT_MS ? last.offset_ms : this.versions.offsetOf(ts);
  }

  /** @param {Batch} batch @param {number} offsetMs @returns {Batch} */
  #timed(batch, offsetMs) {
    this.stamps.add(batch.ts);
    return offsetMs === 0 ? batch : { ...batch, ts: batch.ts + offsetMs };
  }

  /** @param {Batch} batch @param {number} nowMs @returns {Batch[]} */
  #hold(batch, nowMs) {
    if (this.held.length === 0) this.heldMs = nowMs;
    this.held.push({ batch, ms: nowMs });
    return [];
  }

  /** @param {Batch} batch @param {number} offsetMs @param {number} lateMs @param {number} nowMs @returns {Batch[]} */
  #inTime(batch, offsetMs, lateMs, nowMs) {
    if (lateMs > LATE_MS) return [this.#timed(batch, offsetMs)]; // sent again
    const { span } = this;
    this.late = []; // they were kept
    this.#say(offsetMs, nowMs);
    const before = this.release();
    if (this.unwritten) return [...before, ...this.#hold(batch, nowMs)];
    if (Number.isFinite(lateMs)) {
      span.leastMs = Math.min(span.leastMs, lateMs);
      span.count += 1;
    }
    if (nowMs - span.sinceMs >= SPAN_MS) {
      const { leastMs, beforeMs, count } = span;
      this.span = { sinceMs: nowMs, leastMs: Infinity, count: 0, beforeMs: count >= SPAN_BATCHES ? leastMs : Infinity };
      // A clock that was right is off when that is steady; one that was off drifts.
      const isSteady = count >= SPAN_BATCHES && (offsetMs !== 0 || Math.abs(leastMs - beforeMs) <= SPREAD_MS);
      if (isSteady && Math.min(leastMs, beforeMs) > (offsetMs === 0 ? RIGHT_MS : STEP_MS)) {
        this.#decide(offsetMs + Math.min(leastMs, beforeMs), batch.ts, nowMs);
        return [...before, ...this.#hold(batch, nowMs)];
      }
    }
    return [...before, this.#timed(batch, offsetMs)];
  }

  /** @param {Batch} batch @param {number} nowMs @returns {Batch[]} */
  #isLate(batch, nowMs) {
    const differenceMs = nowMs - batch.ts;
    const right = this.late.slice(-RIGHT_BATCHES).map(({ ts, ms }) => ms - ts);
    if (differenceMs > MOST_MS) {
      if (this.#isSteady()) this.#say(differenceMs, nowMs); // and it is not corrected
      return [...this.release(), this.#timed(batch, this.versions.offsetOf(batch.ts))];
    }
    this.#hold(batch, nowMs);
    if (right.length === RIGHT_BATCHES && right.every((ms) => ms >= -STEP_MS && ms <= RIGHT_MS)) this.#decide(0, this.#firstHeld(), nowMs);
    else if (this.#isKept()) {
      this.late = this.late.slice(-KEPT_SEEN); // by which the next one is seen to be kept at once
      return this.release();
    } else if (this.#isSteady()) this.#decide(Math.min(...this.late.map(({ ts, ms }) => ms - ts)), this.#firstHeld(), nowMs);
    return [];
  }

  #firstHeld() { return Math.min(...this.held.map(({ batch }) => batch.ts)); }

  /** Whether late ones come faster than they were made: each is less late than the one before. */
  #isKept() {
    const [first, last] = /** @type {[Arrival, Arrival]} */ ([this.late[0], this.late.at(-1)]);
    return last.ts - first.ts > last.ms - first.ms + LATE_MS;
  }

  /** Whether late ones are late by the same for long enough; those from which that is not so are forgotten. */
  #isSteady() {
    const [first, last] = /** @type {[Arrival, Arrival]} */ ([this.late[0], this.late.at(-1)]);
    if (last.ms - first.ms < STEADY_MS || this.late.length < STEADY_BATCHES) return false;
    const middleMs = (first.ms + last.ms) / 2;
    const [one, other] = [this.late.filter(({ ms }) => ms <= middleMs), this.late.filter(({ ms }) => ms > middleMs)];
    const least = (/** @type {Arrival[]} */ some) => Math.min(...some.map(({ ts, ms }) => ms - ts));
    const isSteady = Math.abs(least(one) - least(other)) <= SPREAD_MS;
    this.late = isSteady ? this.late.slice(-2 * STEADY_MS / 100) : other;
    return isSteady;
  }

  /** @param {number} differenceMs @param {number} fromMs first stamp @param {number} nowMs */
  #decide(differenceMs, fromMs, nowMs) {
    const offsetMs = Math.abs(differenceMs) <= this.aheadMs / 2 ? 0 : Math.round(differenceMs);
    this.versions.add({ from_ms: fromMs, offset_ms: offsetMs, noticed_ms: nowMs, but: this.stamps.since(fromMs) });
    this.#say(offsetMs, nowMs);
    this.late = [];
    this.span = { sinceMs: nowMs, leastMs: Infinity, count: 0, beforeMs: Infinity };
    this.unwritten = true;
  }
}

module.exports = { ReceiverClock, LATE_MS, MOST_MS, RIGHT_MS };
