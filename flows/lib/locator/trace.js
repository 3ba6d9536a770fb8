// @ts-check
'use strict';

const { leadOf, neededLiveOf } = require('./choose');
const { expectedIn } = require('./source');

/**
 * Why somebody is said to be where they are: for people who examine it, not for the locator. Pure.
 * @typedef {import('../locator').Trace} Trace
 * @param {import('./person').Person} person
 * @param {import('./model').Model} model
 * @param {import('./beliefs').Beliefs} beliefs
 * @param {import('./hearing').Hearing} hearing
 * @param {import('./learned-strengths').LearnedStrengths} learnedStrengths
 * @param {import('./lookahead').Lookahead} lookahead
 * @returns {Trace}
 */
function traceOf(person, { plan: { rooms }, cells, radio, settings }, beliefs, hearing, learnedStrengths, lookahead) {
  const { slot, ms, room } = person;
  const chances = new Float64Array(rooms.length);
  /** @type {Map<number, [cell: number, probability: number]>} the likeliest cell of each room */
  const best = new Map();
  for (const [cell, probability] of beliefs.cells(slot)) {
    const its = cells.room[cell];
    chances[its] += probability;
    if (probability > (best.get(its)?.[1] ?? 0)) best.set(its, [cell, probability]);
  }
  const likeliest = [...best.keys()].sort((a, b) => chances[b] - chances[a]).slice(0, MAX_ROOMS);
  const strength = learnedStrengths.of(slot);
  const remembered = hearing.recall(slot, ms);
  const heard = Array.from({ length: remembered.count }, (_, k) => {
    const source = radio.sources[remembered.sources[k]];
    return {
      id: source.id, room: rooms[source.room]?.id ?? '', rssi: round(remembered.levels[k]), readings: round(remembered.readings[k]),
      age_s: round(remembered.ages[k]),
      expected: likeliest.map((its) => round(expectedIn(source, best.get(its)?.[0] ?? 0, settings.weakestDbm) + strength.meanDb)),
    };
  });
  const rival = likeliest.find((its) => its !== room);
  return {
    staff_id: person.id, ts: ms, room: rooms[room]?.id ?? null,
    rooms: likeliest.map((its) => ({ room: rooms[its].id, level: rooms[its].level, probability: round(chances[its], 1000) })),
    heard: heard.sort((a, b) => b.rssi - a.rssi),
    level_db: round(strength.meanDb), level_sd_db: round(Math.sqrt(strength.variance)),
    change: rival === undefined || room < 0 ? null : {
      room: rooms[rival].id, lead_nats: round(leadOf(chances, rival, room, settings)),
      needed_nats: round(neededLiveOf(person, ms, lookahead.gapOf(slot, Math.floor(ms / 1000)), settings)),
    },
  };
}

const MAX_ROOMS = 5;

/** @param {number} value @param {number} [parts] */
const round = (value, parts = 10) => Math.round(value * parts) / parts;

module.exports = { traceOf };
