// @ts-check
'use strict';

const { neededOf } = require('./choose');
const { createIdTable } = require('./id-table');
const { longer, slotsFor } = require('./slots');
const { sureLater } = require('./sureness');

/**
 * The room of each second as history has it: chosen once `lookaheadS` more seconds are known, by the mean of the log
 * probabilities of each room over the second and those that follow it. That mean says whether somebody changes the room; it would
 * say so too early, so they stay in the old one for as long as that one leads clearly. Live locations cannot wait so long, so a
 * second may be reported twice: when it is heard, and when history says another room. People live in slots of shared arrays.
 * @typedef {ReturnType<typeof createLookahead>} Lookahead
 * @typedef {{second: number, beacon: string, rssi: number, reported: number, room: number, sinceMs: number, before: number,
 *   beforeMs: number, sureness: import('./sureness').Sure|null}} Decision one second of history; reported: the room that was
 *   reported for it; room: the room of history, and
 *   sinceMs: when it was entered; before: the room that they left with this second, -1 when it is the same one or none is
 *   known, and beforeMs: when that was entered; sureness: of a room that
 *   was not reported
 * @param {import('./constants').Settings} settings
 */
function createLookahead(settings) {
  const { lookaheadS, lookaheadRooms, least } = settings;
  const kept = lookaheadS + 1;
  const leastNats = Math.log(least);
  let room = new Int16Array(0); // of history, -1: none yet
  let sinceMs = new Float64Array(0);
  let held = new Uint8Array(0);
  let newest = new Uint32Array(0); // the last second
  let age = new Uint8Array(0); // from here on: `kept` to a slot, oldest first; seconds before the last one
  let beacon = /** @type {Uint16Array|Uint32Array} */ (new Uint16Array(0)); // number in `beacons`
  let rssi = new Int8Array(0);
  let reported = new Int16Array(0);
  let likely = new Int16Array(0); // from here on: `lookaheadRooms` to a second, -1: no more
  let share = new Uint8Array(0); // log probability above the least, in 1 / PARTS nats
  const beacons = createIdTable();
  const sums = new Map();

  /** What a location says of its second. @param {number} k @param {{beacon: string, rssi: number, room: number}} location */
  function put(k, location) {
    putBeacon(k, location.beacon);
    rssi[k] = location.rssi;
    reported[k] = location.room;
  }

  /** @param {number} k @param {string} id */
  function putBeacon(k, id) {
    const number = beacons.numberOf(id);
    if (number > 0xffff && beacon instanceof Uint16Array) beacon = Uint32Array.from(beacon);
    beacon[k] = number;
  }

  /** When an entry was. @param {number} slot @param {number} k */
  const secondAt = (slot, k) => newest[slot] - age[k];

  /** Forget the oldest second. @param {number} slot */
  function drop(slot) {
    const first = slot * kept;
    const end = first + held[slot];
    for (const array of [age, beacon, rssi, reported]) array.copyWithin(first, first + 1, end);
    for (const array of [likely, share]) array.copyWithin(first * lookaheadRooms, (first + 1) * lookaheadRooms, end * lookaheadRooms);
    held[slot] -= 1;
  }

  /** By how much one room leads another in a second, nats; a room that is not among the likeliest counts as the least likely.
   * @param {number} k @param {number} one @param {number} other */
  function leadAt(k, one, other) {
    let lead = 0;
    for (let n = k * lookaheadRooms; n < (k + 1) * lookaheadRooms && likely[n] >= 0; n += 1) {
      if (likely[n] === one) lead += share[n];
      else if (likely[n] === other) lead -= share[n];
    }
    return lead / PARTS;
  }

  /** Decide the oldest second. @param {number} slot @returns {Decision} */
  function decide(slot) {
    const first = slot * kept;
    const many = held[slot];
    const second = secondAt(slot, first);
    const ms = second * 1000;
    sums.clear();
    for (let k = first; k < first + many; k += 1) {
      for (let n = k * lookaheadRooms; n < (k + 1) * lookaheadRooms && likely[n] >= 0; n += 1) {
        sums.set(likely[n], (sums.get(likely[n]) ?? 0) + share[n] / PARTS);
      }
    }
    let best = -1;
    for (const [one, sum] of sums) if (best < 0 || sum > sums.get(best)) best = one;
    const before = room[slot];
    const enteredMs = sinceMs[slot];
    const needed = neededOf({ sinceMs: enteredMs }, ms, many, settings);
    const changes = best !== before && (before < 0 || leaves(first, many, best, before, needed));
    if (changes) room[slot] = best;
    if (changes && before >= 0) sinceMs[slot] = ms;
    const decision = {
      second, beacon: beacons.idOf(beacon[first]), rssi: rssi[first], reported: reported[first], room: room[slot],
      sinceMs: sinceMs[slot], before: changes ? before : -1, beforeMs: enteredMs,
      sureness: room[slot] === reported[first] ? null : sureLater(room[slot], sums, many),
    };
    drop(slot);
    return decision;
  }

  /**
   * Whether they change the room with the oldest second: the new one leads by enough in the mean, and the old one does not lead by
   * as much in the next second.
   * @param {number} first @param {number} many @param {number} best @param {number} before @param {number} needed nats
   */
  function leaves(first, many, best, before, needed) {
    const lead = (sums.get(best) - (sums.get(before) ?? 0)) / many;
    return lead > needed && leadAt(first + Math.min(1, many - 1), best, before) > -needed;
  }

  return {
    /** Somebody in this slot. @param {number} slot @param {number} [known] the room they are in @param {number} [enteredMs] */
    open(slot, known = -1, enteredMs = 0) {
      if (slot >= held.length) {
        const slots = slotsFor(slot);
        room = longer(room, new Int16Array(slots));
        sinceMs = longer(sinceMs, new Float64Array(slots));
        held = longer(held, new Uint8Array(slots));
        newest = longer(newest, new Uint32Array(slots));
        age = longer(age, new Uint8Array(slots * kept));
        beacon = longer(beacon, beacon instanceof Uint16Array ? new Uint16Array(slots * kept) : new Uint32Array(slots * kept));
        rssi = longer(rssi, new Int8Array(slots * kept));
        reported = longer(reported, new Int16Array(slots * kept));
        likely = longer(likely, new Int16Array(slots * kept * lookaheadRooms));
        share = longer(share, new Uint8Array(slots * kept * lookaheadRooms));
      }
      held[slot] = 0;
      room[slot] = known;
      sinceMs[slot] = enteredMs;
    },
    /** @returns {import('./slots').Arrays} */
    arrays: () => [[room, 1], [sinceMs, 1], [held, 1], [newest, 1], [age, kept], [beacon, kept], [rssi, kept], [reported, kept],
      [likely, kept * lookaheadRooms], [share, kept * lookaheadRooms]],
    /** Ids of the numbers in `beacon`. */
    ids: beacons.all,
    /** The beacons of these slots are numbers of another lookahead. @param {number[]} slots @param {string[]} ids of that one */
    rename(slots, ids) {
      for (const slot of slots) for (let k = slot * kept; k < slot * kept + held[slot]; k += 1) putBeacon(k, ids[beacon[k]]);
    },
    /** The room of history, -1: none yet. @param {number} slot */
    roomOf: (slot) => room[slot],
    /** When it was entered, epoch ms. @param {number} slot */
    sinceOf: (slot) => sinceMs[slot],
    /** It was entered at another time than it seemed. @param {number} slot @param {number} ms */
    correctStayStart(slot, ms) { sinceMs[slot] = ms; },
    /** The last second, -1: none is open. @param {number} slot */
    secondOf: (slot) => (held[slot] > 0 ? newest[slot] : -1),
    /** From when on it is open where somebody was, epoch ms. @param {number} slot */
    openFromMs: (slot) => (held[slot] > 0 ? secondAt(slot, slot * kept) * 1000 : Infinity),
    /** Mean time between the open seconds up to this one, in seconds; 1 where none is open. @param {number} slot @param {number} second */
    gapOf(slot, second) {
      const many = held[slot] - (held[slot] > 0 && newest[slot] === second ? 1 : 0);
      return many > 0 ? (second - secondAt(slot, slot * kept)) / many : 1;
    },
    /**
     * A location of another second, or the last one's of another room.
     * @param {number} slot @param {{second: number, beacon: string, rssi: number, room: number}} location @param {number} ms of
     *   what was heard
     * @param {(decision: Decision) => void} take gets those of the seconds that are old enough by now, each before the next one is made
     */
    add(slot, location, ms, take) {
      if (held[slot] > 0 && newest[slot] === location.second) {
        put(slot * kept + held[slot] - 1, location);
        return;
      }
      while (held[slot] > 0 && secondAt(slot, slot * kept) + lookaheadS < location.second) take(decide(slot));
      const k = slot * kept + held[slot];
      for (let n = slot * kept; n < k; n += 1) age[n] += location.second - newest[slot];
      newest[slot] = location.second;
      age[k] = 0;
      held[slot] += 1;
      if (room[slot] < 0 && held[slot] === 1) sinceMs[slot] = ms;
      put(k, location);
      likely[k * lookaheadRooms] = -1;
    },
    /**
     * How likely each room is at the end of the last second.
     * @param {number} slot @param {{rooms: Int32Array, count: number}} found rooms that are possible at all
     * @param {Float64Array} chances of each room
     */
    note(slot, { rooms, count }, chances) {
      if (held[slot] === 0) return;
      const from = (slot * kept + held[slot] - 1) * lookaheadRooms;
      let many = 0;
      for (let n = 0; n < count; n += 1) {
        const nats = Math.min(255, Math.round(PARTS * (Math.log(chances[rooms[n]] + least) - leastNats)));
        let at = from + Math.min(many, lookaheadRooms - 1);
        if (many === lookaheadRooms && nats <= share[at]) continue;
        for (; at > from && share[at - 1] < nats; at -= 1) {
          likely[at] = likely[at - 1];
          share[at] = share[at - 1];
        }
        likely[at] = rooms[n];
        share[at] = nats;
        many = Math.min(many + 1, lookaheadRooms);
      }
      if (many < lookaheadRooms) likely[from + many] = -1;
    },
    /**
     * Nothing more will be heard for now, or what is heard next says nothing about before.
     * @param {number} slot @param {(decision: Decision) => void} take gets those of all seconds that are left, as above
     */
    finish(slot, take) { while (held[slot] > 0) take(decide(slot)); },
  };
}

const PARTS = 27; // 255 stand for 9.4 nats: a ten-thousandth against certainty

module.exports = { createLookahead };
