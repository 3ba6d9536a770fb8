// @ts-check
'use strict';

const { ENV_NAME, RIGHTS } = require('../../../access');
const { STATES } = require('../../../alerts/alert-list');
const {
  COMMON, ID, ID_MESSAGE, TIME, answers, count, id, limit, list, ms, next, number, object, orNull, query, ref, seconds, span, text, use,
  useResponse, whole, window, yes,
} = require('./parts');

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
const keyBody = { schema: { type: 'object', required: ['name', 'rights'], properties: { name: NAME, expires: EXPIRES,
  rights: { anyOf: [{ type: 'array', items: RIGHT, minItems: 1 }, { type: 'string', pattern: `^ *(${RIGHTS.join('|')}) *(, *(${RIGHTS.join('|')}) *)*$` }],
    description: 'A list, or text with commas.', 'x-message': `must be one or more of ${RIGHTS.join(', ')}` },
  rate_per_s: { ...RATE, type: ['integer', 'null'], 'x-message': `must be a whole number from 1 to ${RATE.maximum}` } } } };
const keyForm = { schema: { type: 'object', required: ['name', 'rights'], properties: { name: NAME, expires: EXPIRES, rights: RIGHT, rate_per_s: RATE } } };
const range = { schema: { type: 'object', properties: { from: FROM, to: { ...FROM, anyOf: [...FROM.anyOf, { const: '' }] } }, required: ['from'] } };

const systemPaths = {
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
      requestBody: { required: true, content: { 'application/json': keyBody, 'application/x-www-form-urlencoded': keyForm } },
      responses: { 201: { description: 'The key, which is shown only here.', content: { 'application/json': { schema: { $ref: '#/components/schemas/NewKey' } } } },
        ...COMMON, 409: useResponse('Conflict'), 413: useResponse('TooLarge') } },
  },
  '/api/v1/keys/{id}': {
    delete: { operationId: 'revokeKey', tags: ['Keys'], 'x-right': 'admin', summary: 'Revoke a key',
      parameters: [{ name: 'id', in: 'path', required: true, description: 'Its id, not the key.', schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' } }],
      responses: { 200: { description: 'It is refused from now on.', content: { 'application/json': { schema: { $ref: '#/components/schemas/Key' } } } },
        ...COMMON, 404: useResponse('NotFound') } },
  },
  '/api/v1/audit': {
    get: { operationId: 'listAudit', tags: ['Audit'], 'x-right': 'admin', summary: 'Who looked up whose history, over which time, when',
      description: 'Oldest first, by the time of writing: look-ups of the past are written at once, polls of the present once a minute, ' +
        'together. A page may hold fewer than `limit`, even none, and still have a `next`. Reading the log is written down too.',
      parameters: [...window, limit(25, 1000), use('cursor'),
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
        ...COMMON, 413: useResponse('TooLarge') } },
  },
};

const key = {
  id: text, name: text, rights: list({ type: 'string', enum: RIGHTS }), created_ms: ms, expires_ms: { ...orNull(ms), description: 'null: never.' },
  expired: yes, rate_per_s: { ...orNull(whole), description: 'Requests a second it may make; null: what the installation says.' },
};

const who = {
  who: { ...orNull(text), description: 'Name of the key, `login:…`, or the trusted address; null: by hand, on the machine.' },
  key: { ...orNull(text), description: "The key's id." }, address: orNull(text),
};

const systemSchemas = {
  Audit: object({ ...span, entries: list({ anyOf: [ref('AuditedLookUp'), ref('AuditedDeed')] }), next }),
  AuditedLookUp: object({ ts: { ...ms, description: 'When it was written.' }, kind: { type: 'string', const: 'lookup' }, ...who,
    route: { ...text, description: 'As this description writes it.' },
    subjects: { anyOf: [{ type: 'string', const: '*' }, list({ anyOf: [text, { type: 'array', items: text, minItems: 2, maxItems: 2 }] })],
      description: 'The first hundred ids, or first and last of a range of numbers; `*`: everybody.' },
    subjects_count: { ...orNull(count), description: 'How many people; null: everybody.' }, from_ms: ms, to_ms: ms,
    count: { ...count, description: 'How many look-ups.' }, since_ms: { ...ms, description: 'When the first of them came.' } }, ['since_ms']),
  AuditedDeed: object({ ts: ms, kind: { type: 'string', enum: ['key_added', 'key_revoked', 'audit_read', 'recording_started', 'recording_stopped', 'recording_deleted',
    'alerts_acknowledged'] }, ...who, about: text }),
  Error: { ...object({ error: { ...text, description: 'What is wrong and, where it helps, why and what to do.' } }), additionalProperties: true },
  Rebuild: object({ id: whole, why: { type: 'string', enum: ['start', 'request', 'late'] }, from_ms: ms, to_ms: orNull(ms),
    state: { type: 'string', enum: ['waiting', 'running', 'done', 'failed'] }, at_ms: { ...orNull(ms), description: 'How far it is.' },
    readings: count, locations: count, stays: count, took_s: orNull(seconds), reason: text }),
  Key: object(key),
  KeyList: object({ keys: list(ref('Key')) }),
  NewKey: object({ ...key, key: { ...text, description: 'The key itself: keep it, it is shown only once.' } }),
  Rebuilds: object({ jobs: list(ref('Rebuild')) }),
  HacsRecord: object({ level: { ...text, description: "The level's id." }, location: { ...text, description: "The room's name." },
    timestamp: { ...whole, description: 'Epoch seconds.' }, staff_id: { ...text, description: 'Where several were asked for.' } }, ['staff_id']),
  HacsHistory: object({ location: list(ref('HacsRecord')) }),
  HacsError: object({ error: text, location: { type: 'array', maxItems: 0 } }),
  HacsLatest: object({ staff_id: text, level: text, location: text, timestamp: whole, rssi: whole, mac: text }),
  HacsMonitoring: object({ data: list(ref('HacsLatest')) }),
  SystemHealth: { ...object({ status: { type: 'string', enum: ['up', 'degraded'] }, version: text, uptime_s: number,
    parts: { type: 'object', additionalProperties: { type: 'object', required: ['status'],
      properties: { status: { type: 'string', enum: ['up', 'degraded'] }, reason: text, remedy: text }, additionalProperties: true } } }) },
};

const tags = ['Alerts'];
const LOOK = ['presence', 'admin'];
const KIND = { type: 'string', pattern: '^[a-z_]+$' };
const state = query('state', '`open`: active, and nobody has acknowledged it; `acknowledged`: active, and somebody has; `ended`: over, and nobody '
  + 'had acknowledged it.', { type: 'string', enum: STATES });

/** @param {string} description @param {string} schema */
const answered = (description, schema) => ({
  200: { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } }, ...COMMON, 404: useResponse('NotFound'),
});

