// @ts-check
'use strict';

const { offsetsInUse } = require('../../../devices/learned/offsets-in-use');
const { beaconIn } = require('../../../building/ids');
const { encode } = require('../../../devices/telemetry/day');
const { compareIds } = require('../../../history/views/stays');
const { badRequest } = require('../../errors');
const { pageById } = require('../ask');
const { readPage } = require('../pages');
const { Encoded } = require('../send');
const { possible } = require('../window');
const { KEPT_DAYS, fromStore, notFound, span } = require('./shared');

/**
 * Of beacons and gateways.
 * @typedef {import('../ask').Ask} Ask
 */

const MINUTES_KEPT_DAYS = 400;
const READINGS_KEPT_DAYS = 7;
const VALUES = ['battery_mv', 'temperature_c', 'humidity_pct'];

const NOTHING = { heard_ms: 0, receiver: '', rssi: 0, measured_ms: null, battery_mv: null, temperature_c: null, humidity_pct: null };
const SILENCE = { state: 'unknown', since: null, version: null, health: null, reading_ms: null, readings_per_s: 0 };

/** @param {import('.').Context} context */
function createDeviceAnswers({ site, store, telemetry, clock }) {
  /** What is learned of devices, and what of it is in use. */
  const learned = () => ({ biasOf: site.learning.bias, offsetOf: offsetsInUse(site, clock()) });

  /** @param {string} id of a registered one */
  function beaconOf(id, { biasOf, offsetOf } = learned()) {
    const building = site.building();
    const { level = null, room = null, x_m = null, y_m = null } = building.beacons.get(id) ?? {};
    const known = site.beacons.of(id);
    const { heard_ms, receiver, rssi, measured_ms, battery_mv, temperature_c, humidity_pct } = known ?? NOTHING;
    return { beacon: id, kind: building.beacons.has(id) ? 'fixed' : 'tag', level, room, x_m, y_m, staff_id: building.tagOwner.get(id) ?? null,
      heard: known && heard_ms > 0 ? { ts: heard_ms, receiver, rssi } : null,
      measured: known && measured_ms !== null ? { ts: measured_ms, battery_mv, temperature_c, humidity_pct } : null,
      rssi_bias_db: biasOf('beacon', id), learned_offset: offsetOf('beacon', id) };
  }

  /** @param {string} written @returns {string} id of a registered one */
  function registered(written) {
    const { beacon: id, reason } = beaconIn(site.building(), written);
    if (id === null) throw badRequest(`beacon ${reason}`);
    if (!site.building().isRegistered(id)) throw notFound(`beacon ${id} in the building file`);
    return id;
  }

  /** @param {Ask} ask */
  function listBeacons(ask) {
    const { beacons, tagOwner } = site.building();
    const { items, next } = pageById([...beacons.keys(), ...tagOwner.keys()].sort(compareIds), (id) => id, ask);
    const known = learned();
    return { beacons: items.map((id) => beaconOf(id, known)), next };
  }

  /** @param {Ask} ask */
  async function listTelemetry(ask) {
    const { params: { every, beacon: written }, window, after, limit, nowMs, next } = ask;
    const beacon = registered(written);
    const head = { beacon, every, ...span(window), columns: ['ts', ...(every === 'raw' ? ['receiver'] : []), ...VALUES] };
    if (every === 'raw') {
      const part = possible(window, nowMs, READINGS_KEPT_DAYS);
      /** @type {import('../pages').Read<import('../../../store/telemetry').RawPoint>} */
      const read = (from, to, count) => fromStore(store.rawPoints(beacon, from, to, count));
      const { items, last } = await readPage(read, part, after, limit, { ts: ([ts]) => ts, id: ([, receiver]) => receiver });
      return bodyOf(head, [Buffer.from(items.map((point) => `,${encode(point)}`).join(''))], next(last));
    }
    const { fromMs, toMs } = possible(window, nowMs, MINUTES_KEPT_DAYS);
    const from = after ? Math.max(fromMs, after.ts + 1) : fromMs;
    const { texts, lastMs, digest } = await fromStore((every === 'hour' ? telemetry.hours : telemetry.minutes)(beacon, from, toMs, limit));
    const cursor = next(lastMs === null ? null : { ts: lastMs, id: '', same: 0 });
    return new Encoded(() => bodyOf(head, texts, cursor), `"${digest}.${window.fromMs}.${window.toMs}.${limit}"`);
  }

  /** @param {string} id */
  function gatewayOf(id, { biasOf, offsetOf } = learned()) {
    const listed = site.building().gateways.get(id);
    const { level = null, room = null, x_m = null, y_m = null } = listed ?? {};
    const { state, since, version, health, reading_ms, readings_per_s } = site.gateways.of(id, clock()) ?? SILENCE;
    return { gateway: id, listed: listed !== undefined, level, room, x_m, y_m, state, since, version, health, reading_ms,
      readings_per_s: Math.round(readings_per_s * 100) / 100, rssi_bias_db: biasOf('gateway', id), learned_offset: offsetOf('gateway', id),
      clock_wrong: site.clocks.of('gateway', id) };
  }

  /** @param {string} id */
  function knownGateway(id) {
    if (!site.building().gateways.has(id) && !site.gateways.of(id, clock())) throw notFound(`gateway ${id}`);
    return id;
  }

  /** @param {Ask} ask */
  function listGateways(ask) {
    const ids = [...new Set([...site.building().gateways.keys(), ...site.gateways.unlisted()])].sort(compareIds);
    const { items, next } = pageById(ids, (id) => id, ask);
    const known = learned();
    return { gateways: items.map((id) => gatewayOf(id, known)), next };
  }

  /**
   * What a gateway said, page by page.
   * @param {Ask} ask @param {string} name
   * @param {(gateway: string, fromMs: number, toMs: number, count: number) => Promise<{ts: number}[]>} read
   */
  async function said({ params, window, after, limit, nowMs, next }, name, read) {
    const gateway = knownGateway(params.gateway);
    const { items, last } = await readPage((from, to, count) => fromStore(read(gateway, from, to, count)),
      possible(window, nowMs, KEPT_DAYS), after, limit, { ts: ({ ts }) => ts, id: () => '' });
    return { gateway, ...span(window), [name]: items, next: next(last) };
  }

  return {
    listBeacons,
    getBeacon: (/** @type {Ask} */ { params }) => beaconOf(registered(params.beacon)),
    listTelemetry,
    listGateways,
    getGateway: (/** @type {Ask} */ { params }) => gatewayOf(knownGateway(params.gateway)),
    listGatewayHealth: (/** @type {Ask} */ ask) => said(ask, 'points', store.figuresOf),
    listGatewayStatus: (/** @type {Ask} */ ask) => said(ask, 'statuses', store.statusesOf),
  };
}

/** @param {object} head @param {Buffer[]} texts of points, a comma before each @param {string|null} next */
function bodyOf(head, texts, next) {
  const points = Buffer.concat(texts);
  const before = `${JSON.stringify(head).slice(0, -1)},"points":[`;
  return Buffer.concat([Buffer.from(before), points.subarray(1), Buffer.from(`],"next":${JSON.stringify(next)}}`)]);
}

module.exports = { createDeviceAnswers };
