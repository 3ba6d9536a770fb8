// @ts-check
'use strict';

const {
  contacts, createRoomRanking, createStaffRanking, createPatrols, occupancy, visits,
  allStays, compareIds, createStayMerge, within,
} = require('../../../past/views');
const { badRequest } = require('../../../shared/api-error');
const { howSure, isProbable } = require('../../../shared/probable');
const { DAY_MS, KEPT_DAYS, createWindowFields, fromStore, isSet, notFound, pageById, possible, several } = require('../ask');
const { readPage } = require('../paging');

/**
 * Of people, and of the rooms and levels they are in.
 * @param {import('..').Context} plain
 * @returns {Record<string, import('..').Answer>}
 */
function createPeopleAnswers(plain) {
  const context = { ...plain, everybody: createEverybody(plain) };
  return { ...staffAnswers(context), ...placeAnswers(context), ...visitAnswers(context) };
}

/**
 * Of staff members.
 * @typedef {import('../ask').Ask} Ask
 * @param {import('..').Context & {everybody: ReturnType<typeof createEverybody>}} context
 */
function staffAnswers(context) {
  const { site, store, clock, everybody, knownSeed, refuseIncomplete = () => {}, refuseIncompleteStays = () => {} } = context;
  const windowFields = createWindowFields(context);

  /**
   * @param {string} id @param {ReturnType<typeof site.live.presences>[number]|undefined} presence
   * @param {{level_db: number|null, level_sd_db: number|null}|null|undefined} learned of their tag or phone
   */
  function about(id, presence, learned) {
    const listed = site.building().staff.get(id);
    return { staff_id: id, name: listed?.name ?? null, listed: listed !== undefined, tags: listed?.tags ?? [],
      presence: presence ? presenceAnswer(presence) : null,
      level_db: round(learned?.level_db), level_sd_db: round(learned?.level_sd_db) };
  }

  /** @param {string} id */
  const presencesOf = (id) => site.live.presences().filter(({ staff_id: one }) => one === id);

  /** Refuse who is neither listed nor here nor in the history. @param {string} id */
  async function mustBeKnown(id) {
    if (site.building().staff.has(id) || presencesOf(id).length > 0 || site.memory.history.between(id, 0, Infinity).length > 0) return;
    if (!await fromStore(store.hasPlaces(id, clock() - KEPT_DAYS * DAY_MS))) throw notFound(`staff member ${id}`);
  }

  /** @param {Ask} ask */
  function listStaff(ask) {
    const present = new Map(site.live.presences().map((presence) => [presence.staff_id, presence]));
    const learnedStrengths = new Map(site.live.learnedStrengths().map((one) => [one.staff_id, one]));
    const ids = [...new Set([...site.building().staff.keys(), ...present.keys()])].sort(compareIds);
    const { items, next } = pageById(ids, (id) => id, ask);
    return { staff: items.map((id) => about(id, present.get(id), learnedStrengths.get(id))), next };
  }

  /** @param {Ask} ask */
  async function getStaff({ params: { staff_id: id } }) {
    await mustBeKnown(id);
    return about(id, presencesOf(id)[0], site.live.trace(id));
  }

  /** @param {Ask} ask */
  async function getTrace({ params: { staff_id: id } }) {
    const trace = site.live.trace(id);
    if (trace) return trace;
    await mustBeKnown(id);
    return { staff_id: id, ts: null, room: null, rooms: [], heard: [], level_db: null, level_sd_db: null, change: null };
  }

  /** Asks the database only for what memory does not hold. @param {Ask} ask */
  async function listLocations({ params: { staff_id: id, doubtful }, window, after, limit, nowMs, next }) {
    const memoryMs = site.memory.history.completeFrom(id, nowMs);
    const onlyDoubtful = isSet(doubtful);
    /** @type {import('../paging').Read<import('../../../store/people').Placed>} */
    const read = async (from, to, count) => {
      const storedTo = Math.min(to, memoryMs);
      const older = from < storedTo ? await fromStore(async () => {
        refuseIncomplete(from, storedTo, [id], nowMs);
        return store.placesOf(id, from, storedTo, count, onlyDoubtful);
      }) : [];
      if (older.length >= count) return older;
      const recent = site.memory.history.between(id, Math.max(from, storedTo), to - 1);
      return [...older, ...(onlyDoubtful ? recent.filter(isDoubtful) : recent)].slice(0, count);
    };
    const { items, last } = await readPage(read, possible(window, nowMs, KEPT_DAYS), after, limit, { ts: ({ ts }) => ts, id: () => '' });
    if (items.length === 0) await mustBeKnown(id);
    return { staff_id: id, ...windowFields(window, [id]), locations: items.map(locationAnswer), next: next(last) };
  }

  /**
   * A stay that began before the window comes first, at its true beginning.
   * @param {Ask} ask @param {{staff: string[]|null, level?: string}} only staff null: everybody
   */
  async function pageOfStays({ window, after, limit, nowMs }, { staff, level }) {
    const { fromMs, toMs } = possible(window, nowMs, KEPT_DAYS);
    const wanted = (/** @type {{staff_id: string, level: string}} */ one) =>
      (staff === null || staff.includes(one.staff_id)) && (level === undefined || one.level === level);
    if (fromMs < toMs) await fromStore(async () => refuseIncompleteStays(fromMs, toMs, staff ?? [], nowMs));
    const [now, recent] = [site.live.openStays().filter(wanted), site.memory.recentStays.list(wanted)];
    /** @type {import('../paging').Read<import('../../../past/views').Stay>} */
    const read = async (from, to, count) => {
      const into = from < fromMs ? await fromStore(store.staysInto(staff, fromMs)) : [];
      const since = Math.max(from, fromMs);
      const found = since < to ? await fromStore(store.staysOf({ staff, level }, since, to, count)) : [];
      return allStays([...into.filter(wanted), ...found], now, recent)
        .filter((stay) => stay.enter_ms >= from && stay.enter_ms < to && within(stay, { fromMs, toMs })).slice(0, count);
    };
    const wide = { fromMs: fromMs < toMs ? fromMs - KEPT_DAYS * DAY_MS : toMs, toMs };
    return readPage(read, wide, after, limit, { ts: ({ enter_ms: ms }) => ms, id: ({ staff_id: id }) => id });
  }

  /** @param {Ask} ask */
  async function listStays(ask) {
    const { params: { staff_id: id }, window, next } = ask;
    const { items, last } = await pageOfStays(ask, { staff: [id] });
    if (items.length === 0) await mustBeKnown(id);
    return { staff_id: id, ...windowFields(window, [id]), stays: items.map(stayAnswer), next: next(last) };
  }

  /** Who is not known has none: among several that is no fault. @param {Ask} ask */
  async function searchStays(ask) {
    const { params: { staff_id: ids, level }, window, next } = ask;
    const { items, last } = await pageOfStays(ask, { staff: ids === undefined ? null : [...new Set(several(ids))], level });
    return { ...windowFields(window, ids === undefined ? null : several(ids)), next: next(last),
      stays: items.map((stay) => ({ staff_id: stay.staff_id, ...stayAnswer(stay) })) };
  }

  /** @param {Ask} ask */
  async function listContacts({ params: { staff_id: id, least_s: leastS }, window, limit, nowMs }) {
    const part = possible(window, nowMs, KEPT_DAYS);
    const stays = part.fromMs < part.toMs ? await everybody.around(id, part) : [];
    if (stays.length === 0) await mustBeKnown(id);
    const all = contacts(stays, id, part, leastS * 1000);
    const { staff } = site.building();
    return { staff_id: id, ...windowFields(window, null), count: all.length,
      contacts: all.slice(0, limit).map(({ staff_id: other, ...rest }) =>
        ({ staff_id: other, name: staff.get(other)?.name ?? null, ...rest })) };
  }

  /** @param {Ask} ask */
  const listKnownPeople = ({ params: { after, wait_ms: waitMs } }) => fromStore(() => knownSeed.since(after, waitMs));

  return { listKnownPeople, listStaff, getStaff, getTrace, listLocations, listStays, searchStays, listContacts };
}

