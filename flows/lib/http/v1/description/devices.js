// @ts-check
'use strict';

const {
  COMMON, ID, ID_MESSAGE, STAFF_WRITTEN, answers, count, id, limit, list, ms, next, number, object, orNull, past, query, ref, span, text,
  use, useResponse, whole, window, yes,
} = require('./parts');

const BEACONS = ['Beacons'];
const GATEWAYS = ['Gateways'];
const TYPES = ['enter', 'leave', 'lost', 'crowded', 'gateway_down', 'gateway_up', 'battery_low', 'battery_ok'];

const devicePaths = {
  '/api/v1/beacons': {
    get: {
      operationId: 'listBeacons', tags: BEACONS, 'x-right': 'presence', summary: 'The beacons and tags, with what they last measured',
      parameters: [limit(1000, 10_000), use('cursor')],
      responses: answers('The beacons, by id.', 'BeaconList'),
    },
  },
  '/api/v1/beacons/{beacon}': {
    get: {
      operationId: 'getBeacon', tags: BEACONS, 'x-right': 'presence', summary: 'One beacon or tag, with what it last measured',
      parameters: [use('beacon')],
      responses: answers('The beacon.', 'Beacon', { known: true }),
    },
  },
  '/api/v1/beacons/{beacon}/telemetry': {
    get: {
      operationId: 'listTelemetry', tags: BEACONS, 'x-right': 'presence', summary: 'Battery, temperature and humidity over a time',
      description: 'Raw values are kept for 7 days, those of each minute for 400. A minute is the mean of what each receiver heard in it (its '
        + 'own mean), an hour the mean of its minutes; both are there when they are over, if their beginning lies in the window. What '
        + 'arrives late moves a minute: within a quarter of an hour for the last two hours, within a day for the last seven days.',
      parameters: [use('beacon'), ...window,
        query('every', 'One point for each reading, minute or hour.', { type: 'string', enum: ['raw', 'minute', 'hour'], default: 'minute' }),
        limit(1000, 50_000), use('cursor')],
      responses: answers('The points.', 'Telemetry', { known: true }),
    },
  },
  '/api/v1/gateways': {
    get: {
      operationId: 'listGateways', tags: GATEWAYS, 'x-right': 'presence', summary: 'The gateways, with their state and newest figures',
      description: 'Those of the building file and others from which something came, by id.',
      parameters: [limit(1000, 10_000), use('cursor')],
      responses: answers('The gateways.', 'GatewayList'),
    },
  },
  '/api/v1/gateways/{gateway}': {
    get: {
      operationId: 'getGateway', tags: GATEWAYS, 'x-right': 'presence', summary: 'One gateway, with its state and newest figures',
      parameters: [use('gateway')],
      responses: answers('The gateway.', 'Gateway', { known: true }),
    },
  },
  '/api/v1/gateways/{gateway}/health': {
    get: {
      operationId: 'listGatewayHealth', tags: GATEWAYS, 'x-right': 'presence', summary: 'The figures of a gateway over a time',
      description: 'Oldest first.',
      parameters: [use('gateway'), ...window, limit(1000, 10_000), use('cursor')],
      responses: answers('The figures.', 'HealthPoints', { known: true }),
    },
  },
  '/api/v1/gateways/{gateway}/status': {
    get: {
      operationId: 'listGatewayStatus', tags: GATEWAYS, 'x-right': 'presence', summary: 'When a gateway came and went',
      description: 'Oldest first.',
      parameters: [use('gateway'), ...window, limit(1000, 10_000), use('cursor')],
      responses: answers('What it, or its last will, said.', 'Statuses', { known: true }),
    },
  },
  '/api/v1/events': {
    get: {
      operationId: 'listEvents', tags: ['Events'], 'x-right': 'history', summary: 'What happened',
      description: 'Newest first.',
      parameters: [...window, query('type', 'Only of this type.', { type: 'string', enum: TYPES }),
        query('subject', 'Only about this staff member, room, gateway or beacon.', { type: 'string', pattern: ID.source }),
        limit(25, 1000), use('cursor')],
      responses: answers('The events.', 'Events'),
    },
  },
};

const values = { battery_mv: orNull(number), temperature_c: orNull(number), humidity_pct: orNull(number) };
const place = { level: orNull(id), room: orNull(id), x_m: orNull(number), y_m: orNull(number) };

