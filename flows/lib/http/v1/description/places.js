// @ts-check
'use strict';

const {
  COMMON, NOT_MODIFIED, answers, count, id, limit, list, ms, next, number, object, orNull, past, ref, seconds, text, use, useResponse,
  whole, window, yes,
} = require('./parts');

const TAG = ['Rooms and levels'];

const placePaths = {
  '/api/v1/levels': {
    get: {
      operationId: 'listLevels', tags: TAG, 'x-right': 'presence', summary: 'The levels, with how many people are there now',
      responses: answers('The levels, in the order of the building file.', 'LevelList'),
    },
  },
  '/api/v1/levels/{level}': {
    get: {
      operationId: 'getLevel', tags: TAG, 'x-right': 'presence', summary: 'One level, with who is in its rooms now',
      parameters: [use('level_id')],
      responses: answers('The level.', 'LevelNow', { known: true }),
    },
  },
  '/api/v1/rooms': {
    get: {
      operationId: 'listRooms', tags: TAG, 'x-right': 'presence', summary: 'The rooms, with who is in them now',
      description: 'By id. Who is stale still counts, who is lost does not.',
      parameters: [use('level'), limit(1000, 10_000), use('cursor')],
      responses: answers('The rooms.', 'RoomList'),
    },
  },
  '/api/v1/rooms/{room}': {
    get: {
      operationId: 'getRoom', tags: TAG, 'x-right': 'presence', summary: 'One room, with who is in it now',
      parameters: [use('room')],
      responses: answers('The room.', 'RoomDetail', { known: true }),
    },
  },
  '/api/v1/rooms/{room}/visits': {
    get: {
      operationId: 'listVisits', tags: TAG, 'x-right': 'history', summary: 'The visits of a room that touch a time',
      description: 'The latest to enter first. Who leaves and comes back has visited twice.',
      parameters: [use('room'), ...window, limit(1000, 10_000), use('cursor')],
      responses: answers('The visits.', 'Visits', { known: true }),
    },
  },
  '/api/v1/patrols': {
    get: {
      operationId: 'listPatrols', tags: TAG, 'x-right': 'history', summary: 'When each room was last patrolled, and who did',
      description: 'The latest moment of the window at which anybody was in the room who stayed for at least `least_s`; `null`: nobody.',
      parameters: [...window, use('level'), use('least_s')],
      responses: answers('Every room, in the order of the building file.', 'Patrols'),
    },
  },
  '/api/v1/rankings/rooms': {
    get: {
      operationId: 'rankRooms', tags: ['Rankings'], 'x-right': 'history', summary: 'The rooms with the most visits or the most time',
      parameters: [...window, use('by'), limit(10, 1000)],
      responses: answers('The rooms.', 'RoomRanking'),
    },
  },
  '/api/v1/rankings/staff': {
    get: {
      operationId: 'rankStaff', tags: ['Rankings'], 'x-right': 'history', summary: 'The staff members with the most visits or the most time',
      parameters: [...window, use('by'), limit(10, 1000)],
      responses: answers('The staff members.', 'StaffRanking'),
    },
  },
};

const level = { level: id, name: text, width_m: number, height_m: number, count: { ...count, description: 'People there now.' } };
const room = {
  level: id, room: id, name: text, limit: { ...orNull(count), description: 'More people are crowded.' },
  count: { ...count, description: 'People there now.' }, crowded: yes, people: list(ref('Here')),
};

const placeSchemas = {
  Level: object({ ...level, rooms: list(id) }),
  LevelList: object({ levels: list(ref('Level')) }),
  LevelNow: object({ ...level, rooms: list(ref('Room')) }),
  Room: object(room),
  RoomList: object({ rooms: list(ref('Room')), next }),
  RoomDetail: object({ ...room,
    listed: { ...yes, description: 'Whether the building file still has this room.' },
    polygon: { ...orNull(list(list(number))), description: 'Corners [x, y] in metres on its level.' } }),
  Visit: object({ staff_id: id, enter_ms: ms, leave_ms: ms, duration_s: seconds, ongoing: yes,
    in_window_s: { ...seconds, description: 'Of it within the window, seconds.' } }),
  Visits: object({ room: id, name: text, ...past, visits: list(ref('Visit')), next }),
  Patrol: object({ level: id, room: id, name: text, last_ms: orNull(ms), staff_id: orNull(id), ongoing: yes,
    age_s: { ...orNull(seconds), description: 'From then to the end of the window, seconds.' } }),
  Patrols: object({ ...past, patrols: list(ref('Patrol')) }),
  RoomRank: object({ level: id, room: id, name: text, visits: count, time_s: { ...seconds, description: 'Person-seconds.' },
    staff: { ...count, description: 'Different people.' } }),
  RoomRanking: object({ ...past, rooms: list(ref('RoomRank')) }),
};

