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
/** A beacon as people write it: what `normaliseBeacon` takes. */
const BEACON_WRITTEN = new RegExp(`^(${MAC}|${IBEACON}|${hex(20, 12)}|${hex(40)})$`);

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

module.exports = { parameters, use, window, limit, query, BEACON_WRITTEN, ID, ID_MESSAGE, STAFF_WRITTEN, TIME };
