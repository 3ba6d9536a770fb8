// @ts-check
'use strict';

const { ID, ID_MESSAGE, STAFF_WRITTEN } = require('../parameters');
const { answers, COMMON, use } = require('../responses');

/** Recordings with known rooms, for admins. */

const TAGS = ['Recordings'];
const RECORDING = { name: 'recording', in: 'path', required: true, description: 'Its id.', schema: { type: 'string', pattern: '^[0-9a-f]{12}$' } };
const TAP = { name: 'tap', in: 'path', required: true, description: 'Its id.', schema: { type: 'string', pattern: ID.source } };
const NAME = { type: 'string', pattern: '^([A-Za-z0-9][A-Za-z0-9_-]{0,63})?$', description: 'Of the files; empty: the time.',
  'x-message': 'must be 1 to 64 letters, digits, "_" or "-": it becomes the name of files' };
const STAFF = { ...STAFF_WRITTEN, description: 'Who walks.' };
const ROOM = { type: ['string', 'null'], anyOf: [{ pattern: ID.source }, { const: '' }], description: 'Where the person is from now on; empty: in no room.',
  'x-message': ID_MESSAGE };
const AGE = { type: 'integer', minimum: 0, maximum: 3_600_000, default: 0, description: 'So long ago it was tapped, ms: for a phone that was offline.' };
const TAP_ID = { type: 'string', pattern: ID.source, 'x-message': ID_MESSAGE,
  description: 'An id of the caller\'s choice: the same tap sent again is no second one.' };

/** @param {object} properties @param {string[]} required */
const body = (properties, required) => {
  const media = { schema: { type: 'object', properties, required } };
  return { required: true, content: { 'application/json': media, 'application/x-www-form-urlencoded': media } };
};
/** @param {string} description @param {string} schema @param {object} [errors] */
const answered = (description, schema, errors = {}) => ({
  200: { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } },
  ...COMMON, 404: use('NotFound'), ...errors,
});
const PRESENT = { 409: use('Conflict'), 413: use('TooLarge') };

module.exports = {
  '/api/v1/recordings': {
    get: { operationId: 'listRecordings', tags: TAGS, 'x-right': 'admin', summary: 'The recordings that are kept', responses: answers('The newest first.', 'RecordingList') },
    post: { operationId: 'startRecording', tags: TAGS, 'x-right': 'admin', summary: 'Record what receivers send about one person',
      description: 'One at a time, an hour and 4 MiB at most; kept for 30 days, 20 at most. It is written to the audit log.',
      requestBody: body({ staff_id: STAFF, name: NAME }, ['staff_id']),
      responses: { 201: { description: 'It runs.', content: { 'application/json': { schema: { $ref: '#/components/schemas/Recording' } } } },
        ...COMMON, 404: use('NotFound'), ...PRESENT } },
  },
  '/api/v1/recordings/{recording}': {
    get: { operationId: 'getRecording', tags: TAGS, 'x-right': 'admin', summary: 'One recording with its taps', parameters: [RECORDING],
      responses: answers('How it goes, or went.', 'Recording', { known: true }) },
    delete: { operationId: 'deleteRecording', tags: TAGS, 'x-right': 'admin', summary: 'Delete a recording, running or not', parameters: [RECORDING],
      responses: answered('It is gone.', 'RecordingSummary', { 413: use('TooLarge') }) },
  },
  '/api/v1/recordings/{recording}/taps': {
    post: { operationId: 'addTap', tags: TAGS, 'x-right': 'admin', summary: 'Say in which room the person is from now on', parameters: [RECORDING],
      requestBody: body({ room: ROOM, age_ms: AGE, tap: TAP_ID }, ['room']), responses: answered('With the tap.', 'Recording', PRESENT) },
  },
  '/api/v1/recordings/{recording}/taps/{tap}': {
    delete: { operationId: 'removeTap', tags: TAGS, 'x-right': 'admin', summary: 'Take a tap back', parameters: [RECORDING, TAP],
      responses: answered('Without the tap, whether or not there was one.', 'Recording', { 413: use('TooLarge') }) },
  },
  '/api/v1/recordings/{recording}/stop': {
    post: { operationId: 'stopRecording', tags: TAGS, 'x-right': 'admin', summary: 'End a recording', parameters: [RECORDING],
      responses: answered('It is over, or was before.', 'Recording', { 413: use('TooLarge') }) },
  },
  '/api/v1/recordings/{recording}/calibration': {
    get: { operationId: 'getCalibration', tags: TAGS, 'x-right': 'admin', summary: 'What the walk teaches about the devices', parameters: [RECORDING],
      description: 'Offsets of gateways, power of beacons and of the walker\'s tag, and how many seconds are in the right room before and after. '
        + 'Of one that is over; takes some seconds. Reading it is written to the audit log.',
      responses: { ...answers('What would be changed, and what becomes of the rooms.', 'Calibration', { known: true }), 409: use('Conflict') } },
    post: { operationId: 'applyCalibration', tags: TAGS, 'x-right': 'admin', summary: 'Take over what the walk teaches', parameters: [RECORDING],
      description: 'Into the building file, as a version. 409 where nothing is proposed, or where the building was changed since the walk.',
      responses: answered('It is written.', 'BuildingChange', { 409: use('Conflict'), 412: use('Changed'), 413: use('TooLarge'), 422: use('Faulty') }) },
  },
  '/api/v1/recordings/{recording}/files': {
    get: { operationId: 'getRecordingFiles', tags: TAGS, 'x-right': 'admin', summary: 'The files that `make accuracy DATA=…` reads', parameters: [RECORDING],
      description: 'Of one that is over. Written into one folder they are a set of recordings. Reading them is written to the audit log.',
      responses: { ...answers('Texts by file name.', 'RecordingFiles', { known: true }), 409: use('Conflict') } },
  },
};
