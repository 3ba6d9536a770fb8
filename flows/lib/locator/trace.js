// @ts-check
'use strict';

const { placementKey } = require('./model');
const { newOdds, shareOf } = require('./trellis');

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
    if (!source || hearing.worthOf(k, ms, source.graceS, settings) < SAMPLED_WORTH) continue;
    const rssi = hearing.meanOf(k) + (offsets?.[source.number] ?? 0);
    const place = placementKey(source.device);
    devices.push({ kind: source.kind, id: source.id, place, room: rooms[source.room]?.id ?? '', rssi });
  }
  return { staff_id: id, ms, level: room.level, room: room.id, advised: advisedRoom.id, devices };
}

const SAMPLED_WORTH = 0.3; // readings: what is older was heard elsewhere

/**
 * Why somebody is said to be where they are: for people who examine it, not for the locator. Pure.
 * @typedef {import('../locator').Trace} Trace
 * @param {import('./person').Person} person
 * @param {import('./belief').Belief} belief
 * @returns {Trace}
 */
function traceOf(person, belief) {
  const { model: { rooms, sources }, settings, adviser, around } = belief;
  const { hearing, ms, room: present } = person;
  const odds = newOdds();
  const { trellis } = person;
  trellis.odds(settings, odds);
  const likeliest = trellis.rooms().map((its) => ({ its, score: trellis.scoreOf(its), id: rooms[its]?.id ?? '', level: rooms[its]?.level ?? '' }))
    .filter(({ id }) => id !== '').sort((a, b) => b.score - a.score || a.its - b.its).slice(0, MAX_ROOMS);
  const expected = adviser?.explain(person, ms, likeliest.map(({ its }) => its), around);
  /** @type {Trace['heard']} */
  const heard = [];
  for (let k = 0; k < hearing.size; k += 1) {
    const source = sources[hearing.sourceOf(k)];
    const readings = source ? hearing.worthOf(k, ms, source.graceS, settings) : 0;
    if (!source || readings < SHOWN_WORTH) continue;
    heard.push({
      id: source.id, room: rooms[source.room]?.id ?? '', rssi: round(hearing.meanOf(k)), readings: round(readings),
      age_s: round((ms - hearing.msOf(k)) / 1000),
      expected: likeliest.map(({ its }) => expected?.get(its)?.get(source.number)).map((dbm) => (dbm === undefined ? null : round(dbm))),
    });
  }
  const rival = likeliest.find(({ its }) => its !== present);
  const leadNats = rival && present >= 0 ? (rival.score - trellis.scoreOf(present)) / settings.natDb : 0;
  return {
    staff_id: person.id, ts: ms, room: rooms[present]?.id ?? null,
    rooms: likeliest.map(({ id, level, score }) => (
      { room: id, level, probability: round(shareOf(score, odds, settings), 1000) })),
    heard: heard.sort((a, b) => b.rssi - a.rssi),
    ...strengthOf(person),
    change: rival === undefined || present < 0 ? null : { room: rival.id, lead_nats: round(leadNats), needed_nats: 0 },
  };
}

/** By how much a tag or phone is stronger than calibrated; null: not known. @param {import('./person').Person} person */
const strengthOf = ({ strength: { db, variance } }) => (Number.isNaN(variance) ? { level_db: null, level_sd_db: null }
  : { level_db: round(db), level_sd_db: round(Math.max(0.1, Math.sqrt(variance))) });

/**
 * What measured devices are expected to be heard like in a room, on average over its places.
 * @param {string} id @param {import('./model').Model} model @returns {Map<string, number>} dBm by device id
 */
function expectedIn(id, { rooms, sources, plan }) {
  const room = rooms.find((one) => one?.id === id);
  if (!room || !plan) return new Map();
  return new Map(sources.flatMap((source) => (source?.measured ? [[source.id, plan.meanIn(source.number, room.number)]] : [])));
}

const MAX_ROOMS = 5;
const SHOWN_WORTH = 0.01;

/** @param {number} value @param {number} [parts] */
const round = (value, parts = 10) => Math.round(value * parts) / parts + 0; // JSON has no -0

module.exports = { Sampling, expectedIn, strengthOf, traceOf };
