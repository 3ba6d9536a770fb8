// @ts-check
'use strict';

/** Readable names for alert texts. @typedef {import('../../building').Building} Building */

/** @param {Building} building @param {string|undefined} room id @param {string|undefined} [level] id */
function placeName(building, room, level = building.rooms.get(room ?? '')?.level) {
  if (room === undefined) return 'an unknown place';
  const name = building.levels.find(({ id }) => id === level)?.name ?? level;
  return name === undefined ? building.roomName(room) : `${building.roomName(room)} (${name})`;
}

/** @param {Building} building @param {string} id */
function staffName(building, id) {
  const name = building.staff.get(id)?.name;
  return name === undefined ? `SDA ${id}` : `${name} (SDA ${id})`;
}

module.exports = { placeName, staffName };
