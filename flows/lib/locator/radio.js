// @ts-check
'use strict';

const { isDeepStrictEqual } = require('node:util');
const { loudestOf, UNHEARD_DBM } = require('./loudest');
const { reachOf, sourceOf } = require('./source');

/**
 * What all fixed beacons and gateways (sources) should be heard like. Pure.
 * @typedef {import('./source').Device} Device
 * @typedef {import('./source').Source} Source
 * @typedef {import('./loudest').Loudest} Loudest
 * @typedef {object} Radio
 * @property {Source[]} sources
 * @property {Map<string, number>} beacons index into sources by id
 * @property {Map<string, number>} gateways
 * @property {{phone: Loudest, gateway: Loudest}} loudest
 * @property {Int16Array} leastDbm of each source: what is weaker is not reported
 */

/**
 * @param {Pick<import('../building').Building, 'beacons'|'gateways'>} devices
 * @param {import('./model').Levels} building
 * @param {import('./model').Model|null} before with the same settings
 * @returns {import('../shared/pieces').Work<Radio>} that of before if nothing is different
 */
function* radioOf({ beacons, gateways }, building, before) {
  const { plan, cells, settings } = building;
  const scratch = new Float32Array(cells.all.length).fill(settings.weakestDbm);
  const roomIndex = new Map(plan.rooms.map(({ id }, r) => [id, r]));
  const stays = before ? createStays(building, before) : () => null;
  /** @type {Source[]} */
  const sources = [];
  /** @param {Map<string, Device>} list @param {Map<string, number>|undefined} known where those of before are */
  function* add(list, known) {
    const index = new Map();
    for (const device of list.values()) {
      index.set(device.id, sources.length);
      const old = before?.radio.sources[known?.get(device.id) ?? -1];
      const room = roomIndex.get(device.room) ?? -1;
      const same = isDeepStrictEqual(old?.device, device) ? stays(/** @type {Source} */ (old), room) : null;
      sources.push(same ?? (yield* sourceOf(device, room, building, scratch)));
      yield;
    }
    return index;
  }
  const beaconIndex = yield* add(beacons, before?.radio.beacons);
  const gatewayIndex = yield* add(gateways, before?.radio.gateways);
  const same = before?.cells === cells && before.radio.beacons.size === beaconIndex.size
    && sources.length === before.radio.sources.length && sources.every((source, k) => source === before.radio.sources[k]);
  if (same) return before.radio;
  const leastDbm = new Int16Array(sources.length).fill(UNHEARD_DBM);
  for (const [id, source] of gatewayIndex) leastDbm[source] = gateways.get(id)?.min_rssi ?? UNHEARD_DBM;
  const phone = yield* loudestOf([...beaconIndex.values()], sources, building);
  const gateway = yield* loudestOf([...gatewayIndex.values()], sources, building);
  return { sources, beacons: beaconIndex, gateways: gatewayIndex, leastDbm, loudest: { phone, gateway } };
}

/**
 * Sources of before, as far as no level where they are heard is different; cells may have other indices.
 * @param {import('./model').Levels} building @param {import('./model').Model} before
 * @returns {(old: Source, room: number) => Source|null}
 */
function createStays({ plan, cells, levels }, before) {
  const shifts = levels.map((_, storey) => {
    const [lowest, above] = reachOf(storey, levels.length);
    const was = before.levels.indexOf(levels[storey]);
    const [lowestWas, aboveWas] = reachOf(was, before.levels.length);
    const stayed = was >= 0 && lowest - storey === lowestWas - was && above - storey === aboveWas - was
      && levels.slice(lowest, above).every((level, k) => level === before.levels[lowestWas + k]);
    return stayed ? cells.firstOf[lowest] - before.cells.firstOf[lowestWas] : NaN;
  });
  return (old, room) => {
    const shift = shifts[plan.levels.indexOf(old.device.level)];
    if (Number.isNaN(shift)) return null;
    if (shift === 0 && old.room === room) return old;
    const near = old.near.map((cell) => cell + shift);
    return { ...old, room, near, from: old.from + shift, to: old.to + shift, first: old.first + shift };
  };
}

module.exports = { radioOf };
