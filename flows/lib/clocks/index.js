// @ts-check
'use strict';

const path = require('node:path');
const { keyOf } = require('../live/batches');
const { createStateFile } = require('../shared/state-file');
const { correctedStore } = require('./stored');
const { ReceiverClock, MOST_MS, RIGHT_MS } = require('./receiver');
const { Versions, isVersion } = require('./versions');

/**
 * Clocks of all receivers. A batch passes here once, before everything else, and goes on with its corrected time as `ts`. Stored readings
 * get the same time by `store`. A new offset is on disk before a batch is located with it.
 * @typedef {import('../live/readings').Batch} Batch
 * @typedef {'gateway'|'phone'} ReceiverKind
 * @typedef {object} WrongClock
 * @property {ReceiverKind} kind
 * @property {string} receiver
 * @property {number} ahead_ms negative: it is behind
 * @property {number} since epoch ms
 * @property {boolean} corrected false: it is too far off, and its readings are located by its own time
 * @typedef {Pick<import('../shared/state-file').StateFile, 'read'|'write'>} Kept
 */

const HOUR_MS = 3_600_000;
/** Readings are kept for seven days. */
const KEPT_MS = 8 * 24 * HOUR_MS;
/** Of who was not heard for so long nobody asks. */
const SILENT_MS = 24 * HOUR_MS;
/** A receiver without offsets costs memory until then. */
const IDLE_MS = HOUR_MS;
const SWEEP_MS = 60_000;
/** The flows' own probe comes each 4 s. Where none came for longer, messages wait for us, nobody knows how long. */
const PROBED_MS = 8000;

/** Messages that the broker has kept for us come at once after a start. */
const START_MS = 2000;

class Clocks {
  /** @param {Kept} [file] of the offsets; without one they are in memory alone */
  constructor(file = createStateFile(null, () => {})) {
    this.file = file;
    this.startedMs = -Infinity;
    /** @type {Map<string, ReceiverClock>} by kind and id */
    this.receivers = new Map();
    /** Those with offsets. @type {Set<string>} */
    this.withOffsets = new Set();
    /** Those that hold batches. @type {Set<string>} */
    this.holding = new Set();
    /** The flows' own probe that came last. @type {{ms: number, waitedMs: number}|null} */
    this.probe = null;
    this.sweptMs = 0;
    this.isWriting = false;
    /** Those whose new offset is on disk. @type {Set<string>} */
    this.written = new Set();
    for (const [key, list] of Object.entries(file.read()?.receivers ?? {})) {
      if (Array.isArray(list) && list.every(isVersion) && list.length > 0) this.#clockOf(key, list);
    }
  }

  /**
   * The time of batches that arrive.
   * @param {Batch[]} batches with stamps as `ts` @param {number} nowMs
   * @returns {Batch[]} those whose time is known, with it as `ts`; others come with `due`
   */
  correct(batches, nowMs) {
    const waitedMs = this.#waitedMs(nowMs);
    return batches.flatMap((batch) => {
      const key = keyOf(batch);
      const clock = this.receivers.get(key) ?? this.#clockOf(key);
      const known = clock.hear(batch, nowMs, waitedMs);
      if (clock.held.length > 0) this.holding.add(key);
      return known;
    });
  }

  /** Those that were held; to be called several times a second. @param {number} nowMs @returns {Batch[]} */
  due(nowMs) {
    if (nowMs - this.sweptMs >= SWEEP_MS || nowMs < this.sweptMs) this.#sweep(nowMs);
    if (this.holding.size === 0) return [];
    const known = [...this.holding].flatMap((key) => {
      const clock = /** @type {ReceiverClock} */ (this.receivers.get(key));
      const released = this.written.delete(key) ? clock.release() : clock.pass(nowMs);
      if (clock.held.length === 0) this.holding.delete(key);
      return released;
    });
    this.#write();
    return known;
  }

  /** All that is held, at the end. @returns {Batch[]} */
  drain() {
    this.#write();
    const held = [...this.holding].flatMap((key) => this.receivers.get(key)?.drain() ?? []);
    this.holding.clear();
    return held;
  }

  /** Batches that arrive from now on may have waited. @param {number} nowMs */
  begin(nowMs) { this.startedMs = nowMs; }

  /** A probe of the flows came back on the way of readings. @param {number} sentMs @param {number} nowMs */
  probed(sentMs, nowMs) { this.probe = { ms: nowMs, waitedMs: Math.max(0, nowMs - sentMs) }; }

  /**
   * The time of a stored reading, epoch ms; null: it is held, and its time not known yet.
   * @param {string} key of its receiver @param {number} ts its stamp
   */
  timeOf(key, ts) {
    const clock = this.receivers.get(key);
    if (!clock) return ts;
    return clock.isOpen(ts) ? null : ts + clock.versions.offsetOf(ts);
  }

