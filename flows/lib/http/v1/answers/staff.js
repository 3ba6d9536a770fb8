// @ts-check
'use strict';

const { contacts, allStays, compareIds, within } = require('../../../past/views');
const { howSure, isProbable } = require('../../../shared/probable');
const { isSet, pageById, several } = require('../ask');
const { readPage } = require('../pages');
const { DAY_MS, possible } = require('../window');
const { KEPT_DAYS, createWindowFields, fromStore, notFound } = require('./shared');

/**
 * Of staff members.
 * @typedef {import('../ask').Ask} Ask
 * @param {import('.').Context & {everybody: ReturnType<typeof import('./everybody').createEverybody>}} context
 */
function createStaffAnswers(context) {
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

  /** What memory holds completely is not asked of the database. @param {Ask} ask */
  async function listLocations({ params: { staff_id: id, doubtful }, window, after, limit, nowMs, next }) {
    const memoryMs = site.memory.history.completeFrom(id, nowMs);
    const onlyDoubtful = isSet(doubtful);
    /** @type {import('../pages').Read<import('../../../store/people').Placed>} */
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
    /** @type {import('../pages').Read<import('../../../past/views').Stay>} */
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

module.exports = { createStaffAnswers };
