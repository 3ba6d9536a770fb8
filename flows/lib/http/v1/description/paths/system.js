// @ts-check
'use strict';

const { ENV_NAME, RIGHTS } = require('../../../../access');
const { ID, ID_MESSAGE, limit, query, use: shared, window } = require('../parameters');
const { answers, COMMON, use } = require('../responses');

const TAG = ['System'];
const MOMENT = { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'number', minimum: 0, exclusiveMaximum: 1e11 }] };
/** Time, seconds and offset may be left out. */
const FROM = { anyOf: [...MOMENT.anyOf, { type: 'string', format: 'date' }],
  'x-message': 'is no time that exists: give it like 2026-01-01T10:00:00Z, or in epoch seconds' };
const EXPIRES = { anyOf: [{ type: 'string', pattern: '^(never|[1-9][0-9]{0,5}[hd])$' }, { type: 'string', format: 'date' }, { type: 'string', format: 'date-time' }],
  default: 'never', description: '`90d`, `12h`, `never`, or a time as RFC 3339.',
  'x-message': 'is no time: write 90d, 12h, never, 2027-01-31 or 2027-01-31T12:00:00Z' };
const RATE = { type: 'integer', minimum: 1, maximum: 1_000_000 };
const NAME = { type: 'string', pattern: ID.source, not: { const: ENV_NAME }, 'x-message': `${ID_MESSAGE}, and not ${ENV_NAME}: that is the key of .env` };
const STAFF = { type: 'string', pattern: ID.source };
const RIGHT = { type: 'string', enum: RIGHTS };
const key = { schema: { type: 'object', required: ['name', 'rights'], properties: { name: NAME, expires: EXPIRES,
  rights: { anyOf: [{ type: 'array', items: RIGHT, minItems: 1 }, { type: 'string', pattern: `^ *(${RIGHTS.join('|')}) *(, *(${RIGHTS.join('|')}) *)*$` }],
    description: 'A list, or text with commas.', 'x-message': `must be one or more of ${RIGHTS.join(', ')}` },
  rate_per_s: { ...RATE, type: ['integer', 'null'], 'x-message': `must be a whole number from 1 to ${RATE.maximum}` } } } };
const keyForm = { schema: { type: 'object', required: ['name', 'rights'], properties: { name: NAME, expires: EXPIRES, rights: RIGHT, rate_per_s: RATE } } };
const range = { schema: { type: 'object', properties: { from: FROM, to: { ...FROM, anyOf: [...FROM.anyOf, { const: '' }] } }, required: ['from'] } };

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
      responses: { 201: { description: 'The key, which is shown only here.', content: { 'application/json': { schema: { $ref: '#/components/schemas/NewKey' } } } },
        ...COMMON, 409: use('Conflict'), 413: use('TooLarge') } },
  },
  '/api/v1/keys/{id}': {
    delete: { operationId: 'revokeKey', tags: ['Keys'], 'x-right': 'admin', summary: 'Revoke a key',
      parameters: [{ name: 'id', in: 'path', required: true, description: 'Its id, not the key.', schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' } }],
      responses: { 200: { description: 'It is refused from now on.', content: { 'application/json': { schema: { $ref: '#/components/schemas/Key' } } } },
        ...COMMON, 404: use('NotFound') } },
  },
  '/api/v1/audit': {
    get: { operationId: 'listAudit', tags: ['Audit'], 'x-right': 'admin', summary: 'Who looked up whose history, over which time, when',
      description: 'Oldest first, by the time of writing: look-ups of the past are written at once, polls of the present once a minute, ' +
        'together. A page may hold fewer than `limit`, even none, and still have a `next`. Reading the log is written down too.',
      parameters: [...window, limit(25, 1000), shared('cursor'),
        query('who', 'Only of this caller: name of a key, `login:…`, or a trusted address.', { type: 'string', minLength: 1, maxLength: 128 }),
        query('subject', 'Only where this person was among those looked up; who asked for everybody is there too.', STAFF)],
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
