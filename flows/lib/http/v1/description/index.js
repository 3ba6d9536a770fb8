// @ts-check
'use strict';

const { alertPaths, alertSchemas, systemPaths, systemSchemas } = require('./system');
const { buildingPaths, buildingSchemas, placePaths, placeSchemas } = require('./places');
const { devicePaths, deviceSchemas, recordingPaths, recordingSchemas } = require('./devices');
const { hacsPaths } = require('./hacs');
const { peopleSchemas, staffPaths } = require('./people');
const { parameters, responses } = require('./parts');

/**
 * The one description of all that is answered over HTTP, as OpenAPI 3.1. It is served, rendered, and drives routing and the
 * checks of parameters; `x-right` names the right that an operation needs, `x-audited` that it is a look-up of a person for the
 * audit log, as each with the right `history` is.
 */

const INFO = `Who was where and when, who is where now, and how beacons and gateways are doing.

- **Times** in requests are RFC 3339 or epoch seconds; in answers epoch milliseconds (HACS-era routes: seconds). A window is half-open:
  \`start\` belongs to it, \`end\` does not; it spans at most 31 days.
- **Pages**: where there is more, \`next\` holds the \`cursor\` of what follows. What is written meanwhile neither doubles nor hides anything.
- **Errors** are \`{"error": "what and why"}\`. Unknown parameters are ignored; new keys may appear in answers.
- **Key**: \`Authorization: Bearer …\` or \`X-API-Key: …\`; callers of trusted networks need none but for the right \`admin\`.`;

const TAGS = ['Staff', 'Rooms and levels', 'Rankings', 'Beacons', 'Gateways', 'Events', 'Building', 'Alerts', 'Recordings', 'HACS-era routes', 'Keys', 'Audit',
  'System'];

/** @param {string} version */
const createDescription = (version) => ({
  openapi: '3.1.0',
  info: { title: 'SDA Locator', version, description: INFO, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
  servers: [{ url: '/' }],
  security: [{}, { bearer: [] }, { header: [] }],
  tags: TAGS.map((name) => ({ name })),
  paths: withSecurity({
    ...staffPaths, ...placePaths, ...devicePaths, ...hacsPaths, ...buildingPaths, ...alertPaths, ...recordingPaths, ...systemPaths,
  }),
  components: {
    parameters,
    responses,
    schemas: {
      ...peopleSchemas, ...placeSchemas, ...deviceSchemas, ...buildingSchemas, ...alertSchemas, ...recordingSchemas, ...systemSchemas,
    },
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      header: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    },
  },
});

/** A trusted address is no key to what an admin may do. @param {Record<string, Record<string, any>>} paths */
const withSecurity = (paths) => Object.fromEntries(Object.entries(paths).map(([path, item]) => [path,
  Object.fromEntries(Object.entries(item).map(([method, operation]) => [method,
    operation['x-right'] === 'admin' ? { security: [{ bearer: [] }, { header: [] }], ...operation } : operation]))]));

/** @typedef {ReturnType<typeof createDescription>} Description */

/**
 * @typedef {object} Operation
 * @property {string} id
 * @property {'get'|'post'|'put'|'patch'|'delete'} method
 * @property {string} path as OpenAPI writes it
 * @property {import('../../../access/guard').Needed} right that it needs
 * @property {boolean} audited whether it looks somebody up
 * @property {import('../../checks').Parameter[]} parameters in full
 * @property {import('../../checks').BodySchema|null} body what a body of JSON carries; null: none, or one that has checks of its own
 * @property {number} status of success
 */

/** @param {Description} description @returns {Operation[]} */
function operationsOf(description) {
  return Object.entries(description.paths).flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => {
    const { operationId: id, parameters: named = [], 'x-right': right, 'x-audited': audited = right === 'history', requestBody, responses: answered } = /** @type {any} */ (operation);
    const status = Number(Object.keys(answered).find((code) => code.startsWith('2')));
    const whole = named.map((/** @type {any} */ one) => resolve(description, one));
    return { id, method: /** @type {any} */ (method), path, right, audited, status, parameters: whole,
      body: requestBody?.content['application/json']?.schema ?? null };
  }));
}

/** @param {Description} description @param {any} one */
const resolve = (description, one) =>
  (one.$ref ? /** @type {any} */ (description.components.parameters)[one.$ref.split('/').at(-1)] : one);

module.exports = { createDescription, operationsOf };