/** @param {number|null} [db] @returns {number|null} to a tenth */
const round = (db) => (typeof db === 'number' ? Math.round(db * 10) / 10 : null);

/** @param {import('../../../locator').Presence} presence */
const presenceAnswer = (presence) => {
  const { level, room, since, ts, state } = presence;
  return { level, room, ...howSure(presence), since, ts, state };
};

/** @param {import('../../../store/people').Placed} location */
const locationAnswer = (location) => {
  const { ts, level, room, beacon, rssi, probability, corrected } = location;
  return { ts, level, room, ...howSure(location), corrected: probability === null ? null : corrected === true, beacon, rssi };
};

/** @param {import('../../../store/people').Placed} location */
const isDoubtful = ({ probability, corrected }) => isProbable(probability) || corrected === true;

/** @param {import('../../../past/views').Stay} stay */
const stayAnswer = ({ level, room, enter_ms, leave_ms, open }) =>
  ({ level, room, enter_ms, leave_ms, duration_s: (leave_ms - enter_ms) / 1000, ongoing: open });

/**
 * Of rooms and levels, now.
 * @param {import('..').Context} context
 */
function placeAnswers({ site }) {
  const now = () => occupancy(site.building(), site.live.presences());

  /** @param {import('../../../building').Level} level @param {ReturnType<typeof now>} rooms */
  const headOf = ({ id, name, width_m, height_m }, rooms) =>
    ({ level: id, name, width_m, height_m, count: rooms.reduce((sum, { count }) => sum + count, 0) });

  function listLevels() {
    const rooms = now();
    return { levels: site.building().levels.map((level) => {
      const inside = rooms.filter((room) => room.level === level.id);
      return { ...headOf(level, inside), rooms: inside.map(({ room }) => room) };
    }) };
  }

  /** @param {Ask} ask */
  function getLevel({ params: { level: id } }) {
    const level = site.building().levels.find((one) => one.id === id);
    if (!level) throw notFound(`level ${id}`);
    const rooms = now().filter((room) => room.level === id);
    return { ...headOf(level, rooms), rooms };
  }

  /** @param {Ask} ask */
  function listRooms(ask) {
    const { level } = ask.params;
    const rooms = now().filter((room) => level === undefined || room.level === level).sort((a, b) => compareIds(a.room, b.room));
    const { items, next } = pageById(rooms, ({ room }) => room, ask);
    return { rooms: items, next };
  }

  /** @param {Ask} ask */
  function getRoom({ params: { room: id } }) {
    const building = site.building();
    const listed = building.rooms.get(id);
    const room = now().find((one) => one.room === id);
    if (!room) throw notFound(building.formerRooms.has(id) ? `room ${id} any more; its visits are still there` : `room ${id}`);
    return { ...room, listed: listed !== undefined, polygon: listed?.polygon ?? null };
  }

  return { listLevels, getLevel, listRooms, getRoom };
}

