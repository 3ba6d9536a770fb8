// @ts-check
'use strict';

/** What every operation may answer beside what it is for. */

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
const use = (name) => ({ $ref: `#/components/responses/${name}` });

/** @type {Record<string, object>} */
const COMMON = {
  400: use('BadRequest'), 401: use('Unauthorized'), 403: use('Forbidden'), 429: use('TooMany'), 503: use('Unavailable'),
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
  ...(known ? { 404: use('NotFound') } : {}),
});

module.exports = { responses, answers, use, COMMON, NOT_MODIFIED };
