// @ts-check
'use strict';

const Ajv2020 = require('ajv/dist/2020').default;
const { badRequest } = require('../errors');
const { parseMoment } = require('./moment');

/**
 * Checks a request's parameters against the description that is served: what it says is what is refused.
 * @typedef {{name: string, in: 'path'|'query'|'header', required?: boolean, schema: any}} Parameter with no $ref left
 * @typedef {Record<string, any>} Params
 */

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
/** A time above this is in milliseconds: in seconds it would be after the year 5138. */
const MILLISECONDS_FROM = 1e11;

const ajv = new Ajv2020({ useDefaults: true, strict: false, formats: { 'date-time': (text) => parseMoment(text) !== null } });

/**
 * @param {Parameter[]} parameters
 * @returns {(path: Record<string, string>, query: URLSearchParams) => Params} which throws ApiError 400 naming the parameter
 */
function createCheck(parameters) {
  const asked = parameters.filter(({ in: where }) => where !== 'header');
  const validate = ajv.compile({
    type: 'object',
    properties: Object.fromEntries(asked.map(({ name, schema }) => [name, schema])),
    required: asked.filter(({ required }) => required).map(({ name }) => name),
  });
  const inQuery = asked.filter(({ in: where }) => where === 'query');
  const inPath = asked.filter(({ in: where }) => where === 'path');
  return (path, query) => {
    /** @type {Params} */
    const params = {};
    for (const { name } of inPath) params[name] = path[name];
    for (const { name, schema } of inQuery) {
      const values = query.getAll(name);
      if (values.length > 1) throw badRequest(`${name} must be given once`);
      if (values[0] !== undefined) params[name] = typed(values[0], schema);
    }
    if (!validate(params)) throw badRequest(fault(/** @type {any} */ (validate.errors), params));
    return params;
  };
}

/** Text from a query as the type that its schema names. @param {string} text @param {any} schema */
function typed(text, schema) {
  const types = (schema.anyOf ?? [schema]).map((/** @type {any} */ one) => one.type);
  return types.some((/** @type {string} */ type) => type === 'number' || type === 'integer') && NUMBER.test(text) ? Number(text) : text;
}

/** @param {{instancePath: string, keyword: string, message?: string, params: any}[]} errors @param {Params} params */
function fault(errors, params) {
  const error = /** @type {typeof errors[number]} */ (errors.find(({ keyword }) => keyword === 'anyOf') ?? errors[0]);
  if (error.keyword === 'required') return `${error.params.missingProperty} is missing`;
  const name = error.instancePath.slice(1);
  if (error.keyword === 'anyOf') return `${name} ${timeFault(params[name])}`;
  if (error.keyword === 'enum') return `${name} must be one of ${error.params.allowedValues.join(', ')}`;
  if (error.keyword === 'pattern') return `${name} is not written as it must be: ${error.params.pattern}`;
  return `${name} ${error.message}`;
}

/** The only parameters of more than one type are times. @param {unknown} value */
function timeFault(value) {
  if (typeof value === 'number' && value >= MILLISECONDS_FROM) return 'looks like milliseconds; epoch seconds are expected';
  return 'is no time: give RFC 3339 like 2026-01-01T10:00:00Z (a + written %2B), or epoch seconds';
}

module.exports = { createCheck };