/**
 * Answers about rooms from stays: visits, patrols, rankings.
 * @param {import('..').Context & {everybody: ReturnType<typeof createEverybody>}} context
 */
function visitAnswers({ site, store, everybody, refuseIncompleteStays = () => {}, ...context }) {
  const windowFields = createWindowFields(context);

  /** @param {Ask} ask */
  async function listVisits({ params: { room }, window, after, limit, nowMs, next }) {
    const building = site.building();
    if (!building.rooms.has(room) && !building.formerRooms.has(room)) throw notFound(`room ${room}`);
    const { fromMs, toMs } = possible(window, nowMs, KEPT_DAYS);
    if (fromMs < toMs) await fromStore(async () => refuseIncompleteStays(fromMs, toMs, [], nowMs));
    const isThere = (/** @type {{room: string}} */ one) => one.room === room;
    const [now, recent] = [site.live.openStays().filter(isThere), site.memory.recentStays.list(isThere)];
    /** @type {import('../paging').Read<import('../../../past/views').Stay>} */
    const read = async (from, to, count) => {
      const since = Math.max(from, fromMs);
      const found = since < to ? await fromStore(store.staysIn(room, since, to, count)) : [];
      if (from < fromMs && found.length < count) { // the last ones are those who were there already
        found.push(...(await fromStore(store.staysInto(null, fromMs))).filter(isThere));
      }
      return allStays(found, now, recent).filter((stay) => stay.enter_ms >= from && stay.enter_ms < to && within(stay, { fromMs, toMs }))
        .reverse().slice(0, count);
    };
    const wide = { fromMs: fromMs < toMs ? fromMs - KEPT_DAYS * DAY_MS : toMs, toMs };
    const order = { ts: (/** @type {any} */ stay) => stay.enter_ms, id: (/** @type {any} */ stay) => stay.staff_id, newestFirst: true };
    const { items, last } = await readPage(read, wide, after, limit, order);
    return { room, name: building.roomName(room), ...windowFields(window, null), visits: visits(items, room, { fromMs, toMs }),
      next: next(last) };
  }

  /** @param {Ask} ask */
  async function listPatrols({ params: { level, least_s: leastS }, window, nowMs }) {
    const part = possible(window, nowMs, KEPT_DAYS);
    const patrols = createPatrols(leastS * 1000, part);
    await everybody.each(part, patrols.add);
    const rows = patrols.rows(site.building(), Math.min(part.toMs, nowMs));
    return { ...windowFields(window, null), patrols: rows.filter((row) => level === undefined || row.level === level) };
  }

  /** @param {Ask} ask */
  async function rankRooms({ params: { by }, window, limit, nowMs }) {
    const part = possible(window, nowMs, KEPT_DAYS);
    const ranking = createRoomRanking(part);
    await everybody.each(part, ranking.add);
    const { roomName } = site.building();
    return { ...windowFields(window, null), rooms: ranking.top(by, limit).map((row) => ({ ...row, name: roomName(row.room) })) };
  }

  /** @param {Ask} ask */
  async function rankStaff({ params: { by }, window, limit, nowMs }) {
    const part = possible(window, nowMs, KEPT_DAYS);
    const ranking = createStaffRanking(part);
    await everybody.each(part, ranking.add);
    const { staff } = site.building();
    return { ...windowFields(window, null),
      staff: ranking.top(by, limit).map((row) => ({ ...row, name: staff.get(row.staff_id)?.name ?? null })) };
  }

  return { listVisits, listPatrols, rankRooms, rankStaff };
}

