// @ts-check
'use strict';

const { Rows, grown } = require('./rows');
const { SILENT_DBM } = require('./settings');

/**
 * What was heard of one person at one moment, strongest first.
 * @typedef {'phone'|'gateway'} Kind by which somebody is heard
 */
class Heard {
  /** @param {Kind} kind */
  constructor(kind) {
    this.kind = kind;
    /** How many devices; further numbers in the lists mean nothing. */
    this.size = 0;
    /** By number; the two below are in the same order. */
    this.sources = new Int32Array(64);
    /** dBm, as if every transmitter had the default power. */
    this.rssis = new Float64Array(64);
    /** As it was received. */
    this.raw = new Float64Array(64);
    /** Number of the one that gateways heard best, -1 for phones. */
    this.tag = -1;
  }

  clear() {
    this.size = 0;
    this.tag = -1;
  }

  #grow() {
    const { sources, rssis, raw } = this;
    this.sources = new Int32Array(2 * sources.length);
    this.sources.set(sources);
    this.rssis = grown(rssis, 2 * rssis.length);
    this.raw = grown(raw, 2 * raw.length);
  }

  /**
   * A source heard twice (two tags of one person, two ids of one beacon) counts as one: the stronger reading stays. Of equals the source
   * with the lower number comes first, and of one source's the tag with the lower number, whatever order they came in.
   * @param {number} source @param {number} rssi @param {number} raw @param {number} tag
   */
  add(source, rssi, raw, tag) {
    if (this.size === this.sources.length) this.#grow();
    const { sources, rssis, raw: raws, size } = this;
    let at = 0;
    while (at < size && sources[at] !== source) at += 1;
    if (at === size) this.size = size + 1;
    else {
      if (rssis[at] === rssi) {
        raws[at] = Math.max(raws[at], raw);
        if (at === 0) this.tag = Math.min(this.tag, tag);
      }
      if (rssis[at] >= rssi) return;
    }
    for (; at > 0 && (rssis[at - 1] < rssi || (rssis[at - 1] === rssi && sources[at - 1] > source)); at -= 1) {
      sources[at] = sources[at - 1];
      rssis[at] = rssis[at - 1];
      raws[at] = raws[at - 1];
    }
    sources[at] = source;
    rssis[at] = rssi;
    raws[at] = raw;
    if (at === 0) this.tag = tag;
  }

  /**
   * What a phone heard of the building's beacons, and nothing else.
   * @param {import('../live/readings').Batch['readings']} readings @param {import('./model').Model} model
   * @param {Float32Array|null} offsets dB by source, subtracted
   */
  hearBeacons(readings, { beacons, sources }, offsets) {
    this.clear();
    for (const { beacon, rssi } of readings) {
      const source = beacons.get(beacon);
      if (source === undefined) continue;
      const lessDb = (sources[source]?.powerDb ?? 0) + (offsets === null ? 0 : offsets[source]);
      this.add(source, rssi - lessDb, rssi, -1);
    }
  }
}

/** What is remembered begins with these: how many devices, scans so far, the scan period, of how many gaps that is, the usual level. */
const [DEVICES, SCANS, PERIOD, GAPS, USUAL_DBM, HEAD] = [0, 1, 2, 3, 4, 5];

/** Of a device: its number, sum of faded levels (dBm), of how many readings, event time of the newest one, and after how many scans. */
const [SOURCE, SUM, COUNT, MS, SCAN_AT, ITEMS] = [0, 1, 2, 3, 4, 5];

/** As if so many gaps of one scan had been. */
const GAPS_AT_FIRST = 3;

/**
 * What is remembered of a person's readings: of each device a mean level that fades, and how often devices are heard at all. That
 * is the scan period: 1 where every device is heard in each window, 3 for a phone that catches a third of its beacons in each.
 * Levels fade by it and evidence counts by it, so that few readings weigh as much as many.
 */
class Hearing {
  /** @param {Rows} rows by `Hearing.rows` @param {number} slot of the person @param {readonly number[]} [saved] by `save` */
  constructor(rows, slot, saved = [0, 0, 1, GAPS_AT_FIRST, NaN]) {
    this.rows = rows;
    this.slot = slot;
    rows.set(slot, saved);
  }

  /** Of everybody. */
  static rows() { return new Rows(HEAD, ITEMS, 12); }

  save() { return this.rows.get(this.slot); }

  /** Where a device stands. @param {number} k others count devices from 0 */
  #at(k) { return this.rows.startOf(this.slot) + HEAD + k * ITEMS; }

  get period() { return this.rows.list[this.rows.startOf(this.slot) + PERIOD]; }

  /** Upper quartile of the strongest level of a scan, dBm; NaN: none yet. */
  get usualDbm() { return this.rows.list[this.rows.startOf(this.slot) + USUAL_DBM]; }

  /** How many devices. */
  get size() { return this.rows.list[this.rows.startOf(this.slot) + DEVICES]; }

