// @ts-check
'use strict';

const { ID } = require('../../../building/ids');

/** The parameters of more than one operation. */

/** Why an id is refused. */
const ID_MESSAGE = 'must be 1 to 64 letters, digits, "_", "." or "-"';
/** A staff id in a body: an integer is its decimal string. */
const STAFF_WRITTEN = { anyOf: [{ type: 'string', pattern: ID.source }, { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }],
  'x-message': ID_MESSAGE };

/** Of these lengths, with dashes between. @param {number[]} lengths */
const hex = (...lengths) => lengths.map((length) => `[0-9A-Fa-f]{${length}}`).join('-');
const SIXTEEN_BITS = '(0|[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';
const MAC = `${hex(12)}|${hex(2)}(:${hex(2)}){5}|${hex(2, 2, 2, 2, 2, 2)}`;
const IBEACON = `(${hex(32)}|${hex(8, 4, 4, 4, 12)})-${SIXTEEN_BITS}-${SIXTEEN_BITS}`;
const NO_MAC = '(?:(?:00[:-]?){5}00|(?:[Ff]{2}[:-]?){5}[Ff]{2})';
/** A beacon as people write it: what `normaliseBeacon` takes. */
const BEACON_WRITTEN = new RegExp(`^(?!${NO_MAC}$)(${MAC}|${IBEACON}|${hex(20, 12)}|${hex(40)})$`);

const TIME = {
  anyOf: [{ type: 'string', format: 'date-time' }, { type: 'number', minimum: 0, exclusiveMaximum: 1e11 }],
};

/** @param {string} name @param {string} description @param {object} schema */
const query = (name, description, schema) => ({ name, in: 'query', description, schema });

/** @param {string} name @param {string} description @param {RegExp} [pattern] */
const path = (name, description, pattern = ID) => ({
  name, in: 'path', required: true, description, schema: { type: 'string', pattern: pattern.source },
});

/** @param {number} fallback @param {number} maximum */
const limit = (fallback, maximum) => query('limit', 'At most so many; `next` leads to the others.',
  { type: 'integer', minimum: 1, maximum, default: fallback });

const parameters = {
  start: query('start', 'From when on, included: RFC 3339, or epoch seconds. Without it: a day before `end`.', TIME),
  end: query('end', 'Until when, not included; at most 31 days after `start`. Without it: now.', TIME),
  cursor: query('cursor', 'The `next` of the answer before. Window and filters stay those of the first request.',
    { type: 'string', minLength: 1, maxLength: 512 }),
  level: query('level', 'Only of this level.', { type: 'string', pattern: ID.source }),
  staff_id: path('staff_id', 'Who: id of a staff member.'),
  room: path('room', 'Id of a room, also of a former one.'),
  level_id: path('level', 'Id of a level.'),
  beacon: path('beacon', 'Id of a beacon or tag of the building file; a MAC also with `:` or `-` and in lower case.', BEACON_WRITTEN),
  gateway: path('gateway', 'Id of a gateway.'),
  least_s: query('least_s', 'Shorter ones are left out, seconds.', { type: 'number', minimum: 0, maximum: 31 * 86_400, default: 0 }),
  by: query('by', 'What counts first; equal ones go by the other.', { type: 'string', enum: ['visits', 'time'], default: 'visits' }),
};

/** @param {keyof typeof parameters} name */
const use = (name) => ({ $ref: `#/components/parameters/${name}` });

const window = [use('start'), use('end')];

/** Answers that every operation may give beside its own. */

/** @param {string} description @param {object} [headers] */
const error = (description, headers) => ({
  description, ...(headers ? { headers } : {}), content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});
const RETRY = { 'Retry-After': { description: 'Seconds until it is worth trying again.', schema: { type: 'integer', minimum: 1 } } };

const responses = {
  BadRequest: error('A parameter is missing or wrong; the message names it.'),
  Unauthorized: error('A key is needed, or the one given is wrong.',
    { 'WWW-Authenticate': { description: 'How to send one.', schema: { type: 'string' } } }),
  Forbidden: error('The key does not have the right that this needs (`x-right`).'),
  NotFound: error('There is no such staff member, room, level, beacon, gateway, key, version, alert or recording.'),
  Conflict: error('There is one of this name already, or another one has to end first.'),
  TooLarge: error('The body is too large.'),
  Changed: error('The building was changed meanwhile by somebody else: get it again.'),
  Faulty: { description: 'The building would have faults; nothing was changed.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/BuildingFaults' } } } },
  NoIfMatch: error('`If-Match` is missing.'),
  TooMany: error('Too many requests, or too many wrong keys from this address.', RETRY),
  Unavailable: error('InfluxDB or the broker is away (what needs neither is still answered), or more is asked than can be answered.', RETRY),
};

/** @param {keyof typeof responses} name */
const useResponse = (name) => ({ $ref: `#/components/responses/${name}` });

/** @type {Record<string, object>} */
const COMMON = {
  400: useResponse('BadRequest'), 401: useResponse('Unauthorized'), 403: useResponse('Forbidden'), 429: useResponse('TooMany'), 503: useResponse('Unavailable'),
};
const NOT_MODIFIED = { description: 'It is still what `If-None-Match` says.' };

/**
 * The answers of an operation that reads.
 * @param {string} description @param {string} schema name
 * @param {{known?: boolean}} [may] known: the person or thing it asks about may be unknown
 */
const answers = (description, schema, { known = false } = {}) => ({
  200: {
    description,
    headers: { ETag: { description: 'Changes with the answer; send it back as `If-None-Match`.', schema: { type: 'string' } } },
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
  },
  304: NOT_MODIFIED,
  ...COMMON,
  ...(known ? { 404: useResponse('NotFound') } : {}),
});

/** Words for schemas. Whatever is described here is always there; what may be nothing is null. */

/** @param {Record<string, object>} properties @param {string[]} [optional] those that may be missing */
const object = (properties, optional = []) => ({
  type: 'object', properties, required: Object.keys(properties).filter((name) => !optional.includes(name)),
});
/** @param {object} items */
const list = (items) => ({ type: 'array', items });
/** @param {string} name */
const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
/** @param {any} schema */
const orNull = (schema) => ('type' in schema ? { ...schema, type: [schema.type, 'null'] } : { anyOf: [schema, { type: 'null' }] });

const id = { type: 'string' };
const text = { type: 'string' };
const number = { type: 'number' };
const whole = { type: 'integer' };
const count = { type: 'integer', minimum: 0 };
const yes = { type: 'boolean' };
const ms = { type: 'integer', description: 'Milliseconds since 1970-01-01 UTC.' };
const seconds = { type: 'number', minimum: 0, description: 'Seconds.' };
const next = { type: ['string', 'null'], description: 'The `cursor` of what follows; null: this was all.' };
const span = { start_ms: ms, end_ms: ms };
const past = { ...span, complete_until_ms: { ...ms, description: 'Up to here nothing is missing, and nothing is about to be located again; readings that come late may still change it.' } };

module.exports = {
  parameters, use, window, limit, query, BEACON_WRITTEN, ID, ID_MESSAGE, STAFF_WRITTEN, TIME, responses, answers, useResponse, COMMON,
  NOT_MODIFIED, object, list, ref, orNull, id, text, number, whole, count, yes, ms, seconds, next, span, past,
};
