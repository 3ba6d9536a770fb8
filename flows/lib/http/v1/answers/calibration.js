// @ts-check
'use strict';

const { faultsOf } = require('../../../building');
const { calibrated, createCalibrationRunner, CalibrationConflict, isAsWalked } = require('../../../calibration');
const { RecordingConflict } = require('../../../recordings');
const { refused, writeOver } = require('../../building');
const { ApiError } = require('../../../shared/api-error');

/**
 * `/api/v1/recordings/{recording}/calibration`: what a walk with known rooms teaches about the devices, and taking it over into the
 * building file, as a version like any other change. For admins; reading it is in the audit log, for it shows where somebody was.
 * @typedef {Pick<import('../../building').Context, 'editor'|'reload'|'site'> & {recordings: import('../../../recordings').Recordings,
 *   clock: () => number, audit: Pick<import('../../../access/audit').Audit, 'lookedUp'>}} Context
 */

const ROUTE = '/api/v1/recordings/{recording}/calibration';

/** @param {Context} context @returns {Record<string, import('.').Answer>} */
function createCalibrationAnswers(context) {
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
    getCalibration: ({ params, caller }) => possible(async () => {
      const { recording, building, calibration } = await walked(params);
      await audit.lookedUp(caller, ROUTE, recording.staff_id, recording.started_ms, recording.stopped_ms ?? clock());
      return { ...calibration, is_as_walked: isAsWalked((await editor.current()).file, building) };
    }),
    applyCalibration: ({ params, caller }) => possible(async () => {
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
const possible = (work) => work().catch((error) => {
  throw error instanceof RecordingConflict || error instanceof CalibrationConflict ? new ApiError(409, error.message) : error;
});

module.exports = { createCalibrationAnswers };