  /** By number. @param {number} k */
  sourceOf(k) { return this.rows.list[this.#at(k) + SOURCE]; }

  /** Event time of the newest reading. @param {number} k */
  msOf(k) { return this.rows.list[this.#at(k) + MS]; }

  /** Mean level, dBm. @param {number} k */
  meanOf(k) {
    const at = this.#at(k);
    return this.rows.list[at + SUM] / this.rows.list[at + COUNT];
  }

  /** How many readings the mean is still worth. @param {number} k @param {number} ms @param {number} graceS of its device
   * @param {import('./settings').Settings} settings */
  worthOf(k, ms, graceS, { smoothScans }) {
    const { list } = this.rows;
    const at = this.#at(k);
    const silentS = (ms - list[at + MS]) / 1000 - graceS;
    return silentS <= 0 ? list[at + COUNT] : list[at + COUNT] * Math.exp(-silentS / (smoothScans * this.period));
  }

  /**
   * A level that sinks with silence, dBm.
   * @param {number} k @param {number} worth @param {import('./settings').Settings} settings
   */
  levelOf(k, worth, { silence }) { return (this.meanOf(k) * worth + SILENT_DBM * silence) / (worth + silence); }

  /**
   * @param {Heard} heard @param {number} ms event time @param {number} scans how many scans it took, at most 1
   * @param {boolean} isUsual whether a device stands where they are, so that the strongest level says what they usually hear
   * @param {import('./settings').Settings} settings
   */
  add({ size, sources, rssis }, ms, scans, isUsual, { smoothScans, gapScans, gapReadings, lostMs }) {
    const { rows, slot } = this;
    this.forget(ms - lostMs);
    let { list } = rows;
    let row = rows.startOf(slot);
    let end = rows.endOf(slot);
    const scanAt = list[row + SCANS] + scans;
    list[row + SCANS] = scanAt;
    for (let n = 0; n < size; n += 1) {
      const source = sources[n];
      let at = row + HEAD;
      while (at < end && list[at] !== source) at += ITEMS;
      if (at === end) {
        at = rows.append(slot);
        ({ list } = rows);
        row = rows.startOf(slot);
        end = at + ITEMS;
        list[at + SOURCE] = source;
        list[at + SUM] = rssis[n];
        list[at + COUNT] = 1;
        list[at + MS] = ms;
        list[at + SCAN_AT] = scanAt;
        continue;
      }
      const gap = scanAt - list[at + SCAN_AT];
      if (gap > 0 && gap <= gapScans) {
        const gaps = list[row + GAPS] < gapReadings ? list[row + GAPS] + 1 : gapReadings;
        const period = list[row + PERIOD] + (gap - list[row + PERIOD]) / gaps;
        list[row + GAPS] = gaps;
        list[row + PERIOD] = period > 1 ? period : 1;
      }
      const kept = Math.exp((list[at + MS] - ms) / 1000 / (smoothScans * list[row + PERIOD]));
      list[at + SUM] = list[at + SUM] * kept + rssis[n];
      list[at + COUNT] = list[at + COUNT] * kept + 1;
      list[at + MS] = ms;
      list[at + SCAN_AT] = scanAt;
    }
    if (size === 0 || !isUsual) return;
    const strongest = this.#strongestOf(rssis[0], ms);
    const usual = list[row + USUAL_DBM];
    list[row + USUAL_DBM] = Number.isNaN(usual) ? strongest
      : usual + Math.max(QUARTILE_STEP_DB, 1 / (1 + scanAt)) * scans * (strongest > usual ? 3 : -1);
  }

  /** Of a whole scan, since gateways report one after the other. @param {number} dbm strongest reading of now @param {number} ms */
  #strongestOf(dbm, ms) {
    const { rows: { list }, slot } = this;
    const end = this.rows.endOf(slot);
    for (let at = this.#at(0); at < end; at += ITEMS) {
      if (ms - list[at + MS] < SCAN_MS) dbm = Math.max(dbm, list[at + SUM] / list[at + COUNT]);
    }
    return dbm;
  }

  /** Forgets devices that were not heard since then. @param {number} sinceMs */
  forget(sinceMs) {
    const { rows, slot } = this;
    const { list } = rows;
    const end = rows.endOf(slot);
    let kept = this.#at(0);
    for (let at = kept; at < end; at += ITEMS) {
      if (list[at + MS] < sinceMs) continue;
      if (kept < at) for (let n = 0; n < ITEMS; n += 1) list[kept + n] = list[at + n];
      kept += ITEMS;
    }
    if (kept < end) rows.cut(slot, kept);
  }

  /** Devices have other numbers from now on. @param {(source: number) => number} numberOf */
  renumber(numberOf) {
    const { rows: { list }, slot } = this;
    for (let at = this.#at(0); at < this.rows.endOf(slot); at += ITEMS) list[at] = numberOf(list[at]);
  }
}

const SCAN_MS = 1000;
const QUARTILE_STEP_DB = 0.02; // a scan, when many were heard: follows a change of some decibels in some minutes

module.exports = { Heard, Hearing };
