// @ts-check
'use strict';

const { Offsets } = require('./offsets');
const { PlanWorth } = require('./plan-worth');
const { Silence } = require('./silence');

/**
 * What people's readings teach of a building: offsets of its devices, which of them are silent, and where its plan is worth something.
 * Pure.
 * @typedef {import('../../locator').LearnedVersion} LearnedVersion
 * @typedef {import('../../locator').Sample} Sample
 * @typedef {import('../../building').Building} Building
 */

const PEOPLE = 20; // more make no difference
const QUARTERS = 400;
const QUARTER_MS = 15 * 60_000;

class Learning {
  constructor() {
    this.offsets = new Offsets();
    this.planWorth = new PlanWorth();
    this.silence = new Silence();
    /** @type {Set<string>} */
    this.who = new Set();
    this.peopleBefore = 0;
    /** Quarters of an hour in which somebody was heard. @type {Set<number>} */
    this.quarters = new Set();
    this.note = this.note.bind(this);
    this.bias = this.bias.bind(this);
  }

  /** @param {Sample} sample */
  note(sample) {
    if (this.who.size < PEOPLE) this.who.add(sample.staff_id);
    if (this.quarters.size < QUARTERS) this.quarters.add(Math.floor(sample.ms / QUARTER_MS));
    this.offsets.note(sample);
    this.planWorth.note(sample);
    this.silence.note(sample);
  }

  /** How many were heard, as far as is known. */
  people() { return Math.max(this.who.size, this.peopleBefore); }

  hours() { return (this.quarters.size * QUARTER_MS) / 3_600_000; }

  /**
   * How much stronger than others a device hears people, or is heard, dB; null: too few readings yet.
   * @param {'gateway'|'beacon'} kind @param {string} id
   */
  bias(kind, id) { return this.offsets.bias(`${kind} ${id}`); }

  /**
   * Forgets what is no more in the building: else the median would be that of devices that are gone.
   * @param {Building} building
   */
  leave({ gateways, beacons, rooms, levels }) {
    const isGone = (/** @type {string} */ key) => {
      const [kind = '', ...id] = key.split(' ');
      return !(kind === 'gateway' ? gateways : beacons).has(id.join(' '));
    };
    this.offsets.leave(isGone);
    this.silence.leave(isGone);
    this.planWorth.leave(isGone, (room) => !rooms.has(room), (level) => !levels.some(({ id }) => id === level));
  }

  /**
   * What is known now. What the building file states of a device goes before what is learned.
   * @param {Building} building @param {boolean} isDue whether offsets are learned anew @param {LearnedVersion} [last] in use
   * @returns {Omit<LearnedVersion, 'from_ms'>}
   */
  version(building, isDue, last) {
    this.leave(building);
    const { gateways, beacons } = building;
    const offsets = !isDue ? last?.offsets ?? [] : this.offsets.all().filter(({ kind, id, offset_db: db }) => {
      const device = kind === 'gateway' ? gateways.get(id) : beacons.get(id);
      return db !== 0 && device && (kind === 'gateway' ? gateways.get(id)?.rssi_offset : beacons.get(id)?.tx) === undefined;
    });
    const silent = this.silence.silent().map((key) => {
      const [kind = '', ...id] = key.split(' ');
      return { kind: /** @type {'gateway'|'beacon'} */ (kind), id: id.join(' ') };
    });
    return { offsets, silent, plan: this.planWorth.plan() };
  }

  /** Of data that names nobody. */
  save() {
    const { offsets, planWorth, silence, quarters } = this;
    const learned = { offsets: offsets.save(), plan_worth: planWorth.save(), silence: silence.save() };
    return { v: 2, ...learned, people: this.people(), quarters: [...quarters] };
  }

  /** @param {any} saved @throws {Error} where it is damaged or of another release */
  restore(saved) {
    if (saved.v !== 2) throw new Error('it is of another release');
    if (!Number.isFinite(saved.people) || !Array.isArray(saved.quarters)) throw new TypeError('it does not say of whom and when it is');
    const [offsets, planWorth, silence] = [new Offsets(), new PlanWorth(), new Silence()];
    offsets.restore(saved.offsets);
    planWorth.restore(saved.plan_worth);
    silence.restore(saved.silence);
    // all of it or nothing
    Object.assign(this, { offsets, planWorth, silence, peopleBefore: saved.people, quarters: new Set(saved.quarters) });
  }
}

module.exports = { Learning };
