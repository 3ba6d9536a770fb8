// @ts-check
'use strict';

const { newOdds, shareOf } = require('./trellis');

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
  const likeliest = odds.rooms.map((its, n) => ({ its, score: odds.scores[n], id: rooms[its]?.id ?? '', level: rooms[its]?.level ?? '' }))
    .filter(({ id }) => id !== '').sort((a, b) => b.score - a.score || a.its - b.its).slice(0, MAX_ROOMS);
  const expected = adviser?.explain(person, ms, likeliest.map(({ its }) => its), around);
  /** @type {Trace['heard']} */
  const heard = [];
  for (let k = 0; k < hearing.size; k += 1) {
    const source = sources[hearing.sourceOf(k)];
    const readings = source ? hearing.worthOf(k, ms, source.graceS, settings) : 0;
    if (!source || readings < LEAST_WORTH) continue;
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
const LEAST_WORTH = 0.01;

/** @param {number} value @param {number} [parts] */
const round = (value, parts = 10) => Math.round(value * parts) / parts;

module.exports = { expectedIn, strengthOf, traceOf };