  /**
   * Receivers with readings of a time under other stamps, or with stamps of a time for readings of another one.
   * @param {number} fromMs @param {number} toMs exclusive
   * @returns {{keys: Set<string>, leastMs: number, mostMs: number}} least and greatest offsets, ms
   */
  shifted(fromMs, toMs) {
    const keys = new Set(this.holding);
    let [leastMs, mostMs] = [0, 0];
    for (const key of this.withOffsets) {
      const offsets = this.receivers.get(key)?.versions.offsetsIn(fromMs - MOST_MS, toMs + MOST_MS) ?? [];
      if (offsets.length > 0) keys.add(key);
      [leastMs, mostMs] = [Math.min(leastMs, ...offsets), Math.max(mostMs, ...offsets)];
    }
    return { keys, leastMs, mostMs };
  }

  /**
   * The database, with readings at their corrected time.
   * @param {import('../store').Store} store @param {() => number} clock
   */
  store(store, clock) { return correctedStore(store, this, clock); }

  /**
   * How far a receiver's clock is off.
   * @param {ReceiverKind} kind @param {string} id @returns {Omit<WrongClock, 'kind'|'receiver'>|null} null: it is right, or not known
   */
  of(kind, id) {
    const clock = this.receivers.get(`${kind}/${id}`);
    if (!clock || Math.abs(clock.offsetMs) < RIGHT_MS) return null;
    return { ahead_ms: -clock.offsetMs, since: clock.wrongSinceMs, corrected: Math.abs(clock.offsetMs) <= MOST_MS };
  }

  /** Those that are wrong, of receivers heard within a day. @param {number} nowMs @returns {WrongClock[]} */
  wrong(nowMs) {
    return [...this.receivers].flatMap(([key, { heardMs, offsetMs }]) => {
      if (Math.abs(offsetMs) < RIGHT_MS || nowMs - heardMs > SILENT_MS) return [];
      const [kind = '', receiver = ''] = key.split('/', 2);
      const found = this.of(/** @type {ReceiverKind} */ (kind), receiver);
      return found ? [{ kind: /** @type {ReceiverKind} */ (kind), receiver, ...found }] : [];
    });
  }

  /** How long messages wait for us, ms. @param {number} nowMs */
  #waitedMs(nowMs) {
    if (Math.abs(nowMs - this.startedMs) < START_MS) return Infinity;
    if (this.probe === null) return 0;
    return nowMs - this.probe.ms > PROBED_MS ? Infinity : this.probe.waitedMs;
  }

  /** @param {string} key @param {import('./versions').Version[]} [list] of its offsets */
  #clockOf(key, list) {
    const clock = new ReceiverClock(new Versions(list), key.startsWith('gateway/') ? 'gateway' : 'phone');
    this.receivers.set(key, clock);
    if (list) this.withOffsets.add(key);
    return clock;
  }

  /** Writes what is new. One write is under way at a time: what comes meanwhile is in the next one. */
  #write() {
    const keys = [...this.holding].filter((key) => this.receivers.get(key)?.unwritten);
    if (this.isWriting || keys.length === 0) return;
    this.isWriting = true;
    for (const key of keys) this.withOffsets.add(key);
    // Where the disk takes nothing, which is warned of, the offset holds all the same.
    this.file.write(this.toJSON()).finally(() => {
      this.isWriting = false;
      for (const key of keys) this.written.add(key);
    });
  }

  toJSON() {
    return { v: 1, receivers: Object.fromEntries([...this.withOffsets].map((key) => [key, this.receivers.get(key)?.versions.list ?? []])) };
  }

  /** Forgets what nobody asks for any more. @param {number} nowMs */
  #sweep(nowMs) {
    this.sweptMs = nowMs;
    let isForgotten = false;
    for (const [key, clock] of this.receivers) {
      clock.versions.prune(nowMs - KEPT_MS);
      clock.heardMs ||= nowMs;
      const isOver = nowMs - clock.heardMs > KEPT_MS || clock.versions.list.length === 0;
      isForgotten = (isOver && this.withOffsets.delete(key)) || isForgotten;
      if (nowMs - clock.heardMs > IDLE_MS && !this.withOffsets.has(key)) this.receivers.delete(key);
    }
    if (isForgotten) this.file.write(this.toJSON());
  }
}

/** With offsets on disk. @param {string} folder of the flows' data @param {(text: string) => void} warn */
const openClocks = (folder, warn) => new Clocks(createStateFile(path.join(folder, 'receiver-clocks.json'), warn, {
  unread: 'clocks that are off are found again', unwritten: 'after a restart the past may be located with clocks that are off' }));

module.exports = { Clocks, openClocks };
