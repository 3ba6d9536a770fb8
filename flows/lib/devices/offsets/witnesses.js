// @ts-check
'use strict';

/**
 * What people's readings said about each gateway and beacon, by place: a mean for each square of a room. Bounded, however long it
 * goes on.
 * @typedef {import('../../locator').OffsetSample} OffsetSample
 * @typedef {import('./estimate').Spot} Spot
 * @typedef {{kind: 'gateway'|'beacon', id: string, place: string, spots: Map<string, Spot>}} Witnessed
 * @typedef {{devices: {kind: 'gateway'|'beacon', id: string, place: string, spots: [string, ...number[]][]}[], people: number,
 *   quarters: number[]}} Kept in the file, which names nobody
 */

const SQUARE_M = 3; // a shadow ends after so much
const SPOTS = 64; // of a device; the mean of so many is sure to a decibel
const READINGS = 200; // of a spot count at most, so that the mean follows what changes
const PEOPLE = 20; // more make no difference
const QUARTERS = 400;
const QUARTER_MS = 15 * 60_000;
const NAMES = /** @type {const} */ (['readings', 'off_db', 'distance_db', 'through_db']);

function createWitnesses() {
  /** @type {Map<string, Witnessed>} */
  let devices = new Map();
  /** @type {Set<string>} */
  let people = new Set();
  let peopleBefore = 0;
  /** Quarters of an hour in which somebody was heard. @type {Set<number>} */
  let quarters = new Set();

  /** @param {OffsetSample} sample */
  function note({ staff_id: staffId, ms, room, x_m: x, y_m: y, devices: heard }) {
    if (heard.length < 2) return; // one alone says nothing about differences
    if (people.size < PEOPLE) people.add(staffId);
    if (quarters.size < QUARTERS) quarters.add(Math.floor(ms / QUARTER_MS));
    const where = `${room} ${Math.floor(x / SQUARE_M)} ${Math.floor(y / SQUARE_M)}`;
    for (const { kind, id, place, ...values } of heard) add(deviceAt(kind, id, place), where, values);
  }

  /** What stands at another place now begins anew. @param {Witnessed['kind']} kind @param {string} id @param {string} place */
  function deviceAt(kind, id, place) {
    const key = `${kind} ${id}`;
    let device = devices.get(key);
    if (device?.place !== place) devices.set(key, device = { kind, id, place, spots: new Map() });
    return device;
  }

  return {
    note,
    /** @returns {Iterable<[key: string, device: Witnessed]>} */
    all: () => devices,
    /** How many, as far as is known. */
    people: () => Math.max(people.size, peopleBefore),
    hours: () => (quarters.size * QUARTER_MS) / 3_600_000,
    clear() {
      devices = new Map();
      people = new Set();
      peopleBefore = 0;
      quarters = new Set();
    },
    /** @returns {Kept} */
    save: () => ({
      devices: [...devices.values()].map(({ spots, ...device }) => (
        { ...device, spots: [...spots].map(([where, spot]) => [where, ...NAMES.map((name) => Math.round(spot[name] * 100) / 100)]) })),
      people: Math.max(people.size, peopleBefore),
      quarters: [...quarters],
    }),
    /** @param {Kept} kept @throws {TypeError} where it is damaged */
    restore(kept) {
      devices = new Map(kept.devices.map(({ spots, ...device }) => [`${device.kind} ${device.id}`,
        { ...device, spots: new Map(spots.map(([where, ...values]) => [where, spotOf(values)])) }]));
      peopleBefore = Number(kept.people);
      quarters = new Set(kept.quarters);
    },
  };
}

/** @param {Witnessed} device @param {string} where @param {Omit<Spot, 'readings'>} values */
function add({ spots }, where, values) {
  let spot = spots.get(where);
  if (!spot) {
    if (spots.size >= SPOTS) return;
    spots.set(where, spot = { readings: 0, off_db: 0, distance_db: 0, through_db: 0 });
  }
  spot.readings = Math.min(READINGS, spot.readings + 1);
  for (const name of /** @type {const} */ (['off_db', 'distance_db', 'through_db'])) spot[name] += (values[name] - spot[name]) / spot.readings;
}

/** @param {number[]} values @returns {Spot} */
function spotOf(values) {
  if (values.length !== NAMES.length || !values.every(Number.isFinite)) throw new TypeError('a place has no numbers');
  const [readings = 0, off = 0, distance = 0, through = 0] = values;
  return { readings, off_db: off, distance_db: distance, through_db: through };
}

module.exports = { createWitnesses };