const alertPaths = {
  '/api/v1/alerts': {
    get: { operationId: 'listAlerts', tags, 'x-right': LOOK, summary: 'What is amiss, one by one',
      parameters: [query('kind', 'Only of this kind.', KIND), state, limit(1000, 10_000), use('cursor')],
      responses: answers('What goes on first, then what is critical, then the newest.', 'Alerts') },
  },
  '/api/v1/alerts/kinds': {
    get: { operationId: 'listAlertKinds', tags, 'x-right': LOOK, summary: 'What is amiss, by kind',
      description: 'Short however many there are: each group has its number, its places, and the newest five alerts.',
      responses: answers('What is open first, then what is critical, then the newest.', 'AlertGroups') },
  },
  '/api/v1/alerts/{alert}/acknowledge': {
    post: { operationId: 'acknowledgeAlert', tags, 'x-right': 'admin', summary: 'Somebody has seen it',
      parameters: [{ name: 'alert', in: 'path', required: true, description: 'Its id, `<kind>:<subject>`.', schema: { type: 'string', pattern: `^[a-z_]+:${ID.source.slice(1)}` } }],
      responses: answered('The alert.', 'Alert') },
  },
  '/api/v1/alerts/kinds/{kind}/acknowledge': {
    post: { operationId: 'acknowledgeAlerts', tags, 'x-right': 'admin', summary: 'Somebody has seen all of a kind',
      description: 'As often as one likes: those that somebody has acknowledged stay as they are. It is written to the audit log.',
      parameters: [{ name: 'kind', in: 'path', required: true, description: 'Such as `sda_lost`.', schema: KIND }, state,
        query('until', 'Only what was raised, or noticed to have ended, until then (`changed_ms` of the group that was seen, included): RFC 3339, '
          + 'or epoch seconds. Without it: all.', TIME)],
      responses: answered('How many nobody had acknowledged before.', 'AlertsAcknowledged') },
  },
};

const severity = { type: 'string', enum: ['critical', 'warning'] };
const since = { ...number, description: 'When it began, as far as is known, epoch ms.' };

const alertSchemas = {
  Alert: object({ id: text, kind: text, subject: id, severity, since, raised_ms: ms, ended_ms: orNull(ms),
    changed_ms: { ...ms, description: 'When it was raised, or its end was noticed.' },
    text, todo: text, level: orNull(id), room: orNull(id), acknowledged: orNull(object({ by: text, ts: ms })) }),
  Alerts: object({ alerts: list(ref('Alert')), open: count, dropped: count, next }),
  AlertGroup: object({ kind: text, severity, state: { type: 'string', enum: STATES }, count,
    since: { ...number, description: 'When the first of them began, epoch ms.' },
    changed_ms: { ...ms, description: 'When the last of them was raised, or its end was noticed: the `until` of an acknowledgement.' },
    todo: { ...orNull(text), description: 'What to do about all of them; null: it differs.' },
    levels_count: count, levels: { ...list(object({ level: id, count })), description: 'Those with most.' },
    rooms_count: count, rooms: { ...list(object({ level: orNull(id), room: id, count })), description: 'Those with most.' },
    alerts: { ...list(ref('Alert')), description: 'The newest five.' } }),
  AlertGroups: object({ groups: list(ref('AlertGroup')), open: count, dropped: count }),
  AlertsAcknowledged: object({ acknowledged: count }),
};

module.exports = { systemPaths, systemSchemas, alertPaths, alertSchemas };
