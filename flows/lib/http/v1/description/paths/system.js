// @ts-check
'use strict';

const { RIGHTS } = require('../../../../access/rights');
const { ID, limit, query, use: shared, window } = require('../parameters');
const { answers, COMMON, use } = require('../responses');

const TAG = ['System'];
const MOMENT = { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'number', minimum: 0, exclusiveMaximum: 1e11 }] };
/** A time as RFC 3339 is taken too. */
const EXPIRES = { type: 'string', pattern: '^(never|[1-9][0-9]{0,3}[hd])$', default: 'never', description: '`90d`, `12h`, `never`, or a time as RFC 3339.' };
const RATE = { type: 'integer', minimum: 1, maximum: 1_000_000 };
const NAME = { type: 'string', pattern: ID.source };
const STAFF = { type: 'string', pattern: ID.source };
const RIGHT = { type: 'string', enum: RIGHTS };
const key = { schema: { type: 'object', required: ['name', 'rights'], properties: { name: NAME, expires: EXPIRES,
  rights: { anyOf: [{ type: 'array', items: RIGHT, minItems: 1 }, RIGHT], description: 'A list, or text with commas.' },
  rate_per_s: { ...RATE, type: ['integer', 'null'] } } } };
const keyForm = { schema: { type: 'object', required: ['name', 'rights'], properties: { name: NAME, expires: EXPIRES, rights: RIGHT, rate_per_s: RATE } } };
const range = { schema: { type: 'object', properties: { from: MOMENT, to: { anyOf: [...MOMENT.anyOf, { const: '' }] } }, required: ['from'] } };

module.exports = {
  '/health': {
    get: { operationId: 'getHealth', tags: TAG, security: [], summary: 'What is up, what is not, and why',
      responses: { 200: { description: 'Also while parts are degraded.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/SystemHealth' } } } } } },
  },
  '/api/v1/openapi.json': {
    get: { operationId: 'getDescription', tags: TAG, security: [], summary: 'This description',
      responses: { 200: { description: 'OpenAPI 3.1.', content: { 'application/json': { schema: { type: 'object', required: ['openapi'] } } } },
        304: { description: 'It is still what `If-None-Match` says.' } } },
  },
  '/api/v1/keys': {
    get: { operationId: 'listKeys', tags: ['Keys'], 'x-right': 'admin', summary: 'The named keys', responses: answers('The keys, without themselves.', 'KeyList') },
    post: { operationId: 'createKey', tags: ['Keys'], 'x-right': 'admin', summary: 'Make a key',
      requestBody: { required: true, content: { 'application/json': key, 'application/x-www-form-urlencoded': keyForm } },
      responses: { 201: { description: 'The key, which is told only here.', content: { 'application/json': { schema: { $ref: '#/components/schemas/NewKey' } } } },
        ...COMMON, 409: use('Conflict'), 413: use('TooLarge') } },
  },
  '/api/v1/keys/{id}': {
    delete: { operationId: 'revokeKey', tags: ['Keys'], 'x-right': 'admin', summary: 'Revoke a key',
      parameters: [{ name: 'id', in: 'path', required: true, description: 'Its id, not the key.', schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' } }],
      responses: { 200: { description: 'It is refused from now on.', content: { 'application/json': { schema: { $ref: '#/components/schemas/Key' } } } },
        ...COMMON, 404: use('NotFound') } },
  },
  '/api/v1/audit': {
    get: { operationId: 'listAudit', tags: ['Audit'], 'x-right': 'admin', summary: 'Who looked up whom, over which time, when',
      description: 'Oldest first, by the time of writing: look-ups of the past are written at once, polls of the present once a minute, ' +
        'together. A page may hold fewer than `limit`, even none, and still have a `next`. Reading the log is written down too.',
      parameters: [...window, limit(25, 1000), shared('cursor'),
        query('who', 'Only of this caller: name of a key, `login:…`, or a trusted address.', { type: 'string', minLength: 1, maxLength: 128 }),
        query('whom', 'Only where this person was among those looked up; who asked for everybody is there too.', STAFF)],
      responses: answers('Entries of the log.', 'Audit') },
  },
  '/metrics': {
    get: { operationId: 'getMetrics', tags: TAG, 'x-right': ['presence', 'admin'], summary: 'Figures in the text format of Prometheus',
      description: 'For keys with the right `presence` or `admin`.',
      responses: { 200: { description: 'Rates, lags, queues, losses, latencies.', content: { 'text/plain': { schema: { type: 'string' } } } }, ...COMMON } },
  },
  '/api/v1/rebuild': {
    get: { operationId: 'listRebuilds', tags: TAG, 'x-right': 'admin', summary: 'What is located again, and how far it is',
      responses: answers('The jobs, oldest first.', 'Rebuilds') },
    post: { operationId: 'requestRebuild', tags: TAG, 'x-right': 'admin', summary: 'Have a time located again from the stored readings',
      description: 'Within the seven days that readings are kept; as often as one likes. Without `to`: up to the present. Both may also stand in the query.',
      requestBody: { required: true, content: { 'application/json': range, 'application/x-www-form-urlencoded': range } },
      responses: { 202: { description: 'The job, which waits or runs.', content: { 'application/json': { schema: { $ref: '#/components/schemas/Rebuild' } } } },
        ...COMMON, 413: use('TooLarge') } },
  },
};
