// @ts-check
'use strict';

const { createAlertAnswers } = require('./alerts');
const { createAuditAnswers } = require('./audit');
const { createCalibrationAnswers } = require('./calibration');
const { createKeyAnswers } = require('./keys');
const { requestRebuild } = require('../../rebuild');
const { createRecordingAnswers } = require('./recordings');
const { createDeviceAnswers } = require('./devices');
const { createEventAnswers } = require('./events');
const { createEverybody } = require('./everybody');
const { createPlaceAnswers } = require('./places');
const { createStaffAnswers } = require('./staff');
const { createVisitAnswers } = require('./visits');

/**
 * Answers by operationId. Each takes checked parameters and gives the body, in the form of its description.
 * @typedef {object} Context
 * @property {import('../../../site').Site} site
 * @property {import('../../../store').Store} store
 * @property {ReturnType<typeof import('../../../devices/telemetry').createTelemetry>} telemetry
 * @property {import('../../../rebuild').Rebuild} rebuild
 * @property {import('../../../history/known-seed').KnownSeed} knownSeed
 * @property {import('../../../access/keys').Keys} keys
 * @property {Pick<import('../../../access/audit').Audit, 'folder'|'settle'|'adminAction'|'lookedUp'>} audit
 * @property {import('../../../recordings').Recordings} recordings
 * @property {import('../../../alerts').Alerts} alerts
 * @property {import('../../../building/editor').Editor} editor
 * @property {{put: (bytes: Buffer) => Promise<string>}} pictures of the building's plans
 * @property {() => Promise<void>} reload
 * @property {() => number} clock
 * @property {import('../../../coverage').RefuseIncomplete} [refuseIncomplete]
 * @property {import('../../../coverage').RefuseIncomplete} [refuseIncompleteStays]
 * @property {import('../../../coverage').Coverage['completeUntil']} [completeUntil]
 * @typedef {(ask: import('../ask').Ask) => object|Promise<object>} Answer
 */

/** @param {Context} plain @returns {Record<string, Answer>} */
function createAnswers(plain) {
  const context = { ...plain, everybody: createEverybody(plain) };
  return {
    ...createStaffAnswers(context),
    ...createPlaceAnswers(context),
    ...createVisitAnswers(context),
    ...createDeviceAnswers(context),
    ...createEventAnswers(context),
    listRebuilds: () => ({ jobs: context.rebuild.jobs() }),
    requestRebuild: ({ body = {} }) => requestRebuild(context, body),
    ...createAlertAnswers(context),
    ...createKeyAnswers(context),
    ...createAuditAnswers(context),
    ...createRecordingAnswers(context),
    ...createCalibrationAnswers(context),
  };
}

module.exports = { createAnswers };