const deviceSchemas = {
  Beacon: object({
    beacon: id,
    kind: { type: 'string', enum: ['fixed', 'tag'] },
    ...place,
    staff_id: { ...orNull(id), description: 'Who carries it, of a tag.' },
    heard: { ...orNull(ref('Heard')), description: 'When it was heard last, within a day.' },
    measured: { ...orNull(ref('Measured')), description: 'What it measured last, since the start of the flows.' },
    rssi_bias_db: { ...orNull(number), description: 'How much stronger (negative: weaker) than expected phones hear it, dB, a mean over some ten minutes of readings; null: fewer than 300 of them.' },
    learned_offset: { ...orNull(ref('LearnedOffset')), description: 'What is subtracted from its readings; null: nothing.' },
  }),
  LearnedOffset: object({ db: { ...whole, description: 'How much stronger (negative: weaker) than others it is.' },
    since: { ...ms, description: 'Time of the first reading from which it was subtracted.' } }),
  BeaconList: object({ beacons: list(ref('Beacon')), next }),
  Heard: object({ ts: ms, receiver: id, rssi: { ...whole, description: 'dBm' } }),
  Measured: object({ ts: ms, ...values }),
  Telemetry: object({
    beacon: id,
    every: { type: 'string', enum: ['raw', 'minute', 'hour'] },
    ...span,
    columns: { ...list({ type: 'string' }), description: 'What stands where in a point: ts (epoch ms; the beginning of a minute or hour), '
      + 'of raw points the receiver, then battery_mv, temperature_c, humidity_pct.' },
    points: { ...list({ type: 'array', items: { type: ['number', 'string', 'null'] } }), description: 'Oldest first; null: not measured.' },
    next,
  }),
  Gateway: object({
    gateway: id,
    listed: { ...yes, description: 'Whether the building file lists it.' },
    ...place,
    state: { type: 'string', enum: ['online', 'offline', 'silent', 'unknown'],
      description: 'silent: nothing came for a minute, although it did not say goodbye; unknown: nothing has come yet.' },
    since: { ...orNull(ms), description: 'Since when it is in this state, as far as is known.' },
    version: orNull(text),
    health: { ...orNull(ref('Health')), description: 'Its newest figures.' },
    reading_ms: { ...orNull(ms), description: 'When readings of it came last.' },
    readings_per_s: { ...number, minimum: 0 },
    rssi_bias_db: { ...orNull(number), description: 'How much stronger (negative: weaker) than expected it hears people, dB, a mean over some ten minutes of readings; null: fewer than 300 of them.' },
    learned_offset: { ...orNull(ref('LearnedOffset')), description: 'What is subtracted from its readings; null: nothing.' },
    clock_wrong: { ...orNull(ref('ClockWrong')), description: 'Its clock, where it is two seconds off or more; null: it is right, or not known.' },
  }),
  ClockWrong: object({ ahead_ms: { type: 'integer', description: 'How far it is ahead, by what arrives; negative: behind.' },
    since: { ...ms, description: 'When that was noticed.' },
    corrected: { ...yes, description: 'Whether readings are located at the time that it should say; not when it is more than five minutes behind.' } }),
  GatewayList: object({ gateways: list(ref('Gateway')), next }),
  Health: { type: 'object', properties: { ts: ms, version: text }, required: ['ts'], additionalProperties: { type: 'number' },
    description: 'Counters and gauges, as the gateway sends them.' },
  HealthPoints: object({ gateway: id, ...span, points: list(ref('Health')), next }),
  Status: object({ ts: ms, state: { type: 'string', enum: ['online', 'offline', 'removed'] }, version: orNull(text) }),
  Statuses: object({ gateway: id, ...span, statuses: list(ref('Status')), next }),
  Event: object({
    ts: ms,
    type: { type: 'string', enum: ['enter', 'leave', 'lost', 'crowded', 'gateway_down', 'gateway_up', 'battery_low', 'battery_ok'] },
    subject: { ...id, description: 'What it is about: a staff member, room, gateway or beacon.' },
    staff_id: id, gateway: id, beacon: id, level: id, room: id, count, limit: count, reason: text, battery_mv: whole,
  }, ['staff_id', 'gateway', 'beacon', 'level', 'room', 'count', 'limit', 'reason', 'battery_mv']),
  Events: object({ ...past, events: list(ref('Event')), next }),
};

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
  ...COMMON, 404: useResponse('NotFound'), ...errors,
});
const PRESENT = { 409: useResponse('Conflict'), 413: useResponse('TooLarge') };

