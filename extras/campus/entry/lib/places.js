// @ts-check
'use strict';

const { ApiError, badRequest, compareIds, pageById } = require('./core');
const { answersOf, listsOf, spanOf } = require('./questions');

/**
 * What `/api/v1/rooms…` answers of all sites, by operation. A room is at one site; two buildings may give theirs the same id.
 * @typedef {import('./questions').Work} Work
 */

const ROOMS = '/api/v1/rooms';

/** @param {string} id */
const pathOf = (id) => `${ROOMS}/${encodeURIComponent(id)}`;

/** Rooms in the order of their ids, then of the sites' names: a blank comes before all that an id may have. @param {any} room */
const keyOf = ({ room, site }) => `${room} ${site}`;

/**
 * Rooms of several sites. Everybody is in one place, that of the newest sighting, as in `/api/v1/staff`.
 * @param {{site: string, items: any[]}[]} lists in the order of campus.toml, all rooms of each site
 * @returns {any[]} by id, then by site
 */
function roomsOf(lists) {
  /** @type {Map<string, {ts: number, site: string}>} by staff id */
  const newest = new Map();
  for (const { site, items } of lists) {
    for (const { staff_id: id, ts } of items.flatMap(({ people }) => people)) {
      if (ts > (newest.get(id)?.ts ?? -1)) newest.set(id, { ts, site });
    }
  }
  return lists.flatMap(({ site, items }) => items.map((room) => {
    const people = room.people.filter((/** @type {any} */ { staff_id: id }) => newest.get(id)?.site === site);
    return { ...room, count: people.length, crowded: room.limit !== null && people.length > room.limit, people, site };
  })).sort((a, b) => compareIds(keyOf(a), keyOf(b)));
}

/** All rooms of each site that is asked. @param {Work} work */
const allRooms = async (work) => roomsOf(await listsOf(work, ROOMS, 'rooms'));

/**
 * The one site that has a room.
 * @template {{site: string, isKnown: boolean}} T
 * @param {T[]} parts @param {string} id of the room
 * @returns {T}
 * @throws {ApiError} 404 where there is none, 400 where there are several
 */
function theOne(parts, id) {
  const [found, ...more] = parts.filter(({ isKnown }) => isKnown);
  if (!found) throw new ApiError(404, `there is no room ${id}`);
  if (more.length === 0) return found;
  throw badRequest(`there is a room ${id} at several sites: add ${[found, ...more].map(({ site }) => `site=${site}`).join(' or ')}`);
}

/** @type {Record<string, (work: Work) => Promise<object>>} */
const PLACE_ANSWERS = {
  async listRooms(work) {
    const { level } = work.ask.params;
    const rooms = (await allRooms(work)).filter((room) => level === undefined || room.level === level);
    const { items, next } = pageById(rooms, keyOf, work.ask);
    return { rooms: items, next };
  },

  async getRoom(work) {
    const { room: id } = work.ask.params;
    const [parts, rooms] = await Promise.all([answersOf(work, pathOf(id), (data) => ({ data })), allRooms(work)]);
    const { data, site } = theOne(parts, id);
    return { ...data, ...rooms.find((one) => one.room === id && one.site === site), site };
  },

  /** Of one site, which pages by itself. */
  async listVisits(work) {
    const { params: { room: id }, window, after, limit, next } = work.ask;
    const [only, cursor] = after ? JSON.parse(after.id) : [work.ask.params.site];
    const query = new URLSearchParams({ ...spanOf(window), limit: String(limit), ...(cursor === undefined ? {} : { cursor }) });
    const { data, site } = theOne(await answersOf({ ...work, only }, `${pathOf(id)}/visits?${query}`, (visits) => ({ data: visits })), id);
    return { ...data, site, next: next(data.next && { ts: 0, id: JSON.stringify([site, data.next]), same: 0 }) };
  },
};

module.exports = { PLACE_ANSWERS, roomsOf };
