// @ts-check
'use strict';

const { createHash } = require('node:crypto');
const { inOneGo } = require('../shared/pieces');
const { createPlan } = require('./plan');

/**
 * What a locator needs of a building: rooms and fixed devices (sources), each by a number. A number stays the same in all
 * buildings of a locator and of those that take a model over from it, so people need no translation when the building changes.
 * @typedef {import('../building').Building} Building
 * @typedef {import('../building').Beacon|import('../building').Gateway} Device
 * @typedef {{number: number, id: string, level: string, storey: number, polygon: [number, number][], devices: {phone: number[],
 *   gateway: number[]}}} Room
 *   devices: sources that stand there: beacons, which phones hear, and gateways, which hear tags
 * @typedef {{number: number, id: string, kind: 'beacon'|'gateway', device: Device, room: number, storey: number, measured: boolean,
 *   powerDb: number, offsetDb: number, leastDbm: number, graceS: number, covers: number[]}} Source measured: its position is
 *   known; graceS: its silence says nothing for so long after a reading; powerDb: how much stronger than the default; offsetDb: added to
 *   what a gateway measures;
 *   leastDbm: what is weaker does not count; covers: rooms without a device that count to it
 * @typedef {{rooms: Map<string, number>, sources: Map<string, number>, tags: Map<string, number>}} Numbers by key
 * @typedef {object} Model
 * @property {Numbers} numbers
 * @property {(Room|undefined)[]} rooms by number
 * @property {(Source|undefined)[]} sources by number
 * @property {Map<string, number>} beacons number by id
 * @property {Map<string, number>} gateways number by id
 * @property {Map<string, number>} tags number by id
 * @property {string[]} owners who carries a tag, by its number
 * @property {Float64Array} tagDb how much stronger than the default a tag is, dB, by its number
 * @property {import('./plan').Plan|null} plan null: no device has a measured position
 * @property {string} digest of all that locates anybody
 */

/** @param {Map<string, number>} numbers @param {string} key */
function numberOf(numbers, key) {
  const known = numbers.get(key);
  if (known !== undefined) return known;
  numbers.set(key, numbers.size);
  return numbers.size - 1;
}

/**
 * In pieces: a building may have thousands of rooms and devices.
 * @param {Building} building
 * @param {import('./settings').Settings} settings
 * @param {Numbers} [numbers] of buildings before
 * @returns {import('../shared/pieces').Work<Model>}
 */
function* modelOf(building, settings, numbers = { rooms: new Map(), sources: new Map(), tags: new Map() }) {
  /** @type {(Room|undefined)[]} */
  const rooms = [];
  const roomOf = new Map();
  // numbers decide between equals, so they must not depend on the order of the building's lists
  for (const key of building.levels.flatMap(({ id, rooms: its }) => its.map((room) => `${id}/${room.id}`)).sort()) numberOf(numbers.rooms, key);
  yield;
  for (const [storey, { id: level, rooms: its }] of building.levels.entries()) {
    for (const { id, polygon } of its) {
      const number = numberOf(numbers.rooms, `${level}/${id}`);
      rooms[number] = { number, id, level, storey, polygon, devices: { phone: [], gateway: [] } };
      roomOf.set(id, number);
    }
    yield;
  }
  const schematic = new Set(building.levels.filter((level) => level.schematic).map(({ id }) => id));
  /** @type {(Source|undefined)[]} */
  const sources = [];
  /** @param {'beacon'|'gateway'} kind @param {ReadonlyMap<string, Device>} devices @returns {Map<string, number>} */
  const add = (kind, devices) => new Map([...devices.values()].sort(byId).map((device) => {
    const number = numberOf(numbers.sources, `${kind} ${device.id}`);
    const room = roomOf.get(device.room) ?? -1;
    const windowMs = Math.max(settings.windowMs, 'window_ms' in device ? device.window_ms ?? 0 : 0);
    sources[number] = {
      number, id: device.id, kind, device, room, storey: rooms[room]?.storey ?? 0,
      measured: !device.approximate && !schematic.has(device.level),
      powerDb: powerDb('tx' in device ? device.tx : undefined, settings), offsetDb: 'rssi_offset' in device ? device.rssi_offset ?? 0 : 0,
      leastDbm: 'min_rssi' in device ? device.min_rssi ?? -Infinity : -Infinity, graceS: kind === 'gateway' ? windowMs / 1000 : 0,
      covers: (device.covers ?? []).flatMap((id) => roomOf.get(id) ?? []),
    };
    rooms[room]?.devices[kind === 'gateway' ? 'gateway' : 'phone'].push(number);
    return [device.id, number];
  }));
  const beacons = add('beacon', building.beacons);
  yield;
  const gateways = add('gateway', building.gateways);
  yield;
  const tags = new Map([...building.tagOwner.keys()].sort().map((id) => [id, numberOf(numbers.tags, id)]));
  /** @type {string[]} */
  const owners = [];
  const tagDb = new Float64Array(numbers.tags.size);
  /** @type {object[]} */
  const carried = [];
  for (const [id, number] of tags) {
    const owner = /** @type {string} */ (building.tagOwner.get(id));
    const tx = building.staff.get(owner)?.tag_tx;
    owners[number] = owner;
    tagDb[number] = powerDb(tx, settings);
    carried.push({ owner, tx, id });
  }
  const isMeasured = sources.some((source) => source?.measured);
  const plan = isMeasured ? createPlan(rooms, sources, settings) : null;
  const digest = yield* digestOf(settings, rooms, sources, carried);
  return { numbers, rooms, sources, beacons, gateways, tags, owners, tagDb, plan, digest };
}

