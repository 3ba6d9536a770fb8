// @ts-check
'use strict';

const express = require('express');
const { callerOf } = require('../access');
const { faultsOf, inspect } = require('../building');
const { nameFault, newAwkward, warningsOf } = require('../building/awkward');
const { Conflict, NotWritable, changesBetween, faultDetails } = require('../building/editor');
const { importRows } = require('../building/import/beacons');
const { baseOf, fromRows } = require('../building/import/from-list');
const { inspectList } = require('../building/inspection');
const { BOUNDS, PictureError } = require('../building/pictures');
const { BUILDING_BYTES } = require('../building/source');
const { ApiError, badRequest } = require('../shared/api-error');
const { TookTooLong, within } = require('../shared/deadline');
const { inPieces } = require('../shared/pieces');
const { sendJson } = require('./encode');

/**
 * The routes of the set-up and the devices page: the building with its versions, strangers, and who is asking.
 * @param {import('express').Router} router
 * @param {Context & Parameters<typeof listStrangers>[0]} context
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

  const whole = bytes(BUILDING_BYTES);
  router.get('/api/v1/building', read, answering(() => getBuilding(context)));
  router.put('/api/v1/building', change, whole, answering((request, response) =>
    replaceBuilding(context, bodyOf(request), who(request, response))));
  router.all('/api/v1/building', read, allowMethods('GET', 'HEAD', 'PUT'));
  router.all('/api/v1/building/validate', requireRight('admin'), allowMethods('POST'), whole, answering((request) =>
    plain(() => validateBuilding(context, bodyOf(request)))));
  router.all('/api/v1/building/import', change, allowMethods('POST'), bytes(LIST_BYTES), answering((request, response) =>
    importList(context, bodyOf(request), who(request, response), isYes(request.query.dry_run))));
  router.all('/api/v1/building/from-list', change, allowMethods('POST'), bytes(LIST_BYTES), answering((request, response) =>
    fromList(context, bodyOf(request), who(request, response), { dryRun: isYes(request.query.dry_run),
      name: String(request.query.name ?? '').trim(), how: String(request.query.how ?? '') })));
  router.all('/api/v1/building/pictures', change, allowMethods('POST'), bytes(PICTURE_BYTES), answering((request) =>
    plain(() => putPicture(context, bodyOf(request)))));
  router.all('/api/v1/building/versions', read, allowMethods('GET', 'HEAD'), answering(() => plain(() => listVersions(context))));
  router.all('/api/v1/building/versions/:version', read, allowMethods('GET', 'HEAD'),
    answering((request) => plain(() => getVersion(context, numberOf(request)))));
  router.all('/api/v1/building/versions/:version/restore', change, allowMethods('POST'),
    answering((request, response) => restoreVersion(context, numberOf(request), who(request, response))));

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

/**
 * `/api/v1/building`: the building file, its check, its change, and its versions. A change names the ETag of what it was made
 * from, in `If-Match`, so that two editors do not overwrite each other; `*` is a change of whatever there is.
 * @typedef {{editor: import('../building/editor').Editor, pictures: {put: (bytes: Buffer) => Promise<string>},
 *   reload: () => Promise<void>, site: import('../site').Site}} Context reload: take
 *   the changed file over now
 * @typedef {{ifMatch: string|undefined, by: string}} Who
 * @typedef {import('../building').BuildingFile} BuildingFile
 */

const LIST_BYTES = 256 * 1024; // 7,000 beacons
const WRITABLE = 'see that Node-RED may write the folder of the building file (under Compose: that it is mounted, not the file alone)';

/** @param {string} digest */
const etagOf = (digest) => `"${digest.slice(0, 32)}"`;

/** @param {Context} context @returns {Promise<{etag: string, body: BuildingFile}>} */
async function getBuilding({ editor }) {
  const { file, digest } = await editor.current();
  return { etag: etagOf(digest), body: file };
}

/** A list of a few thousand rows is placed within a second. */
const PLACE_WITHIN_MS = 30_000;
/** The answer says whether the building is in use; it does not wait for ever for that. */
const RELOAD_WITHIN_MS = 15_000;

/**
 * Buildings that were in use: what they have may stay.
 * @param {Pick<Context, 'editor'|'site'>} context
 */
const before = ({ editor, site }) => [site.building().file, editor.good()];

