// @ts-check
'use strict';

const { occupancy, compareIds } = require('../../../past/views');
const { pageById } = require('../ask');
const { notFound } = require('./shared');

/**
 * Of rooms and levels, now.
 * @typedef {import('../ask').Ask} Ask
 * @param {import('.').Context} context
 */
function createPlaceAnswers({ site }) {
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

module.exports = { createPlaceAnswers };
