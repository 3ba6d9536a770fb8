// @ts-check
'use strict';

const { randomUUID } = require('node:crypto');
const { faultsOf } = require('../../../building');
const { beaconIn } = require('../../../building/ids');
const { CalibrationConflict, calibrated, createCalibrationRunner, isAsWalked } = require('../../../calibration');
const { offsetsInUse } = require('../../../devices/learned');
const { encode } = require('../../../devices/telemetry');
const { compareIds } = require('../../../past/views');
const { RecordingConflict } = require('../../../recordings');
const { ApiError, badRequest } = require('../../../shared/api-error');
const { refused, writeOver } = require('../../building');
const { Encoded } = require('../../encode');
const { KEPT_DAYS, fromStore, notFound, pageById, possible, span } = require('../ask');
const { readPage } = require('../paging');

/**
 * Of beacons and gateways, of recordings of walks and their calibration.
 * @typedef {import('..').Context} Context
 * @typedef {import('../ask').Ask} Ask
 */

const MINUTES_KEPT_DAYS = 400;
const READINGS_KEPT_DAYS = 7;
const VALUES = ['battery_mv', 'temperature_c', 'humidity_pct'];

const NOTHING = { heard_ms: 0, receiver: '', rssi: 0, measured_ms: null, battery_mv: null, temperature_c: null, humidity_pct: null };
const SILENCE = { state: 'unknown', since: null, version: null, health: null, reading_ms: null, readings_per_s: 0 };

/** @param {Context} context @returns {Record<string, import('..').Answer>} */
const createDeviceAnswers = (context) => ({
  ...beaconAnswers(context), ...recordingAnswers(context), ...calibrationAnswers(context),
});

