// @ts-check
'use strict';

const { ApiError, badRequest } = require('../shared/api-error');
const { parseMoment } = require('../shared/rfc3339');

const Ajv2020 = require('ajv/dist/2020').default;

/**
 * Checks what a request asks against the description that is served: path, query, form and JSON alike. A schema may say in `x-message`
 * what to answer instead of the validator's words, and in `x-alias` another name of the same parameter.
 * @typedef {{name: string, in: 'path'|'query'|'header', required?: boolean, schema: any}} Parameter with no $ref left
 * @typedef {Record<string, any>} Params
 * @typedef {{type: 'object', properties: Record<string, any>, required?: string[]}} BodySchema
 */

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
/** A time above this is in milliseconds: in seconds it would be after the year 5138. */
const MILLISECONDS_FROM = 1e11;

const ajv = new Ajv2020({ useDefaults: true, strict: false, allowUnionTypes: true,
  formats: { 'date-time': (text) => parseMoment(text) !== null, date: (text) => parseMoment(text, { short: true }) !== null } });

/**
 * Of one operation: its path and query.
 * @param {Parameter[]} parameters
 * @returns {(path: Record<string, string>, query: URLSearchParams) => Params} which throws ApiError 400 naming the parameter
 */
function createCheck(parameters) {
  const asked = parameters.filter(({ in: where }) => where !== 'header');
  const check = createSchemaCheck({ type: 'object', properties: Object.fromEntries(asked.map(({ name, schema }) => [name, schema])),
    required: asked.filter(({ required }) => required).map(({ name }) => name) }, { emptyIsMissing: false });
  const [inQuery, inPath] = ['query', 'path'].map((where) => asked.filter((one) => one.in === where).map(({ name }) => name));
  return (path, query) => {
    /** @type {Params} */
    const params = {};
    for (const name of inQuery ?? []) if (query.has(name)) add(params, name, query.getAll(name));
    for (const name of inPath ?? []) params[name] = path[name];
    return check(params);
  };
}

/** Query, form and JSON together. The same parameter twice is a list. @param {URLSearchParams} query @param {unknown} body parsed */
function together(query, body) {
  /** @type {Params} */
  const params = Object.create(null);
  for (const [name, value] of query) add(params, name, [value]);
  if (body === undefined || body === null) return params;
  if (typeof body !== 'object' || Array.isArray(body)) throw badRequest('the body must be a JSON object or a form');
  for (const [name, value] of Object.entries(body)) add(params, name, [value]);
  return params;
}

/** @param {Params} params @param {string} name @param {unknown[]} values */
function add(params, name, values) {
  const all = name in params ? [params[name], ...values] : values;
  params[name] = all.length === 1 ? all[0] : all;
}

/**
 * Of one operation: what its body carries, which may as well stand in the query.
 * @param {BodySchema} schema that of JSON: text stands for a number where the schema has one, since query and form know text alone
 * @returns {(query: URLSearchParams, body: unknown) => Params} which throws ApiError 400 naming the parameter
 */
function createBodyCheck(schema) {
  const check = createSchemaCheck(schema, { emptyIsMissing: true });
  return (query, body) => check(together(query, body));
}

/** @param {BodySchema} schema @param {{emptyIsMissing: boolean}} options @returns {(params: Params) => Params} */
function createSchemaCheck(schema, { emptyIsMissing }) {
  const validate = ajv.compile(schema);
  const properties = Object.entries(schema.properties)
    .map(([name, one]) => ({ name, alias: one['x-alias'], isNumber: wantsNumber(one), accepts: ajv.compile({ ...one }),
      isEmptyMissing: emptyIsMissing && schema.required?.includes(name) }));
  return (params) => {
    /** @type {Record<string, string>} */
    const given = {};
    for (const { name, alias, isNumber, isEmptyMissing, accepts } of properties) {
      if (alias && alias in params && !(name in params)) {
        params[name] = params[alias];
        given[name] = alias;
      }
      const value = params[name];
      if (isEmptyMissing && (value === '' || value === null) && !accepts(value)) delete params[name];
      else if (isNumber && typeof value === 'string' && NUMBER.test(value.trim())) params[name] = Number(value);
    }
    if (validate(params)) return params;
    throw badRequest(faultOf(/** @type {any} */ (validate.errors), params, schema, given));
  };
}

