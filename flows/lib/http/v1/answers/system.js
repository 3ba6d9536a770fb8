// @ts-check
'use strict';

const { KeyError, KeyFileError, NameTaken, parseExpiry, readAudit, sizeOfSubjects: size } = require('../../../access');
const { byUrgency, stateOf } = require('../../../alerts/alert-list');
const { createEvents } = require('../../../past/lookup');
const { ApiError, badRequest } = require('../../../shared/api-error');
const { parseMoment } = require('../../../shared/rfc3339');
const { KEPT_DAYS, createWindowFields, fromStore, momentMs, possible } = require('../ask');
const { readPage } = require('../paging');

/**
 * Of alerts, events, keys, the audit log and rebuilds.
 * @typedef {import('..').Context} Context
 * @param {Context} context
 * @returns {Record<string, import('..').Answer>}
 */
const createSystemAnswers = (context) => ({
  ...alertAnswers(context), ...eventAnswers(context), ...keyAnswers(context), ...auditAnswers(context),
  listRebuilds: () => ({ jobs: context.rebuild.jobs() }),
  requestRebuild: ({ body = {} }) => requestRebuild(context, body),
});

/**
 * `/api/v1/alerts`: alerts one by one and by kind, and their acknowledgement.
 * @typedef {import('../../../alerts').Alert} Alert
 * @param {Pick<Context, 'alerts'|'audit'>} context
 * @returns {Record<string, import('..').Answer>}
 */
const alertAnswers = ({ alerts, audit }) => ({
  listAlerts({ params: { kind, state }, after, limit, next }) {
    const wanted = alerts.list().filter((one) => one.kind === (kind ?? one.kind) && stateOf(one) === (state ?? stateOf(one)));
    const rest = after ? behind(wanted, alertAt(after)) : wanted;
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    return { alerts: page, open: alerts.open(), dropped: alerts.dropped(),
      next: next(last && rest.length > limit ? { ts: last.raised_ms, id: idOfAlert(last), same: 0 } : null) };
  },
  listAlertKinds: () => ({ groups: alerts.groups(), open: alerts.open(), dropped: alerts.dropped() }),
  async acknowledgeAlert({ params: { alert: id }, caller }) {
    const alert = await alerts.acknowledge(id, caller.name);
    if (!alert) throw new ApiError(404, `there is no alert ${id}: it may have ended and been seen meanwhile`);
    return alert;
  },
  async acknowledgeAlerts({ params: { kind, state, until }, caller }) {
    const untilMs = momentMs(until);
    const acknowledged = await alerts.acknowledgeAll(kind, caller.name, { state, untilMs });
    if (acknowledged === null) throw new ApiError(404, `there is no kind of alerts ${kind}`);
    const bound = untilMs === undefined ? '' : `, until ${new Date(untilMs).toISOString()}`;
    if (acknowledged > 0) await audit.adminAction('alerts_acknowledged', caller, `${acknowledged} of ${kind}${bound}`);
    return { acknowledged };
  },
});

/** @typedef {Pick<Alert, 'ended_ms'|'severity'|'raised_ms'|'id'>} Place where an alert stands in the list */

/** Alerts that follow a place, whether the alert there is still listed or not. @param {Readonly<Alert>[]} sorted @param {Place} place */
const behind = (sorted, place) => sorted.filter((one) => byUrgency(one, /** @type {Alert} */ (place)) > 0);

/** @param {Alert} alert */
const idOfAlert = ({ ended_ms: ended, severity, id }) => `${ended === null ? 'active' : 'ended'} ${severity} ${id}`;

/** @param {import('../paging').Cursor} after @returns {Place} */
function alertAt({ ts, id: written }) {
  const [, state, severity, id] = /^(active|ended) (critical|warning) (.+)$/.exec(written) ?? [];
  if (id === undefined) throw badRequest('cursor is none of ours: take what the answer before gave as "next"');
  return { ended_ms: state === 'ended' ? 0 : null, severity: /** @type {Alert['severity']} */ (severity), raised_ms: ts, id };
}