const recordingPaths = {
  '/api/v1/recordings': {
    get: { operationId: 'listRecordings', tags: TAGS, 'x-right': 'admin', summary: 'The recordings that are kept', responses: answers('The newest first.', 'RecordingList') },
    post: { operationId: 'startRecording', tags: TAGS, 'x-right': 'admin', summary: 'Record what receivers send about one person',
      description: 'One at a time, an hour and 4 MiB at most; kept for 30 days, 20 at most. It is written to the audit log.',
      requestBody: body({ staff_id: STAFF, name: NAME }, ['staff_id']),
      responses: { 201: { description: 'It runs.', content: { 'application/json': { schema: { $ref: '#/components/schemas/Recording' } } } },
        ...COMMON, 404: useResponse('NotFound'), ...PRESENT } },
  },
  '/api/v1/recordings/{recording}': {
    get: { operationId: 'getRecording', tags: TAGS, 'x-right': 'admin', summary: 'One recording with its taps', parameters: [RECORDING],
      responses: answers('How it goes, or went.', 'Recording', { known: true }) },
    delete: { operationId: 'deleteRecording', tags: TAGS, 'x-right': 'admin', summary: 'Delete a recording, running or not', parameters: [RECORDING],
      responses: answered('It is gone.', 'RecordingSummary', { 413: useResponse('TooLarge') }) },
  },
  '/api/v1/recordings/{recording}/taps': {
    post: { operationId: 'addTap', tags: TAGS, 'x-right': 'admin', summary: 'Say in which room the person is from now on', parameters: [RECORDING],
      requestBody: body({ room: ROOM, age_ms: AGE, tap: TAP_ID }, ['room']), responses: answered('With the tap.', 'Recording', PRESENT) },
  },
  '/api/v1/recordings/{recording}/taps/{tap}': {
    delete: { operationId: 'removeTap', tags: TAGS, 'x-right': 'admin', summary: 'Take a tap back', parameters: [RECORDING, TAP],
      responses: answered('Without the tap, whether or not there was one.', 'Recording', { 413: useResponse('TooLarge') }) },
  },
  '/api/v1/recordings/{recording}/stop': {
    post: { operationId: 'stopRecording', tags: TAGS, 'x-right': 'admin', summary: 'End a recording', parameters: [RECORDING],
      responses: answered('It is over, or was before.', 'Recording', { 413: useResponse('TooLarge') }) },
  },
  '/api/v1/recordings/{recording}/calibration': {
    get: { operationId: 'getCalibration', tags: TAGS, 'x-right': 'admin', summary: 'What the walk teaches about the devices', parameters: [RECORDING],
      description: 'Offsets of gateways, power of beacons and of the walker\'s tag, and how many seconds are in the right room before and after. '
        + 'Of one that is over; takes some seconds. Reading it is written to the audit log.',
      responses: { ...answers('What would be changed, and what becomes of the rooms.', 'Calibration', { known: true }), 409: useResponse('Conflict') } },
    post: { operationId: 'applyCalibration', tags: TAGS, 'x-right': 'admin', summary: 'Take over what the walk teaches', parameters: [RECORDING],
      description: 'Into the building file, as a version. 409 where nothing is proposed, or where the building was changed since the walk.',
      responses: answered('It is written.', 'BuildingChange', { 409: useResponse('Conflict'), 412: useResponse('Changed'), 413: useResponse('TooLarge'), 422: useResponse('Faulty') }) },
  },
  '/api/v1/recordings/{recording}/files': {
    get: { operationId: 'getRecordingFiles', tags: TAGS, 'x-right': 'admin', summary: 'The files that `make accuracy DATA=…` reads', parameters: [RECORDING],
      description: 'Of one that is over. Written into one folder they are a set of recordings. Reading them is written to the audit log.',
      responses: { ...answers('Texts by file name.', 'RecordingFiles', { known: true }), 409: useResponse('Conflict') } },
  },
};

const summary = {
  id, name: text, staff_id: id, by: { ...text, description: 'Who started it.' }, started_ms: ms,
  stopped_ms: { ...orNull(ms), description: 'null: it runs.' },
  stopped_because: { type: ['string', 'null'], enum: ['asked', 'time', 'full', null] },
  gateway_readings: { ...count, description: "Of the person's tags, by gateways." }, phone_readings: { ...count, description: "By the person's phone." },
  last_reading_ms: { ...orNull(ms), description: 'When the newest one arrived.' },
  lost_readings: { ...count, description: 'That the disk did not take.' },
  outside_readings: { ...count, description: 'With a time outside the recording: a wrong clock, or a backlog.' },
  bytes: count, taps_count: count, expires_ms: { ...ms, description: 'When it is deleted by itself.' },
};
const tap = object({ tap: id, ts: ms, room: { ...orNull(id), description: 'null: in no room.' } });

const proposal = object({
  kind: { type: 'string', enum: ['gateway', 'beacon', 'staff'] }, id, field: { type: 'string', enum: ['rssi_offset', 'tx', 'tag_tx'] },
  from: { ...orNull(number), description: 'What the building file says; null: nothing.' },
  was: { ...number, description: 'What counted until now.' }, to: number, readings: count, visits: count,
});
const roomScore = object({ room: id, seconds: count, before: count, after: { ...count, description: 'As `left_out`.' } });

const recordingSchemas = {
  Calibration: object({
    verdict: { type: 'string', enum: ['better', 'no_gain', 'too_little'] }, reason: text,
    visits: { ...count, description: 'Of rooms.' }, seconds: { ...count, description: 'In them, which are scored.' },
    before: { ...count, description: 'Seconds in the right room, with the building file of the walk.' },
    left_out: { ...count, description: 'The same for each visit with what the others taught: what to expect of another walk.' },
    same_walk: { ...count, description: 'The same with all that is proposed, on the walk that taught it.' },
    with_plan: { ...orNull(count), description: 'Seconds in the right room without proposals, where the measured plan advises; null: no position is measured.' },
    rooms: list(roomScore), proposals: list(proposal),
    is_as_walked: { ...yes, description: 'Whether the building is as it was when the walk began; else nothing is taken over.' },
  }),
  Recording: object({ ...summary, taps: list(tap) }),
  RecordingSummary: object(summary),
  RecordingList: object({ recordings: list(ref('RecordingSummary')) }),
  RecordingFiles: object({ name: text, files: { type: 'object', additionalProperties: text } }),
};

module.exports = { devicePaths, deviceSchemas, recordingPaths, recordingSchemas };