/** @param {Context} context @param {Buffer} bytes */
async function validateBuilding(context, bytes) {
  const { data, faults } = await inspect(bytes, before(context));
  return { valid: faults.length === 0, faults_count: faults.length, faults: faultDetails(faults),
    ...(data === null ? {} : warningsPart(data)) };
}

/** Warnings of what the building has and a new edit may not bring; nothing where there are none. @param {BuildingFile} file */
function warningsPart(file) {
  const warnings = warningsOf(file);
  return warnings.length > 0 ? { warnings_count: warnings.length, warnings: faultDetails(warnings) } : {};
}

/** @param {string[]} faults */
const refused = (faults) => new ApiError(422, `the building has ${faults.length} fault${faults.length === 1 ? '' : 's'}; nothing was changed`,
  undefined, { more: { faults_count: faults.length, faults: faultDetails(faults) } });

/**
 * The digest that the caller has seen.
 * @param {Context} context @param {string|undefined} ifMatch
 */
async function seen({ editor }, ifMatch) {
  if (!ifMatch) throw new ApiError(428, 'If-Match is missing: send the ETag of the building that you have changed');
  const { digest } = await editor.current();
  const named = ifMatch.trim() === '*' || ifMatch.match(/"[^"]*"/g)?.includes(etagOf(digest)); // weak ones too: proxies weaken them
  return named ? digest : ''; // '': nobody's
}

/**
 * @param {Context} context @param {BuildingFile} file checked @param {Who} who
 * @param {import('../building/editor').How} how @param {number|null} [of]
 */
async function write(context, file, { ifMatch, by }, how, of = null) {
  return writeOver(context, file, await seen(context, ifMatch), { by, how, of });
}

/**
 * @param {Pick<Context, 'editor'|'reload'|'site'>} context @param {BuildingFile} file checked
 * @param {string} digest of what it is to replace
 * @param {{by: string, how: import('../building/editor').How, of: number|null}} what
 */
async function writeOver(context, file, digest, what) {
  const written = await context.editor.write(file, digest, what).catch((error) => { throw asApiError(error); });
  await within(context.reload(), RELOAD_WITHIN_MS, 'taking it over').catch((error) => { if (!(error instanceof TookTooLong)) throw error; });
  const now = await context.editor.current();
  const { version, set_aside: aside } = written;
  return { etag: etagOf(now.digest), body: {
    version: version?.version ?? null, changes: version?.changes ?? changesBetween(file, file),
    in_use: context.site.building().digest === now.digest, set_aside: aside,
  } };
}

/** @param {unknown} error */
function asApiError(error) {
  if (error instanceof NotWritable) return new ApiError(503, `${error.message}: ${WRITABLE}`, 60);
  if (!(error instanceof Conflict)) return error;
  const { version, by, how } = error.version ?? {};
  const who = by ?? (how === 'file' ? 'hand' : 'somebody');
  return new ApiError(412, `the building was changed meanwhile by ${who} (version ${version}): get it again and change that`,
    undefined, { headers: { ETag: etagOf(error.digest) }, more: { version: version ?? null } });
}

/** @param {Context} context @param {Buffer} bytes @param {Who} who */
async function replaceBuilding(context, bytes, who) {
  const { data, faults } = await inspect(bytes, before(context));
  if (faults.length > 0) throw refused(faults);
  return write(context, data, who, 'edit');
}

/**
 * A list of beacons, as CSV. Rows that cannot be taken are listed; the others are.
 * @param {Context} context @param {Buffer} bytes @param {Who} who @param {boolean} dryRun only say what would be
 */
async function importList(context, bytes, who, dryRun) {
  const { file: base } = await context.editor.current();
  const { file, added, unchanged, faults } = await taken(bytes, base);
  const list = { added, unchanged, refused_count: faults.length, refused: faults.slice(0, 1000) };
  if (dryRun) return { etag: null, body: { ...list, version: null, in_use: null, set_aside: null } };
  const { etag, body: { version, in_use, set_aside } } = await write(context, file, who, 'import');
  return { etag, body: { ...list, version, in_use, set_aside } };
}

/** @param {Buffer} bytes @returns {Promise<import('../building/inspection').InspectedList>} */
async function rowsOf(bytes) {
  const { result, refusal } = await inspectList(bytes);
  if (refusal !== undefined) throw badRequest(refusal);
  return result;
}

