// @ts-check
'use strict';

const { randomUUID } = require('node:crypto');
const { RecordingConflict } = require('../../../recordings');
const { ApiError } = require('../../../shared/api-error');

/**
 * `/api/v1/recordings`: what receivers send about one person while somebody taps the rooms, for admins. That somebody is recorded,
 * and who reads it afterwards, is in the audit log.
 * @typedef {import('../../../recordings').Recordings} Recordings
 * @typedef {import('../../../recordings/recording').Recording} Recording
 * @typedef {{recordings: Recordings, site: import('../../../site').Site, clock: () => number,
 *   audit: Pick<import('../../../access/audit').Audit, 'adminAction'|'lookedUp'>}} Context
 */

const ROUTE = '/api/v1/recordings/{recording}';

/** Of the files, where none was given. @param {number} nowMs */
const nameOf = (nowMs) => `walk-${new Date(nowMs).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}`;

/** @template T @param {Promise<T>} work @returns {Promise<T>} */
const possible = (work) => work.catch((error) => {
  throw error instanceof RecordingConflict ? new ApiError(409, error.message) : error;
});

/** @param {Context} context @returns {Record<string, import('.').Answer>} */
function createRecordingAnswers(context) {
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
      const isKnown = building.staff.has(staffId) || context.site.presences().some(({ staff_id: one }) => one === staffId);
      if (!isKnown) throw new ApiError(404, `there is no staff member ${staffId} in the building file, and none is heard`);
      const wanted = { staffId, name: body.name || nameOf(nowMs), by: caller.name };
      const recording = await possible(context.recordings.start(wanted, building.file));
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
      await possible(context.recordings.addTap(recording, { tap, room, ageMs }));
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
      const files = await possible(context.recordings.files(recording));
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

module.exports = { createRecordingAnswers };