/** Which key of an event its subject stands under. @type {Record<string, 'staff_id'|'room'|'gateway'|'beacon'>} */
const SUBJECTS = { enter: 'staff_id', leave: 'staff_id', lost: 'staff_id', crowded: 'room', gateway_down: 'gateway', gateway_up: 'gateway',
  battery_low: 'beacon', battery_ok: 'beacon' };

/** @param {Context} context */
function eventAnswers({ site, store, refuseIncomplete = () => {}, ...context }) {
  const windowFields = createWindowFields(context);
  const eventsOf = createEvents({ store, site, clock: context.clock });

  /** @param {import('../ask').Ask} ask */
  async function listEvents({ params: { type, subject }, window, after, limit, nowMs, next }) {
    /** @type {import('../paging').Read<import('../../../store/readings').StoredEvent>} */
    const read = (from, to, count) => fromStore(eventsOf({ type, subject }, from, to, count));
    const part = possible(window, nowMs, KEPT_DAYS);
    if (part.fromMs < part.toMs) await fromStore(async () => refuseIncomplete(part.fromMs, part.toMs, [], nowMs));
    const { items, last } = await readPage(read, part, after, limit,
      { ts: ({ ts }) => ts, id: (event) => `${event.subject} ${event.type}`, newestFirst: true });
    const events = items.map((event) => ({ ...event, ...named(event) }));
    return { ...windowFields(window, []), events, next: next(last) };
  }

  return { listEvents };
}

/** The subject under the key that it has in the message. @param {{type: string, subject: string}} event */
function named({ type, subject }) {
  const key = SUBJECTS[type];
  return key ? { [key]: subject } : {};
}

/**
 * `/api/v1/keys`: the named keys, for admins. A key itself is in one answer alone, that which makes it.
 * @typedef {import('../../../access/keys').KeyRecord} KeyRecord
 */

/** A key as it is answered, without its fingerprint. @param {KeyRecord} record @param {number} nowMs */
const keyAnswer = ({ id, name, rights, created_ms: created, expires_ms: expires, rate_per_s: rate }, nowMs) => ({
  id, name, rights, created_ms: created, expires_ms: expires, expired: expires !== null && expires <= nowMs, rate_per_s: rate ?? null,
});

/** @param {Pick<Context, 'keys'|'clock'>} context */
const listKeys = ({ keys, clock }) => ({ keys: keys.records().map((record) => keyAnswer(record, clock())) });

/**
 * @param {Pick<Context, 'keys'|'clock'>} context
 * @param {Record<string, any>} params checked: name, rights (a list, or with commas), expires (`90d`, RFC 3339, never), rate_per_s
 */
async function createKey({ keys, clock }, { name, rights, expires, rate_per_s: rate }) {
  let expiresMs;
  try {
    expiresMs = parseExpiry(expires, clock());
  } catch (error) {
    throw badRequest(`expires: ${/** @type {Error} */ (error).message}`);
  }
  const ratePerS = rate ?? undefined;
  const listed = typeof rights === 'string' ? rights.split(',').map((right) => right.trim()) : rights;
  const { record, key } = await granted(keys.add({ name, rights: listed, expiresMs, ratePerS }));
  return { ...keyAnswer(record, clock()), key };
}

/** @param {Pick<Context, 'keys'|'clock'>} context @param {string} id */
async function revokeKey({ keys, clock }, id) {
  const record = await granted(keys.revoke(id));
  if (!record) throw new ApiError(404, `there is no key ${id}`);
  return keyAnswer(record, clock());
}

/** @template T @param {Promise<T>} work @returns {Promise<T>} */
const granted = (work) => work.catch((error) => {
  if (error instanceof KeyFileError) throw new ApiError(503, `keys cannot be changed: their file ${error.message}`, 60);
  if (error instanceof NameTaken) throw new ApiError(409, error.message);
  throw error instanceof KeyError ? badRequest(error.message) : error;
});

