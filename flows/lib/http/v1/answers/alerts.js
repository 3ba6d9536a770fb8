// @ts-check
'use strict';

const { byUrgency, stateOf } = require('../../../alerts/alert-list');
const { ApiError, badRequest } = require('../../../shared/api-error');
const { momentMs } = require('../window');

/**
 * `/api/v1/alerts`: alerts one by one and by kind, and their acknowledgement.
 * @typedef {import('../../../alerts').Alert} Alert
 * @typedef {{alerts: import('../../../alerts').Alerts, audit: Pick<import('../../../access/audit').Audit, 'adminAction'>}} Context
 * @param {Context} context
 * @returns {Record<string, import('.').Answer>}
 */
const createAlertAnswers = ({ alerts, audit }) => ({
  listAlerts({ params: { kind, state }, after, limit, next }) {
    const wanted = alerts.list().filter((one) => one.kind === (kind ?? one.kind) && stateOf(one) === (state ?? stateOf(one)));
    const rest = after ? behind(wanted, placeOf(after)) : wanted;
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    return { alerts: page, open: alerts.open(), dropped: alerts.dropped(),
      next: next(last && rest.length > limit ? { ts: last.raised_ms, id: idOf(last), same: 0 } : null) };
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

/** What follows a place, whether the alert there is still listed or not. @param {Readonly<Alert>[]} sorted @param {Place} place */
const behind = (sorted, place) => sorted.filter((one) => byUrgency(one, /** @type {Alert} */ (place)) > 0);

/** @param {Alert} alert */
const idOf = ({ ended_ms: ended, severity, id }) => `${ended === null ? 'active' : 'ended'} ${severity} ${id}`;

/** @param {import('../cursor').Cursor} after @returns {Place} */
function placeOf({ ts, id: written }) {
  const [, state, severity, id] = /^(active|ended) (critical|warning) (.+)$/.exec(written) ?? [];
  if (id === undefined) throw badRequest('cursor is none of ours: take what the answer before gave as "next"');
  return { ended_ms: state === 'ended' ? 0 : null, severity: /** @type {Alert['severity']} */ (severity), raised_ms: ts, id };
}

module.exports = { createAlertAnswers };
