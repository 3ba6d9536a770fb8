// @ts-check
'use strict';

const WARNINGS_SHOWN = 50;

/**
 * The building as pages draw it; sent once, and again after a change.
 * @param {import('../building').Building} building
 */
function buildingView({ digest, name, levels, gateways, staff, warnings }) {
  const all = [...gateways.values()];
  return {
    digest,
    name,
    levels: levels.map((level) => ({
      id: level.id,
      name: level.name,
      width_m: level.width_m,
      height_m: level.height_m,
      /** name of the plan picture; null: none */
      plan: level.plan ?? null,
      schematic: level.schematic === true,
      rooms: level.rooms.map(({ id, name: roomName, kind = 'room', limit = null, polygon, open_edges }) => (
        { id, name: roomName, kind, limit, polygon, open_edges })),
      gateways: all.filter((gateway) => gateway.level === level.id).map(({ id, room, x_m, y_m }) => ({ id, room, x_m, y_m })),
    })),
    /** names by id */
    staff: Object.fromEntries([...staff.values()].map((person) => [person.id, person.name])),
    /** what an earlier version took and a new edit may not bring */
    warnings: { count: warnings.length, first: warnings.slice(0, WARNINGS_SHOWN) },
  };
}

module.exports = { buildingView };