/**
 * Questions about the stays of everybody, taken in pieces, so that the live path keeps its pace.
 * @typedef {import('../../../past/views').Stay} Stay
 * @typedef {import('../ask').Window} Window
 */

/** Stays that may lie in memory for one answer. */
const MAX_STAYS = 50_000;

/** @param {import('..').Context} context */
function createEverybody({ site, store, clock, refuseIncompleteStays = () => {} }) {
  /**
   * Every stay that touches a window, in no order.
   * @param {Window} window @param {(stay: Stay) => void} add
   */
  const each = ({ fromMs, toMs }, add) => fromStore(async () => {
    if (fromMs >= toMs) return;
    refuseIncompleteStays(fromMs, toMs, [], clock()); // whose backlog is late does not keep all the others waiting
    const merge = createStayMerge(site.live.openStays(), site.memory.recentStays.list(({ enter_ms: ms }) => ms < toMs));
    const take = (/** @type {import('../../../past/views').StoredStay} */ one) => {
      const stay = merge.take(one);
      if (stay) add(stay);
    };
    (await store.staysInto(null, fromMs)).forEach(take);
    for await (const stays of store.everyStay(null, fromMs, toMs)) stays.forEach(take);
    merge.rest().forEach((stay) => { if (within(stay, { fromMs, toMs })) add(stay); });
  });

  /**
   * The stays of somebody and of all who were in the same rooms.
   * @param {string} staffId @param {Window} window
   * @returns {Promise<Stay[]>}
   */
  const around = (staffId, { fromMs, toMs }) => fromStore(async () => {
    refuseIncompleteStays(fromMs, toMs, [staffId], clock());
    const presences = site.live.openStays();
    const recent = site.memory.recentStays.list(({ enter_ms: ms }) => ms < toMs);
    const staff = [staffId];
    const found = [...await store.staysInto(staff, fromMs), ...await store.staysOf({ staff }, fromMs, toMs, MAX_STAYS)];
    const isTheirs = (/** @type {{staff_id: string}} */ one) => one.staff_id === staffId;
    const own = allStays(found, presences.filter(isTheirs), recent.filter(isTheirs)).filter((stay) => within(stay, { fromMs, toMs }));
    if (own.length === 0) return [];
    const rooms = new Set(own.map(({ room }) => room));
    const all = (await store.staysInto(null, fromMs)).filter(({ room }) => rooms.has(room));
    for await (const stays of store.everyStay([...rooms], fromMs, toMs)) {
      if (all.length + stays.length > MAX_STAYS) {
        throw badRequest(`more than ${MAX_STAYS} stays lie in these rooms in this time: ask for it in parts`);
      }
      all.push(...stays);
    }
    return allStays(all, presences.filter(({ room }) => rooms.has(room)), recent.filter(({ room }) => rooms.has(room)));
  });

  return { each, around };
}

module.exports = { createPeopleAnswers };