/**
 * The types that a schema takes, one by one.
 * @param {any} schema @returns {{type: string, format?: string, exclusiveMaximum?: number}[]}
 */
const kindsOf = (schema) => (schema.anyOf ?? [schema])
  .flatMap((/** @type {any} */ one) => [one.type].flat().map((type) => ({ ...one, type })));

/** @param {{type: string}} kind */
const isNumeric = ({ type }) => type === 'number' || type === 'integer';

/** Whether text that looks like a number is one: not where the schema takes text other than times. @param {any} schema */
function wantsNumber(schema) {
  const kinds = kindsOf(schema);
  return kinds.some(isNumeric) && !kinds.some(({ type, format }) => type === 'string' && !format);
}

/**
 * @param {{instancePath: string, keyword: string, message?: string, params: any}[]} errors @param {Params} params
 * @param {BodySchema} schema @param {Record<string, string>} given names of before, where an alias was used
 */
function faultOf(errors, params, schema, given) {
  const error = /** @type {typeof errors[number]} */ (errors.find(({ keyword }) => keyword === 'anyOf') ?? errors[0]);
  if (error.keyword === 'required') return `${error.params.missingProperty} is missing`;
  const name = error.instancePath.split('/')[1] ?? '';
  return `${given[name] ?? name} ${reasonOf(error, params[name], schema.properties[name])}`;
}

/**
 * @param {{keyword: string, message?: string, params: any}} error @param {unknown} value of the parameter
 * @param {any} schema of the parameter @returns {string} what it must be instead
 */
function reasonOf(error, value, schema) {
  const kinds = kindsOf(schema);
  if (Array.isArray(value) && !kinds.some(({ type }) => type === 'array')) return 'must be given once';
  if (kinds.every(isNumeric) && !Number.isFinite(value)) return 'is not a number';
  const isTime = kinds.some(({ exclusiveMaximum }) => exclusiveMaximum === MILLISECONDS_FROM);
  if (isTime && typeof value === 'number') {
    return value < 0 ? 'must not be negative' : 'looks like milliseconds; epoch seconds are expected';
  }
  return schema['x-message'] ?? (isTime ? NO_TIME : inWords(error, schema));
}

const NO_TIME = 'is no time: give RFC 3339 like 2026-01-01T10:00:00Z (a + written %2B), or epoch seconds';

/** @param {{keyword: string, message?: string, params: any}} error @param {any} schema */
function inWords({ keyword, message, params }, { type, minimum, maximum }) {
  if (type === 'integer' && minimum !== undefined && maximum !== undefined) return `must be a whole number from ${minimum} to ${maximum}`;
  if (keyword === 'type' && type === 'string') return 'must be text';
  if (keyword === 'enum') return `must be one of ${params.allowedValues.join(', ')}`;
  if (keyword === 'pattern') return `is not written as it must be: ${params.pattern}`;
  return message ?? 'is not as it is described';
}

/** Handlers that the routes share: methods, bodies, answers, errors. */

const BODY_BYTES = 16 * 1024;

/** @type {import('express').RequestHandler} */
const notFound = (request, _response, next) => next(new ApiError(404, `there is no ${request.baseUrl}${request.path}`));

/** Refuses other methods, and says which there are. @param {...string} methods */
const allowMethods = (...methods) => Object.assign(/** @type {import('express').RequestHandler} */ ((request, _response, next) => {
  next(methods.includes(request.method) ? undefined : methodNotAllowed(request.method, methods));
}), { methods });

/** @param {string} method of the request @param {readonly string[]} methods that there are @returns {ApiError} 405 with `Allow` */
const methodNotAllowed = (method, methods) => new ApiError(405,
  `${method} is not possible here, use ${methods.filter((one) => one !== 'HEAD').join(' or ')}`, undefined, { headers: { Allow: methods.join(', ') } });

/** The parsed body; a type that no parser reads is refused. @param {import('express').Request} request */
function bodyOf(request) {
  const type = request.headers['content-type'];
  const sent = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  if (sent && type && !request.is(['json', 'urlencoded'])) throw badRequest(`a body of ${type} is not read: send a form or JSON`);
  return sent ? request.body : undefined;
}

/** @param {import('express').Request} request */
function queryOf({ originalUrl }) {
  const at = originalUrl.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : originalUrl.slice(at));
}

module.exports = { createCheck, createBodyCheck, together, BODY_BYTES, allowMethods, bodyOf, methodNotAllowed, notFound, queryOf };
