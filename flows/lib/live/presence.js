// @ts-check
'use strict';

const { DEFAULTS: { lostMs } } = require('../locator');
const { presenceMessage } = require('../broker/messages');
const { createStateFile } = require('../shared/state-file');

/**
 * Consequences of who is where: who is lost or left the building file, which rooms are crowded, who is played by a simulator.
 * @typedef {import('../locator').Presence} Presence
 * @typedef {import('../building').Building} Building
 * @typedef {object} Now what is known
 * @property {Presence[]} presences
 * @property {boolean} isRecovering
 * @property {Building} building
 * @property {number} startedMs
 */

/** After a start it takes some seconds until somebody who is here is known to be. */
const SETTLED_MS = 60_000;
/** Comparing takes some milliseconds with 10,000 people. */
const CHECK_MS = 5000;
/** Of who is not in the file, `lost` is kept this long in memory: a shift. */
const LOST_KEPT_MS = 12 * 3_600_000;
/** A room counts as emptied only after this long at or below its limit: people step out of a door and back. */
const REARM_MS = 30_000;
/** A person no longer counts as simulated after a real receiver hears them, or after 60 s without readings. As `lost` in the contract. */
const PLAYED_MS = 60_000;

/**
 * The published presence of each person, compared with the known one: nobody stays `present` whose room is gone, and of who left the
 * building file nothing stays retained at the broker. It holds over restarts, also for who left the file while the flows were stopped.
 */
class PublishedPresences {
  #broker;
  #stateFile;
  /** By staff id, as it was published last. @type {Map<string, Presence>} */
  #published = new Map();
  /** People of a building file whose location is retained. @type {Set<string>} */
  #listed;
  /** Since when nothing is known of somebody who was published to be here, epoch ms. @type {Map<string, number>} */
  #missing = new Map();
  /** People whose location was taken off. @type {Set<string>} */
  #gone = new Set();
  #checkedMs = -Infinity;
  #changed = false;

