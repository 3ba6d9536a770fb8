// @ts-check
'use strict';

const { BEACON_WRITTEN, COMMON, ID, ID_MESSAGE, STAFF_WRITTEN, useResponse } = require('./parts');

const TAG = ['HACS-era routes'];
const EPOCH_S = { type: 'number', minimum: 0, exclusiveMaximum: 1e11 };
const STAFF = { type: 'string', pattern: ID.source, 'x-message': ID_MESSAGE };
const EACH = ID.source.slice(1, -1);
const SEVERAL_MESSAGE = `${ID_MESSAGE}, or the ids of 1000 staff members at most with commas between them, or * for all`;
const STAFF_OR_SEVERAL = { type: 'string', pattern: `^(?:\\*|${EACH}(?:,${EACH}){0,999})$`, 'x-message': SEVERAL_MESSAGE };
const BEACON = { type: 'string', pattern: BEACON_WRITTEN.source, 'x-message': 'is no beacon id: twelve hex digits, or one of the longer forms' };
/** Wider than what is located: callers of old send 0 and -127 for "not known", which is answered, counted and left out. */
const RSSI = { type: 'number', minimum: -127, maximum: 20, 'x-message': 'must be from -127 to 20 dBm',
  description: 'dBm. What is not from -126 to -1 is no measurement: it is answered like any other, counted, and nobody is located by it.' };

/** Errors of these routes carry an empty list beside the message. */
const WITH_LIST = { description: 'As everywhere, with an empty list.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/HacsError' } } } };
const WITH_LISTS = Object.fromEntries([...Object.keys(COMMON), '413'].map((status) => [status, WITH_LIST]));

/** @param {string} schema */
const found = (schema) => ({ description: 'Newest first.', content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } });

const COMPLETE_UNTIL = 'X-Complete-Until-Ms';
/** @type {any} */
const HISTORY = { ...found('HacsHistory'), headers: { [COMPLETE_UNTIL]: { schema: { type: 'integer' },
  description: 'Epoch ms. Up to here nothing is missing, and nothing is about to be located again.' } } };

/**
 * One route by GET and POST: query string, form or JSON carry the same parameters.
 * @param {{id: string, right: 'history'|'presence', summary: string, description?: string, query: Record<string, object>,
 *   json?: Record<string, object>, responses: Record<string, object>}} route
 */
function both({ id, right, summary, description, query, json = query, responses }) {
  const common = { tags: TAG, 'x-right': right, summary, ...(description ? { description } : {}), responses };
  const body = (/** @type {Record<string, object>} */ properties) => ({ schema: { type: 'object', properties, required: Object.keys(properties) } });
  const named = Object.entries(query);
  return {
    get: { operationId: id, ...common, parameters: named.map(([name, schema]) => ({ name, in: 'query', required: true, schema })) },
    post: { operationId: `${id}ByPost`, ...common,
      ...(named.length > 0 ? { requestBody: { required: true,
        content: { 'application/x-www-form-urlencoded': body(query), 'application/json': body(json) } } } : {}) },
  };
}

const hacsPaths = {
  '/extractbeacon': both({
    id: 'extractBeacon', right: 'history', summary: 'Where somebody was',
    description: 'Both ends are included, by whole seconds. An unknown staff member has an empty list. Several ids with commas between them, '
      + 'or `*` for everybody, give one list: one staff member after the other, each record with its `staff_id`. Their number times the '
      + 'seconds asked for may be 2,678,400 at most.',
    query: { staff_id: STAFF_OR_SEVERAL, start_time: EPOCH_S, end_time: EPOCH_S },
    json: { staff_id: { anyOf: [STAFF_OR_SEVERAL, ...STAFF_WRITTEN.anyOf.slice(1)], 'x-message': SEVERAL_MESSAGE }, start_time: EPOCH_S, end_time: EPOCH_S },
    responses: { 200: HISTORY, ...WITH_LISTS },
  }),
  '/newbeacondetect': both({
    id: 'newBeaconDetect', right: 'presence', summary: 'A reading by hand',
    description: 'Goes through the broker like any other reading. `user_address` is another name of `staff_id`.',
    query: { staff_id: STAFF, beacon_address: BEACON, rssi: RSSI },
    json: { staff_id: { ...STAFF_WRITTEN, 'x-alias': 'user_address' }, beacon_address: BEACON, rssi: RSSI },
    responses: {
      200: { description: 'The broker has it.', content: { 'text/plain': { schema: { type: 'string', const: 'New Beacon Detection Added' } } } },
      ...COMMON, 404: useResponse('NotFound'), 413: useResponse('TooLarge'),
    },
  }),
  '/retrieveformonitoring': both({
    id: 'retrieveForMonitoring', right: 'presence', summary: 'Where everybody is: the latest within 15 minutes', query: {},
    responses: { 200: found('HacsMonitoring'), ...COMMON, 413: useResponse('TooLarge') },
  }),
};

/**
 * Route by route, for whoever answers or refuses. A HEAD must not change anything.
 * @typedef {import('../../checks').BodySchema} BodySchema
 * @type {{path: string, right: 'history'|'presence', methods: string[], changes: boolean, body: BodySchema}[]} body: what query, form
 *   and JSON carry alike
 */
const HACS_ROUTES = Object.entries(hacsPaths).map(([path, { get, post }]) => {
  const changes = path === '/newbeacondetect';
  /** @type {any} */
  const body = post.requestBody?.content['application/json'].schema ?? { type: 'object', properties: {} };
  return { path, right: get['x-right'], changes, body, methods: changes ? ['GET', 'POST'] : ['GET', 'HEAD', 'POST'] };
});

module.exports = { hacsPaths, COMPLETE_UNTIL, HACS_ROUTES };
