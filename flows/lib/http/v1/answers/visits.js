// @ts-check
'use strict';

const { createRoomRanking, createStaffRanking, createPatrols, visits, allStays, within } = require('../../../past/views');
const { readPage } = require('../pages');
const { DAY_MS, possible } = require('../window');
const { KEPT_DAYS, createWindowFields, fromStore, notFound } = require('./shared');

/**
 * What stays say about rooms: visits, patrols, rankings.
 * @typedef {import('../ask').Ask} Ask
 * @param {import('.').Context & {everybody: ReturnType<typeof import('./everybody').createEverybody>}} context
 */
function createVisitAnswers({ site, store, everybody, refuseIncompleteStays = () => {}, ...context }) {
  const windowFields = createWindowFields(context);

  /** @param {Ask} ask */
  async function listVisits({ params: { room }, window, after, limit, nowMs, next }) {
    const building = site.building();
    if (!building.rooms.has(room) && !building.formerRooms.has(room)) throw notFound(`room ${room}`);
    const { fromMs, toMs } = possible(window, nowMs, KEPT_DAYS);
    if (fromMs < toMs) await fromStore(async () => refuseIncompleteStays(fromMs, toMs, [], nowMs));
    const isThere = (/** @type {{room: string}} */ one) => one.room === room;
    const [now, recent] = [site.live.openStays().filter(isThere), site.memory.recentStays.list(isThere)];
    /** @type {import('../pages').Read<import('../../../past/views').Stay>} */
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

module.exports = { createVisitAnswers };
