'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { Validator } = require('@seriousme/openapi-schema-validator');
const { createRouter } = require('../../lib/http');
const { createApi } = require('../../lib/http/v1');
const { createDescription } = require('../../lib/http/v1/description');
const { HACS_ROUTES } = require('../../lib/http/v1/description/hacs');
const { createSessions } = require('../../lib/access');
const { guards } = require('../support/guards');

const description = createDescription('1.2.3');
const context = {
  apiKey: 'key', trusted: () => true, clock: () => 0, ...guards(), dashboardPath: '/dashboard/floor', health: () => ({}), log: () => {},
  sessions: createSessions({ adminUser: 'admin', adminPassword: 'word', viewerUser: 'viewer', viewerPassword: 'look' }),
};
/** Pages for people, and what they load. */
const PAGES = /^\/(login|logout|monitoring|pages\/.*|dashboard.*|api\/docs.*)?$/;

test('the description is OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(description));
  assert.ok(valid, JSON.stringify(errors, null, 1));
});

/** Every route below a router: path, methods, and what its guard asks for. */
function* routesOf({ stack }, at = '') {
  for (const { route, handle } of stack) {
    if (!route) {
      if (handle.stack) yield* routesOf(handle, at);
      continue;
    }
    const handlers = route.stack.map((layer) => layer.handle);
    const methods = handlers.flatMap((one) => one.methods ?? []).concat(Object.keys(route.methods).filter((one) => one !== '_all'));
    for (const one of [route.path].flat()) yield { path: `${at}${one}`.replace(/:(\w+)/g, '{$1}'), methods, needs: handlers[0].needs };
  }
}

test('what is routed is what is described: paths, methods, rights', () => {
  const routed = new Map(); // the first route of a path and method is the one that answers
  for (const { path, methods, needs } of routesOf(createRouter(context))) {
    if (PAGES.test(path)) continue;
    for (const method of methods.map((one) => one.toLowerCase())) {
      if (method !== 'head' && !routed.has(`${method} ${path}`)) routed.set(`${method} ${path}`, needs);
    }
  }
  const described = Object.entries(description.paths).flatMap(([path, item]) => Object.entries(item).map(([method, operation]) =>
    `${method} ${path} ${operation.security?.length === 0 ? 'open' : operation['x-right']}`));
  assert.deepEqual([...routed].map(([route, needs]) => `${route} ${needs}`).sort(), described.sort());
});

test('the HACS tab is what is described: paths, methods, rights; no http in node leads past sda-access', () => {
  const flows = require('../../flows.json');
  const byId = new Map(flows.map((node) => [node.id, node]));
  const routed = flows.filter(({ type }) => type === 'http in').map(({ url, method, wires }) => {
    const next = wires.flat().map((id) => byId.get(id));
    assert.deepEqual(next.map(({ type }) => type), ['sda-access'], `${method} ${url}`);
    assert.equal(next[0].route, url, 'its parameters are checked');
    assert.equal(next[0].wires[1].length, 1, 'a refusal is answered');
    return { path: url, method: method.toUpperCase(), right: next[0].right, changes: next[0].changes };
  });
  assert.deepEqual(routed, HACS_ROUTES.flatMap(({ path, right, changes, methods }) => methods.filter((method) => method !== 'HEAD')
    .map((method) => ({ path, method, right, changes }))));
});

test('an operation that nothing answers ends the start', () => {
  const { staffPaths: paths } = require('../../lib/http/v1/description/people');
  const responses = { 200: { description: 'Shoes.' } };
  paths['/api/v1/staff/{staff_id}/shoes'] = { get: { operationId: 'listShoes', 'x-right': 'presence', responses } };
  try {
    const requireRight = (needs) => Object.assign(() => {}, { needs });
    assert.throws(() => createApi(context, requireRight), /listShoes is described, but nothing answers it/);
  } finally {
    delete paths['/api/v1/staff/{staff_id}/shoes'];
  }
});

test('names are defined once, every reference leads somewhere, everything described is used', () => {
  const ids = Object.values(description.paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
  assert.equal(new Set(ids).size, ids.length);
  const used = new Set(JSON.stringify(description).match(/#\/components\/\w+\/\w+/g));
  const there = Object.entries(description.components).flatMap(([kind, named]) => Object.keys(named).map((name) => `#/components/${kind}/${name}`))
    .filter((reference) => !reference.includes('securitySchemes'));
  assert.deepEqual([...used].sort(), there.sort());
});

test('every operation says which answers it may give when nobody is let in', () => {
  for (const [path, item] of Object.entries(description.paths)) {
    for (const [method, { responses, security }] of Object.entries(item)) {
      const open = security?.length === 0;
      assert.equal('401' in responses && '429' in responses && '403' in responses, !open, `${method} ${path}`);
    }
  }
});
