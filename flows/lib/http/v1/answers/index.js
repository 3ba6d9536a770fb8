// @ts-check
'use strict';

const { createDeviceAnswers } = require('./devices');
const { createPeopleAnswers } = require('./people');
const { createSystemAnswers } = require('./system');

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

/** @param {Context} context @returns {Record<string, Answer>} */
const createAnswers = (context) => ({ ...createPeopleAnswers(context), ...createDeviceAnswers(context), ...createSystemAnswers(context) });

module.exports = { createAnswers };