/** The building with its versions, strangers, who is asking: routed by `lib/http/building.js`. */

const BUILDING = ['Building'];
const LOOK = ['presence', 'admin'];

/** @param {string} description @param {string} schema @param {string[]} errors names of responses, by status */
const answered = (description, schema, errors = []) => ({
  200: { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } },
  ...COMMON, ...Object.fromEntries(errors.map((status) => [status, ERRORS[status]])),
});
/** @type {Record<string, object>} */
const ERRORS = {
  404: useResponse('NotFound'), 412: useResponse('Changed'), 413: useResponse('TooLarge'), 422: useResponse('Faulty'), 428: useResponse('NoIfMatch'),
};
const ETAG = { ETag: { description: 'Of the building; the next change sends it as `If-Match`.', schema: { type: 'string' } } };
/** @param {any} responses */
const tagged = (responses) => ({ ...responses, 200: { ...responses[200], headers: ETAG } });

const IF_MATCH = { name: 'If-Match', in: 'header', required: true,
  description: 'The ETag of the building that this is a change of, several with commas between them, or `*`: of whatever building there is.',
  schema: { type: 'string', pattern: '^(\\*|(W/)?"[0-9a-f]{32}"(, ?(W/)?"[0-9a-f]{32}")*)$' } };
const VERSION = { name: 'version', in: 'path', required: true, schema: { type: 'integer', minimum: 1, maximum: 999_999_999 } };
const file = { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Building' } } } };
const OF_LIST = [{ ...IF_MATCH, required: false, description: `${IF_MATCH.description} Needed unless it is a dry run.` },
  { name: 'dry_run', in: 'query', description: '`1`: only say what would be.', schema: { type: 'string', enum: ['0', '1', 'true', 'false'] } }];
const LIST = { required: true, content: { 'text/csv': { schema: { type: 'string' } } } };
const CHANGED = ['412', '413', '422', '428'];

const buildingPaths = {
  '/api/v1/building': {
    get: { operationId: 'getBuilding', tags: BUILDING, 'x-right': LOOK, summary: 'The building file', responses: { 304: NOT_MODIFIED, ...tagged(answered('The file, with its ETag.', 'Building')) } },
    put: { operationId: 'replaceBuilding', tags: BUILDING, 'x-right': 'admin', summary: 'Replace the building file', parameters: [IF_MATCH], requestBody: file,
      responses: tagged(answered('It is written, and in use unless something else says so.', 'BuildingChange', CHANGED)) },
  },
  '/api/v1/building/validate': {
    post: { operationId: 'validateBuilding', tags: BUILDING, 'x-right': 'admin', summary: 'Check a building file', requestBody: file,
      responses: answered('What is wrong with it.', 'BuildingCheck', ['413']) },
  },
  '/api/v1/building/import': {
    post: { operationId: 'importBeacons', tags: BUILDING, 'x-right': 'admin', summary: 'Take a list of beacons in',
      description: 'A table `mac,location,level` or lines `MAC:location:level`. Rows that cannot be taken are listed, the others are taken.',
      parameters: OF_LIST, requestBody: LIST,
      responses: tagged(answered('What was taken and what was not.', 'BeaconImport', CHANGED)) },
  },
  '/api/v1/building/from-list': {
    post: { operationId: 'buildingFromList', tags: BUILDING, 'x-right': 'admin', summary: 'Make a building of a list of beacons',
      description: 'As for the import, but the levels and rooms that the list names are made: rooms as tiles, which are marked `schematic`.',
      parameters: [...OF_LIST, { name: 'name', in: 'query', description: 'What the building is called.', schema: { type: 'string', maxLength: 120 } },
        { name: 'how', in: 'query', schema: { type: 'string', enum: ['new', 'add'] },
          description: '`new`: what is there goes, but for the staff; `add`: it stays. Unless it says, the demo goes and an own building stays.' }],
      requestBody: LIST,
      responses: tagged(answered('What was made, taken, and not taken.', 'BuildingFromList', CHANGED)) },
  },
  '/api/v1/building/pictures': {
    post: { operationId: 'addPlanPicture', tags: BUILDING, 'x-right': 'admin', summary: 'Keep a plan picture beside the building',
      description: 'PNG, JPEG or SVG, 8 MiB and 8,000 pixels a side at most. A level shows it when its `plan` names it.',
      requestBody: { required: true, content: Object.fromEntries(['image/png', 'image/jpeg', 'image/svg+xml']
        .map((type) => [type, { schema: { type: 'string', format: 'binary' } }])) },
      responses: answered('Its name, which comes from its content.', 'PlanPicture', ['413']) },
  },
  '/api/v1/building/versions': {
    get: { operationId: 'listBuildingVersions', tags: BUILDING, 'x-right': LOOK, summary: 'Earlier buildings', responses: answers('The newest first.', 'BuildingVersions') },
  },
  '/api/v1/building/versions/{version}': {
    get: { operationId: 'getBuildingVersion', tags: BUILDING, 'x-right': LOOK, summary: 'An earlier building', parameters: [VERSION],
      responses: answers('The building of then, and what going back to it would change.', 'BuildingVersion', { known: true }) },
  },
  '/api/v1/building/versions/{version}/restore': {
    post: { operationId: 'restoreBuildingVersion', tags: BUILDING, 'x-right': 'admin', summary: 'Go back to an earlier building', parameters: [VERSION, IF_MATCH],
      responses: tagged(answered('It is written.', 'BuildingChange', ['404', ...CHANGED])) },
  },
  '/api/v1/me': {
    get: { operationId: 'getMe', tags: ['Keys'], 'x-right': 'any', summary: 'Who is asking, and what they may', responses: answers('You.', 'Me') },
  },
  '/api/v1/strangers': {
    get: { operationId: 'listStrangers', tags: ['Alerts'], 'x-right': LOOK, summary: 'What was heard but nobody registered', responses: answers('The last heard first.', 'Strangers') },
  },
};

const open = { type: 'object' };
const counted = object({ added: count, removed: count, changed: count });
const fault = object({ pointer: { ...text, description: 'JSON pointer into the file; empty: all of it.' }, reason: text });
const faults = { faults_count: count, faults: list(fault) };
const warnings = { warnings_count: count, warnings: { ...list(fault), description: 'What an earlier version took and a new edit may not bring.' } };
const version = { version: whole, ts: ms, by: orNull(text), how: { type: 'string', enum: ['start', 'file', 'edit', 'import', 'restore', 'calibration'] },
  of: orNull(whole), changes: ref('Changes') };
const written = { version: orNull(whole), in_use: orNull(yes), set_aside: { ...orNull(text), description: 'Where a file with faults, which was overwritten, is now.' } };
const row = object({ line: whole, text, kind: text, reason: text });
const taken = { added: list(id), unchanged: list(id), refused_count: count, refused: list(row) };
const fresh = { ...yes, description: 'Made by this list.' };
const madeLevel = object({ id, name: text, fresh, schematic: { ...yes, description: 'Its rooms are tiles.' },
  rooms: list(object({ id, name: text, fresh, beacons: count })) });

const buildingSchemas = {
  Building: { ...object({ building: text, levels: list(open), beacons: list(open), gateways: list(open), staff: list(open) }),
    additionalProperties: true, description: 'As `flows/building/building.schema.json` describes it.' },
  Changes: object({ levels: counted, rooms: counted, beacons: counted, gateways: counted, staff: counted,
    other: { ...yes, description: "The building's name, or the order of something." } }),
  BuildingChange: object({ ...written, changes: ref('Changes') }),
  BuildingCheck: object({ valid: yes, ...faults, ...warnings }, ['warnings_count', 'warnings']),
  BuildingFaults: object({ error: text, ...faults }, ['faults_count', 'faults']),
  BeaconImport: object({ ...taken, ...written }),
  BuildingFromList: object({ building: { ...text, description: 'Its name.' }, new: { ...yes, description: 'Nothing of before stays but staff.' },
    levels: { ...list(madeLevel), description: 'Lowest first.' }, ...taken,
    notes: { ...list(text), description: 'What looks odd and was taken as it stands.' }, ...written }),
  PlanPicture: object({ plan: text }),
  BuildingVersions: object({ current: orNull(whole), dropped: count, ...faults, ...warnings, versions: list(object(version)) },
    ['warnings_count', 'warnings']),
  BuildingVersion: object({ ...version, restoring: ref('Changes'), building: ref('Building') }),
  Me: object({ name: text, kind: { type: 'string', enum: ['key', 'login', 'trusted'] }, rights: list(text),
    read_only: { ...yes, description: 'A viewer, who changes nothing.' } }),
  Strangers: object({
    beacons: list(object({ beacon: id, first_ms: ms, heard_ms: ms, kind: { type: 'string', enum: ['gateway', 'phone'] }, receiver: id,
      rssi: whole, count })),
    gateways: list(object({ gateway: id, state: text, since: orNull(ms), reading_ms: orNull(ms) })),
  }),
};

module.exports = { placePaths, placeSchemas, buildingPaths, buildingSchemas };
