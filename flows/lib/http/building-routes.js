// @ts-check
'use strict';

const express = require('express');
const { callerOf } = require('../access');
const building = require('./building');
const { BOUNDS } = require('../building/pictures');
const { listStrangers } = require('./strangers');
const { sendJson } = require('./v1/send');

/**
 * The routes of the set-up and the devices page: the building with its versions, strangers, and who is asking.
 * @param {import('express').Router} router
 * @param {import('./building').Context & Parameters<typeof listStrangers>[0]} context
 * @param {ReturnType<typeof import('../access/guard').createAccess>['requireRight']} requireRight
 * @param {{allowMethods: (...methods: string[]) => import('express').RequestHandler,
 *   send: (response: import('express').Response, status: number, body: object|string) => void}} handlers
 */
function addBuildingRoutes(router, context, requireRight, { allowMethods, send }) {
  const read = requireRight(['presence', 'admin']);
  const change = requireRight('admin', { changes: true });
  /** @param {number} limit */
  const bytes = (limit) => express.raw({ limit, type: () => true });

  /** @typedef {{etag: string|null, body: object}} Result */
  /**
   * @param {(request: import('express').Request, response: import('express').Response) => Result|Promise<Result>} answer
   * @returns {import('express').RequestHandler}
   */
  const answering = (answer) => (request, response, next) => {
    Promise.resolve().then(() => answer(request, response)).then(({ etag, body }) => {
      if (etag === null) {
        sendJson(response, body);
        return;
      }
      response.set('ETag', etag);
      if (request.fresh) response.status(304).end();
      else send(response, 200, body);
    }).catch(next);
  };
  /** @param {() => object|Promise<object>} body @returns {Promise<Result>} */
  const plain = async (body) => ({ etag: null, body: await body() });
  /** @param {import('express').Request} request @param {import('express').Response} response */
  const who = (request, response) => ({ ifMatch: request.get('if-match'), by: callerOf(response).name });
  /** @param {import('express').Request} request */
  const bodyOf = (request) => (Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
  /** @param {import('express').Request} request */
  const numberOf = (request) => Number(/^[1-9]\d{0,8}$/.exec(request.params.version ?? '')?.[0] ?? 0);

  const whole = bytes(building.BUILDING_BYTES);
  router.get('/api/v1/building', read, answering(() => building.getBuilding(context)));
  router.put('/api/v1/building', change, whole, answering((request, response) =>
    building.replaceBuilding(context, bodyOf(request), who(request, response))));
  router.all('/api/v1/building', read, allowMethods('GET', 'HEAD', 'PUT'));
  router.all('/api/v1/building/validate', requireRight('admin'), allowMethods('POST'), whole, answering((request) =>
    plain(() => building.validateBuilding(context, bodyOf(request)))));
  router.all('/api/v1/building/import', change, allowMethods('POST'), bytes(building.LIST_BYTES), answering((request, response) =>
    building.importList(context, bodyOf(request), who(request, response), isYes(request.query.dry_run))));
  router.all('/api/v1/building/from-list', change, allowMethods('POST'), bytes(building.LIST_BYTES), answering((request, response) =>
    building.fromList(context, bodyOf(request), who(request, response), { dryRun: isYes(request.query.dry_run),
      name: String(request.query.name ?? '').trim(), how: String(request.query.how ?? '') })));
  router.all('/api/v1/building/pictures', change, allowMethods('POST'), bytes(PICTURE_BYTES), answering((request) =>
    plain(() => building.putPicture(context, bodyOf(request)))));
  router.all('/api/v1/building/versions', read, allowMethods('GET', 'HEAD'), answering(() => plain(() => building.listVersions(context))));
  router.all('/api/v1/building/versions/:version', read, allowMethods('GET', 'HEAD'),
    answering((request) => plain(() => building.getVersion(context, numberOf(request)))));
  router.all('/api/v1/building/versions/:version/restore', change, allowMethods('POST'),
    answering((request, response) => building.restoreVersion(context, numberOf(request), who(request, response))));

  router.all('/api/v1/me', requireRight('any'), allowMethods('GET', 'HEAD'), answering((_request, response) => {
    const { name, kind, rights, readOnly = false } = callerOf(response);
    return { etag: null, body: { name, kind, rights: [...rights], read_only: readOnly } };
  }));
  router.all('/api/v1/strangers', read, allowMethods('GET', 'HEAD'), answering(() => plain(() => listStrangers(context))));
}

/** A little more than is taken, for its own message. */
const PICTURE_BYTES = 2 * BOUNDS.bytes;

/** @param {unknown} value of the query */
const isYes = (value) => /^(1|true)$/.test(String(value));

module.exports = { addBuildingRoutes };
