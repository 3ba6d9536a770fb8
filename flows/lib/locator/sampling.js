// @ts-check
'use strict';

const { placementKey } = require('./model');

/**
 * What people's readings say, for those who learn of devices and of the plan: a moment a second of some people, others every ten minutes.
 * @typedef {import('../locator').Sample} Sample
 * @typedef {import('./belief').Belief} Belief
 * @typedef {import('./person').Person} Person
 */
class Sampling {
  constructor() {
    /** @type {((sample: Sample) => void)|null} */
    this.listener = null;
    this.second = 0;
    this.people = 0;
    this.every = 1;
  }

  /** Whether somebody is among those at present. @param {Person} person @param {number} nowMs our clock */
  includes(person, nowMs) {
    if (this.listener === null) return false;
    const second = Math.floor(nowMs / 1000);
    if (second !== this.second) {
      this.every = Math.ceil(this.people / PEOPLE) || 1;
      this.second = second;
      this.people = 0;
    }
    if (person.newestS !== Math.floor(person.ms / 1000)) this.people += 1;
    return (person.hash + Math.floor(second / SHIFT_S)) % this.every === 0;
  }

  /** Hands out a sample. @param {Person} person @param {number} ms @param {Belief} belief */
  take(person, ms, belief) {
    const sample = sampleOf(person, ms, belief);
    if (sample) this.listener?.(sample);
  }
}

const PEOPLE = 200; // more in a second add little
const SHIFT_S = 600;

/** @param {Person} person @param {number} ms @param {Belief} belief @returns {Sample|null} null: nothing is known yet */
function sampleOf({ id, hearing, rule, advised }, ms, { model: { sources, rooms }, settings, around }) {
  const [room, advisedRoom] = [rooms[rule.best()], rooms[(advised ?? rule).best()]];
  if (!room || !advisedRoom) return null;
  const { offsets } = around.at(ms);
  /** @type {Sample['devices']} */
  const devices = [];
  for (let k = 0; k < hearing.size; k += 1) {
    const source = sources[hearing.sourceOf(k)];
    if (!source || hearing.worthOf(k, ms, source.graceS, settings) < LEAST_WORTH) continue;
    const rssi = hearing.meanOf(k) + (offsets?.[source.number] ?? 0);
    const place = placementKey(source.device);
    devices.push({ kind: source.kind, id: source.id, place, room: rooms[source.room]?.id ?? '', rssi });
  }
  return { staff_id: id, ms, level: room.level, room: room.id, advised: advisedRoom.id, devices };
}

const LEAST_WORTH = 0.3; // readings: what is older was heard elsewhere

module.exports = { Sampling };