  /**
   * @param {{bus: import('../events').EventBus, broker: import('../broker').Broker, file?: string|null,
   *   warn?: (text: string) => void}} deps
   *   file: over restarts; null: in memory alone
   */
  constructor({ bus, broker, file = null, warn = () => {} }) {
    this.#broker = broker;
    this.#stateFile = createStateFile(file, warn);
    this.#listed = new Set(idsOf(this.#stateFile.read()));
    bus.on('presence', (presences) => {
      for (const presence of presences) {
        this.#published.set(presence.staff_id, presence);
        this.#gone.delete(presence.staff_id);
      }
    });
    bus.on('reconnect', (nowMs) => { // the broker may have forgotten them
      for (const presence of this.#published.values()) broker.outbox.put(presenceMessage(presence), nowMs);
    });
  }

  /**
   * Publish who is lost, and take off what is retained of who left; about once a second.
   * @param {Now} now @param {number} nowMs
   * @returns {{ts: number, type: 'lost', staff_id: string, level: string, room: string}[]} events
   */
  takeBack(now, nowMs) {
    const { lost, left } = this.#compare(now, nowMs);
    this.#broker.results.add('presence', lost);
    for (const id of left) this.#broker.clearPresence(id, nowMs);
    return lost.map(({ staff_id: id, level, room }) => ({ ts: nowMs, type: 'lost', staff_id: id, level, room }));
  }

  /** Everybody, as it was published last, but who has been lost for longer than a shift. @param {number} nowMs */
  recent(nowMs) {
    return [...this.#published.values()].filter(({ state, ts }) => state !== 'lost' || nowMs - ts <= LOST_KEPT_MS);
  }

  /** Whether somebody's location was taken off. @param {string} id */
  isGone(id) {
    return this.#gone.has(id);
  }

  /** @returns {Promise<unknown>} when it is written */
  settled() {
    return this.#stateFile.settled();
  }

  /**
   * Compare, every few seconds.
   * @param {Now} now @param {number} nowMs
   * @returns {{lost: Presence[], left: string[]}} ids of people whose retained location is to be taken off
   */
  #compare({ presences, isRecovering, building, startedMs }, nowMs) {
    if (nowMs - this.#checkedMs < CHECK_MS) return { lost: [], left: [] };
    this.#checkedMs = nowMs;
    const known = new Set(presences.map(({ staff_id: id }) => id));
    const isSettled = !isRecovering && nowMs - startedMs > SETTLED_MS;
    this.#keep(building, nowMs);
    const found = { lost: this.#lostNow(known, nowMs), left: isSettled ? this.#leave(known, building.staff) : [] };
    if (this.#changed) void this.#stateFile.write({ v: 1, listed: [...this.#listed] });
    this.#changed = false;
    return found;
  }

  /** @param {Building} building @param {number} nowMs */
  #keep({ staff }, nowMs) {
    for (const [id, { state, ts }] of this.#published) {
      if (staff.has(id) && !this.#listed.has(id)) {
        this.#listed.add(id);
        this.#changed = true;
      } else if (!staff.has(id) && !this.#listed.has(id) && state === 'lost' && nowMs - ts > LOST_KEPT_MS) this.#published.delete(id);
    }
  }

  /** Who is published to be here, and is nowhere in the building. @param {Set<string>} known @param {number} nowMs */
  #lostNow(known, nowMs) {
    /** @type {Presence[]} */
    const lost = [];
    for (const [id, presence] of this.#published) {
      if (presence.state === 'lost' || known.has(id)) this.#missing.delete(id);
      else if (!this.#missing.has(id)) this.#missing.set(id, nowMs);
      else if (nowMs - Number(this.#missing.get(id)) >= lostMs) lost.push({ ...presence, state: 'lost' });
    }
    return lost;
  }

  /** Who left the file, and of whom nothing is known any more. @param {Set<string>} known @param {ReadonlyMap<string, unknown>} staff */
  #leave(known, staff) {
    const isLost = (/** @type {string} */ id) => (this.#published.get(id)?.state ?? 'lost') === 'lost';
    const left = [...this.#listed].filter((id) => !staff.has(id) && !known.has(id) && isLost(id));
    for (const id of left) {
      this.#listed.delete(id);
      this.#published.delete(id);
      this.#gone.add(id);
      this.#changed = true;
    }
    return left;
  }
}

/** @param {any} state of the file @returns {string[]} */
const idsOf = (state) => (Array.isArray(state?.listed) ? state.listed.filter((/** @type {unknown} */ id) => typeof id === 'string') : []);

/**
 * Reports a room with more people than its `limit`, once for each time it gets crowded.
 * @typedef {{ts: number, type: 'crowded', level: string, room: string, count: number, limit: number}} CrowdedEvent
 *   ts: our clock, when it was noticed
 */
class Crowding {
  /** Rooms already reported; the value: since when they are at or below their limit. @type {Map<string, number|null>} */
  #reported = new Map();

  /**
   * Compare headcounts with limits; about once a second. Who is `stale` still counts, who is `lost` does not.
   * @param {Presence[]} presences
   * @param {Building} building
   * @param {number} nowMs
   * @returns {CrowdedEvent[]}
   */
  tick(presences, building, nowMs) {
    const counts = headcount(presences);
    /** @type {CrowdedEvent[]} */
    const events = [];
    for (const [room, count] of counts) {
      const { limit, level = '' } = building.rooms.get(room) ?? {};
      if (limit === undefined || count <= limit) continue;
      if (!this.#reported.has(room)) events.push({ ts: nowMs, type: 'crowded', level, room, count, limit });
      this.#reported.set(room, null);
    }
    for (const [room, belowMs] of this.#reported) {
      const limit = building.rooms.get(room)?.limit;
      if (limit === undefined) this.#reported.delete(room);
      else if ((counts.get(room) ?? 0) > limit) continue;
      else if (belowMs === null) this.#reported.set(room, nowMs);
      else if (nowMs - belowMs >= REARM_MS) this.#reported.delete(room);
    }
    return events;
  }
}

/** @param {Presence[]} presences @returns {Map<string, number>} by room id */
function headcount(presences) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { room, state } of presences) if (state !== 'lost') counts.set(room, (counts.get(room) ?? 0) + 1);
  return counts;
}

/** People that a simulator plays: its batches say so (`simulated`), so that nobody takes the demo's people for real ones. */
class Simulated {
  /** When somebody was heard last in a batch of a simulator. @type {Map<string, number>} by staff id */
  #played = new Map();

  /** @param {import('./readings').Batch} batch @param {Building} building @param {number} nowMs */
  hear({ kind, receiver, readings, simulated }, building, nowMs) {
    if (!simulated && this.#played.size === 0) return;
    const people = kind === 'phone' ? [receiver] : readings.map(({ beacon }) => building.tagOwner.get(beacon));
    for (const id of people) {
      if (id === undefined) continue;
      if (simulated) this.#played.set(id, nowMs);
      else this.#played.delete(id);
    }
  }

  /** How many are played at present, wherever they are. @param {number} nowMs */
  playing(nowMs) {
    for (const [id, ms] of this.#played) if (nowMs - ms > PLAYED_MS) this.#played.delete(id);
    return this.#played.size;
  }

  /** How many of those who are present are played. @param {{staff_id: string, state: string}[]} presences @param {number} nowMs */
  count(presences, nowMs) {
    if (this.playing(nowMs) === 0) return 0;
    return presences.filter(({ staff_id: id, state }) => state !== 'lost' && this.#played.has(id)).length;
  }
}

module.exports = { PublishedPresences, Crowding, Simulated, CHECK_MS, REARM_MS };
