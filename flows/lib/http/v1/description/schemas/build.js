// @ts-check
'use strict';

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

module.exports = { object, list, ref, orNull, id, text, number, whole, count, yes, ms, seconds, next, span, past };