/**
 * By how much a reading is lowered for the power of its transmitter, as the building has it. What a transmitter says of its own power
 * (`tx` of a reading) is nobody's measurement: it locates nobody and teaches nothing.
 * @param {number|undefined} known dBm at 1 m @param {import('./settings').Settings} settings
 */
const powerDb = (known, { txDbm }) => (known === undefined ? 0 : known - txDbm);

/** @param {{id: string}} one @param {{id: string}} other */
const byId = ({ id: one }, { id: other }) => (one < other ? -1 : 1);

/**
 * The same for the same content, whatever its order and numbers; the device of a source names its rooms.
 * @param {import('./settings').Settings} settings @param {(Room|undefined)[]} rooms @param {(Source|undefined)[]} sources
 * @param {object[]} tags @returns {import('../shared/pieces').Work<string>}
 */
function* digestOf(settings, rooms, sources, tags) {
  const content = [
    ...rooms.flatMap((room) => (room ? [{ ...room, number: 0, devices: null }] : [])),
    ...sources.flatMap((source) => (source ? [{ ...source, number: 0, room: 0, covers: null }] : [])),
    ...tags,
  ];
  const texts = [];
  for (let n = 0; n < content.length; n += 1) {
    texts.push(JSON.stringify(content[n]));
    if (n % PIECE === 0) yield;
  }
  const hash = createHash('sha256').update(JSON.stringify([FORMAT, settings]));
  yield;
  texts.sort();
  for (let n = 0; n < texts.length; n += 1) {
    hash.update(texts[n]);
    if (n % PIECE === 0) yield;
  }
  return hash.digest('hex');
}

/** Between two breaks. */
const PIECE = 500;

/** To be counted up when what is saved of people means something else. */
const FORMAT = 6;

/**
 * All that the level of a device depends on; what was learned of it holds for this place only.
 * @param {Pick<Device, 'level'|'room'|'x_m'|'y_m'> & {tx?: number, rssi_offset?: number}} device
 */
const placementKey = ({ level, room, x_m: x, y_m: y, tx, rssi_offset: offset }) => [level, room, x, y, tx ?? '', offset ?? ''].join(' ');

/**
 * As `modelOf`, at once.
 * @param {Building} building @param {import('./settings').Settings} settings @param {Numbers} [numbers]
 */
const createModel = (building, settings, numbers) => inOneGo(modelOf(building, settings, numbers));

module.exports = { createModel, modelOf, placementKey };
