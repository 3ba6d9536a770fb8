// @ts-check
'use strict';

const { answers, COMMON, NOT_MODIFIED, use } = require('../responses');

/** The building with its versions, strangers, who is asking: routed by `lib/http/building-routes.js`. */

const BUILDING = ['Building'];
const LOOK = ['presence', 'admin'];

/** @param {string} description @param {string} schema @param {string[]} errors names of responses, by status */
const answered = (description, schema, errors = []) => ({
  200: { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } },
  ...COMMON, ...Object.fromEntries(errors.map((status) => [status, ERRORS[status]])),
});
/** @type {Record<string, object>} */
const ERRORS = {
  404: use('NotFound'), 412: use('Changed'), 413: use('TooLarge'), 422: use('Faulty'), 428: use('NoIfMatch'),
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

module.exports = {
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