/** @param {Context} context @returns {Record<string, import('..').Answer>} */
const keyAnswers = (context) => ({
  listKeys: () => listKeys(context),
  async createKey({ body = {}, caller }) {
    const made = await createKey(context, body);
    await context.audit.adminAction('key_added', caller, `${made.name} (${made.id}): ${made.rights.join(', ')}`);
    return made;
  },
  async revokeKey({ params, caller }) {
    const gone = await revokeKey(context, params.id);
    await context.audit.adminAction('key_revoked', caller, `${gone.name} (${gone.id})`);
    return gone;
  },
});

/**
 * `/api/v1/audit`: who looked up whose history, for admins. Reading it is written down too.
 * @typedef {import('../../../access/audit').Audit} Audit
 */

/** Of a look-up of many so many people are listed, with their number; the file has all of them. */
const LISTED = 100;

/**
 * @param {{audit: Pick<Audit, 'folder'|'settle'|'adminAction'>}} context
 * @returns {Record<string, import('..').Answer>}
 */
const auditAnswers = ({ audit }) => ({
  async listAudit({ params: { who, subject }, window, after, limit, caller, next }) {
    const place = after && lineAt(after.id);
    if (place) await audit.settle();
    else { // the pages of one question are one reading
      const asked = [['who', who], ['subject', subject]].filter(([, value]) => value !== undefined).map((pair) => pair.join(' '));
      const time = `${new Date(window.fromMs).toISOString()} to ${new Date(window.toMs).toISOString()}`;
      await audit.adminAction('audit_read', caller, [time, ...asked].join(', '));
    }
    const { entries, next: further } = await readAudit(audit.folder, { ...window, who, subject }, place, limit);
    return {
      start_ms: window.fromMs, end_ms: window.toMs, entries: entries.map(entryAnswer),
      next: next(further && { ts: 0, id: `${further.day} ${further.offset}`, same: 0 }),
    };
  },
});

/** @param {import('../../../access/audit-read').Entry} entry */
function entryAnswer({ subjects, subjects_count: _count, ...rest }) {
  if (subjects === undefined) return rest;
  return { ...rest, subjects: subjects === '*' ? subjects : subjects.slice(0, LISTED), subjects_count: size(subjects) };
}

/** @param {string} id of a cursor @returns {import('../../../access/audit-read').Place} */
function lineAt(id) {
  const match = /^(\d{4}-\d{2}-\d{2}) (\d{1,12})$/.exec(id);
  if (!match) throw badRequest('cursor is none of ours: take what the answer before gave as "next"');
  return { day: match[1] ?? '', offset: Number(match[2]) };
}

/**
 * `/api/v1/rebuild`: have a time located again from the stored readings, and see how far that is.
 */

/**
 * @param {string|number} value checked: RFC 3339, where time, seconds and offset may be left out, or epoch seconds
 * @returns {number} epoch ms
 */
const msOf = (value) => (typeof value === 'number' ? Math.floor(value * 1000) : /** @type {number} */ (parseMoment(value, { short: true })));

/**
 * @param {Pick<Context, 'rebuild'|'clock'>} context
 * @param {Record<string, any>} params from and, if not to the present, to
 */
function requestRebuild({ rebuild, clock }, params) {
  const fromMs = msOf(params.from);
  const toMs = params.to === undefined || params.to === '' ? clock() : msOf(params.to);
  if (fromMs > toMs) throw badRequest('from is after to');
  if (fromMs > clock()) throw badRequest('from lies ahead');
  const job = rebuild.request(fromMs, Math.min(toMs, clock()));
  if (!job) throw new ApiError(429, 'too many rebuilds are waiting already', 60);
  return job;
}

module.exports = { createSystemAnswers };