/** @param {Buffer} bytes @param {BuildingFile} base */
async function taken(bytes, base) {
  const imported = await inPieces(importRows(await rowsOf(bytes), base), PLACE_WITHIN_MS);
  const faults = await faultsOf(imported.file);
  if (faults.length > 0) throw refused(faults);
  return imported;
}

/** As long as a name in a building file. */
const LONGEST_NAME = 120;

/**
 * A building out of a list of beacons: its levels and rooms are made.
 * @param {Context} context @param {Buffer} bytes @param {Who} who
 * @param {{dryRun: boolean, name: string, how: string}} wish name, how: as `baseOf` takes them
 */
async function fromList(context, bytes, who, { dryRun, name, how }) {
  if (how !== '' && how !== 'new' && how !== 'add') throw badRequest('how must be new or add');
  if (name.length > LONGEST_NAME) throw badRequest(`name has ${name.length} characters, at most ${LONGEST_NAME} are taken`);
  if (name !== '' && nameFault(name)) throw badRequest(`${nameFault(name)}`);
  const { file: now } = await context.editor.current();
  const { anew, base } = baseOf(now, { how, name });
  const { file, faults: rows, notes, ...made } = await inPieces(fromRows(await rowsOf(bytes), base), PLACE_WITHIN_MS);
  const list = { building: file.building, new: anew, ...made, notes: notes.slice(0, 100),
    refused_count: rows.length, refused: rows.slice(0, 1000) };
  if (dryRun) return { etag: null, body: { ...list, version: null, in_use: null, set_aside: null } };
  const hard = await faultsOf(file);
  const faults = hard.length > 0 ? hard : newAwkward(file, before(context));
  if (faults.length > 0) throw refused(faults);
  const { etag, body: { version, in_use, set_aside } } = await write(context, file, who, 'import');
  return { etag, body: { ...list, version, in_use, set_aside } };
}

/**
 * A picture for a level's `plan`. The building is as before until it names it.
 * @param {Context} context @param {Buffer} bytes
 */
async function putPicture({ pictures }, bytes) {
  const plan = await pictures.put(bytes).catch((error) => {
    if (error instanceof PictureError) throw badRequest(error.message);
    throw error.code === undefined ? error : asApiError(new NotWritable(error));
  });
  return { plan };
}

/** @param {Context} context */
async function listVersions({ editor }) {
  const { file, digest, faults } = await editor.current();
  const versions = await editor.versions().catch((error) => { throw asApiError(new NotWritable(error)); });
  const list = versions.list();
  return { current: list.find((one) => one.digest === digest)?.version ?? null, dropped: versions.dropped(),
    faults_count: faults.length, faults: faultDetails(faults), ...warningsPart(file), versions: list.map(versionAnswer) };
}

/** @param {import('../building/editor').Version} version */
const versionAnswer = ({ digest: _, ...version }) => version;

/** @param {Context} context @param {number} number */
async function versionOf({ editor }, number) {
  const found = await (await editor.versions()).read(number);
  if (!found) throw new ApiError(404, `there is no version ${number}; the oldest go when there are too many`);
  return found;
}

/** With what would change by going back to it. @param {Context} context @param {number} number */
async function getVersion(context, number) {
  const { version, building } = await versionOf(context, number);
  return { ...versionAnswer(version), restoring: changesBetween((await context.editor.current()).file, building), building };
}

/** @param {Context} context @param {number} number @param {Who} who */
async function restoreVersion(context, number, who) {
  const { building } = await versionOf(context, number);
  const faults = await faultsOf(building); // what is checked may have grown since
  if (faults.length > 0) throw refused(faults);
  return write(context, building, who, 'restore', number);
}

/**
 * `/api/v1/strangers`: what was heard that nobody registered.
 * @param {{site: import('../site').Site, clock: () => number}} context
 */
function listStrangers({ site, clock }) {
  const nowMs = clock();
  const beacons = site.devices.beacons.unregistered().map(({ beacon, first_ms, heard_ms, kind, receiver, rssi, count }) => (
    { beacon, first_ms, heard_ms, kind, receiver, rssi, count }));
  const gateways = site.devices.gateways.unlisted().map((gateway) => {
    const { state = 'unknown', since = null, reading_ms = null } = site.devices.gateways.of(gateway, nowMs) ?? {};
    return { gateway, state, since, reading_ms };
  });
  return { beacons, gateways };
}

module.exports = { addBuildingRoutes, refused, writeOver };