/** @param {Context} context */
function beaconAnswers({ site, store, telemetry, clock }) {
  /** Reads what is learned of devices, and what of it is in use. */
  const learned = () => ({ biasOf: site.devices.learning.bias, offsetOf: offsetsInUse(site, clock()) });

  /** @param {string} id of a registered one */
  function beaconOf(id, { biasOf, offsetOf } = learned()) {
    const building = site.building();
    const { level = null, room = null, x_m = null, y_m = null } = building.beacons.get(id) ?? {};
    const known = site.devices.beacons.of(id);
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
      /** @type {import('../paging').Read<import('../../../store/readings').RawPoint>} */
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
    const { state, since, version, health, reading_ms, readings_per_s } = site.devices.gateways.of(id, clock()) ?? SILENCE;
    return { gateway: id, listed: listed !== undefined, level, room, x_m, y_m, state, since, version, health, reading_ms,
      readings_per_s: Math.round(readings_per_s * 100) / 100, rssi_bias_db: biasOf('gateway', id), learned_offset: offsetOf('gateway', id),
      clock_wrong: site.clocks.of('gateway', id) };
  }

  /** @param {string} id */
  function knownGateway(id) {
    if (!site.building().gateways.has(id) && !site.devices.gateways.of(id, clock())) throw notFound(`gateway ${id}`);
    return id;
  }

  /** @param {Ask} ask */
  function listGateways(ask) {
    const ids = [...new Set([...site.building().gateways.keys(), ...site.devices.gateways.unlisted()])].sort(compareIds);
    const { items, next } = pageById(ids, (id) => id, ask);
    const known = learned();
    return { gateways: items.map((id) => gatewayOf(id, known)), next };
  }

  /**
   * Messages of a gateway, page by page.
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

/**
 * `/api/v1/recordings`: what receivers send about one person while somebody taps the rooms, for admins. That somebody is recorded,
 * and who reads it afterwards, is in the audit log.
 * @typedef {import('../../../recordings').Recordings} Recordings
 * @typedef {import('../../../recordings/recording').Recording} Recording
 */

const ROUTE = '/api/v1/recordings/{recording}';

/** Of the files, where none was given. @param {number} nowMs */
const nameOf = (nowMs) => `walk-${new Date(nowMs).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}`;

/** @param {Context} context @returns {Record<string, import('..').Answer>} */
function recordingAnswers(context) {
  const { audit, clock } = context;

  /** @param {Recording} recording */
  function summary({ taps, ...recording }) {
    return { ...recording, taps_count: taps.length, expires_ms: context.recordings.expiresMs({ taps, ...recording }) };
  }
  /** @param {Recording} recording */
  const answerOf = (recording) => ({ ...summary(recording), taps: recording.taps });
  /** @param {Record<string, string>} params @returns {Recording} */
  function known({ recording = '' }) {
    const found = context.recordings.get(recording);
    if (!found) throw new ApiError(404, `there is no recording ${recording}`);
    return found;
  }
  /** @param {import('../../../access/guard').Caller} caller @param {string} kind @param {Recording} recording */
  const adminAction = (caller, kind, { name, id: its, staff_id: staff }) => audit.adminAction(kind, caller, `${name} (${its}): staff ${staff}`);
  /** @param {import('../../../access/guard').Caller} caller @param {string} route @param {Recording} recording */
  const lookedUp = (caller, route, { staff_id: staff, started_ms: fromMs, stopped_ms: toMs }) =>
    audit.lookedUp(caller, route, staff, fromMs, toMs ?? clock());

  return {
    listRecordings: () => ({ recordings: context.recordings.list().map(summary) }),
    async startRecording({ body = {}, caller, nowMs }) {
      const staffId = String(body.staff_id);
      const building = context.site.building();
      const isKnown = building.staff.has(staffId) || context.site.live.presences().some(({ staff_id: one }) => one === staffId);
      if (!isKnown) throw new ApiError(404, `there is no staff member ${staffId} in the building file, and none is heard`);
      const wanted = { staffId, name: body.name || nameOf(nowMs), by: caller.name };
      const recording = await orConflict(() => context.recordings.start(wanted, building.file));
      await adminAction(caller, 'recording_started', recording);
      return answerOf(recording);
    },
    /** Of one that runs it is the present, which is not written down. */
    async getRecording({ params, caller }) {
      const recording = known(params);
      if (recording.stopped_ms !== null) await lookedUp(caller, ROUTE, recording);
      return answerOf(recording);
    },
    async addTap({ params, body = {} }) {
      const recording = known(params);
      const room = body.room || null; // in none
      if (room !== null && !context.recordings.hasRoom(recording, room)) throw new ApiError(404, `the recording has no room ${room}`);
      const { tap = randomUUID(), age_ms: ageMs } = body;
      await orConflict(() => context.recordings.addTap(recording, { tap, room, ageMs }));
      return answerOf(recording);
    },
    async removeTap({ params }) {
      const recording = known(params);
      await context.recordings.removeTap(recording, params.tap);
      return answerOf(recording);
    },
    async stopRecording({ params, caller }) {
      const recording = known(params);
      if (recording.stopped_ms === null) {
        await context.recordings.stop(recording);
        await adminAction(caller, 'recording_stopped', recording);
      }
      return answerOf(recording);
    },
    async getRecordingFiles({ params, caller }) {
      const recording = known(params);
      const files = await orConflict(() => context.recordings.files(recording));
      await lookedUp(caller, `${ROUTE}/files`, recording);
      return { name: recording.name, files };
    },
    async deleteRecording({ params, caller }) {
      const recording = known(params);
      await context.recordings.erase(recording);
      await adminAction(caller, 'recording_deleted', recording);
      return summary(recording);
    },
  };
}

/**
 * `/api/v1/recordings/{recording}/calibration`: what a walk with known rooms teaches about the devices, and taking it over into the
 * building file, as a version like any other change. For admins; reading it is in the audit log, for it shows where somebody was.
 */

const CALIBRATION_ROUTE = '/api/v1/recordings/{recording}/calibration';

/** @param {Context} context @returns {Record<string, import('..').Answer>} */
function calibrationAnswers(context) {
  const { audit, clock, editor } = context;
  const runner = createCalibrationRunner();

  /** @param {Record<string, string>} params */
  async function walked({ recording: id = '' }) {
    const recording = context.recordings.get(id);
    if (!recording) throw new ApiError(404, `there is no recording ${id}`);
    const building = context.recordings.buildingFor(recording);
    const taps = recording.taps.map(({ tap, ts, room }) => `${tap} ${ts} ${room}`).join(); // these may be mended afterwards
    const calibration = await runner.of(`${id} ${taps}`, () => context.recordings.walk(recording));
    return { recording, building, calibration };
  }

  return {
    getCalibration: ({ params, caller }) => orConflict(async () => {
      const { recording, building, calibration } = await walked(params);
      await audit.lookedUp(caller, CALIBRATION_ROUTE, recording.staff_id, recording.started_ms, recording.stopped_ms ?? clock());
      return { ...calibration, is_as_walked: isAsWalked((await editor.current()).file, building) };
    }),
    applyCalibration: ({ params, caller }) => orConflict(async () => {
      const { building, calibration } = await walked(params);
      const { file, digest, faults } = await editor.current();
      if (faults.length > 0) throw new CalibrationConflict('the building file has faults: mend it first');
      const next = calibrated(file, building, calibration);
      const found = await faultsOf(next);
      if (found.length > 0) throw refused(found);
      return (await writeOver(context, next, digest, { by: caller.name, how: 'calibration', of: null })).body;
    }),
  };
}

/** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
const orConflict = (work) => work().catch((error) => {
  throw error instanceof RecordingConflict || error instanceof CalibrationConflict ? new ApiError(409, error.message) : error;
});

module.exports = { createDeviceAnswers };
