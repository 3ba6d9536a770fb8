// @ts-check
'use strict';

/**
 * The list of alerts and their life: raised when a condition has lasted long enough, ended when it has been resolved long enough,
 * acknowledged by somebody. An ended alert stays until it is acknowledged, or for a day, so that nobody misses what happened at
 * night. A condition that comes back after the end is raised again, acknowledged or not.
 * @typedef {import('./kinds').Kind} Kind
 * @typedef {import('./kinds').Condition} Condition
 * @typedef {import('./kinds').Facts} Facts
 * @typedef {object} Alert times in epoch ms
 * @property {string} id `<kind>:<subject>`
 * @property {string} kind
 * @property {string} subject the person or thing that it is about
 * @property {'critical'|'warning'} severity
 * @property {number} since when it began, as far as is known
 * @property {number} raised_ms
 * @property {number|null} ended_ms null: it is active
 * @property {string} text what is wrong
 * @property {string} todo what to do
 * @property {string|null} level
 * @property {string|null} room
 * @property {string[]} subjects all subjects of an alert that stands for many
 * @property {{by: string, ts: number}|null} acknowledged
 * @typedef {ReturnType<typeof createAlertList>} AlertList
 */

/** More than anybody reads. */
const ALERTS_MAX = 1000;
const ENDED_KEPT_MS = 24 * 3_600_000;
/** No alert ends within this time after a start, since the present becomes known bit by bit. */
const START_MS = 60_000;

/**
 * @param {Kind[]} kinds
 * @param {number} startedMs epoch ms
 * @param {Alert[]} [known] alerts of an earlier run
 * @param {(alert: Alert, nowMs: number) => void} [onChange] called when an alert is raised or ends
 */
function createAlertList(kinds, startedMs, known = [], onChange = () => {}) {
  const byKind = new Map(kinds.map((kind) => [kind.kind, kind]));
  /** @type {Map<string, Alert>} by id */
  const alerts = new Map(known.filter(({ kind }) => byKind.has(kind)).map((alert) => [alert.id, alert]));
  /** Start of a condition that is not raised yet, or of a recovery that has not ended the alert yet. @type {Map<string, number>} */
  const pendingSince = new Map();
  /** Ids of alerts that found no room. @type {Set<string>} */
  const rejected = new Set();
  let dropped = 0;
  let version = 0;

  /**
   * Raises and ends alerts; called every second or two.
   * @param {Facts} facts
   * @param {number} nowMs
   */
  function evaluate(facts, nowMs) {
    for (const kind of kinds) {
      const conditions = new Map(kind.conditions(facts, (subject) => activeAlert(`${kind.kind}:${subject}`), nowMs)
        .map((condition) => [`${kind.kind}:${condition.subject}`, condition]));
      for (const [id, condition] of conditions) {
        if (isActive(id)) update(/** @type {Alert} */ (alerts.get(id)), condition);
        else if (hasLasted(id, kind.raiseMs, nowMs)) raise(id, kind, condition, nowMs);
      }
      for (const alert of alerts.values()) {
        if (alert.kind === kind.kind && alert.ended_ms === null && !conditions.has(alert.id)) endIfResolved(alert, kind, facts, nowMs);
      }
      const isStale = (/** @type {string} */ id) => id.startsWith(`${kind.kind}:`) && !conditions.has(id) && !isActive(id);
      for (const ids of [pendingSince, rejected]) for (const id of ids.keys()) if (isStale(id)) ids.delete(id);
    }
    for (const { id, ended_ms: ended } of alerts.values()) if (ended !== null && nowMs - ended > ENDED_KEPT_MS) remove(id);
  }

  /** @param {string} id */
  const isActive = (id) => alerts.get(id)?.ended_ms === null;
  /** @param {string} id */
  const activeAlert = (id) => (isActive(id) ? /** @type {Alert} */ (alerts.get(id)) : null);

  /**
   * A condition that is no longer reported is either resolved or not known.
   * @param {Alert} alert @param {Kind} kind @param {Facts} facts @param {number} nowMs
   */
  function endIfResolved(alert, kind, facts, nowMs) {
    if (nowMs - startedMs < START_MS || !kind.isResolved(facts, alert, nowMs)) pendingSince.delete(alert.id);
    else if (hasLasted(alert.id, kind.endMs, nowMs)) end(alert, nowMs);
  }

  /** @param {string} id @param {number} forMs @param {number} nowMs */
  function hasLasted(id, forMs, nowMs) {
    const since = pendingSince.get(id) ?? nowMs;
    pendingSince.set(id, since);
    return nowMs - since >= forMs;
  }

  /** @param {string} id @param {Kind} kind @param {Condition} condition @param {number} nowMs */
  function raise(id, kind, { subject, since, text, todo, level = null, room = null, subjects = [] }, nowMs) {
    if (!alerts.has(id) && !makeRoom(id, kind)) return;
    const began = since ?? pendingSince.get(id) ?? nowMs;
    pendingSince.delete(id);
    alerts.delete(id);
    alerts.set(id, { id, kind: kind.kind, subject, severity: kind.severity, since: began, raised_ms: nowMs, ended_ms: null, text, todo,
      level, room, subjects, acknowledged: null });
    version += 1;
    onChange(/** @type {Alert} */ (alerts.get(id)), nowMs);
  }

  /**
   * Removes an ended alert for an active one, or a warning for a critical one, when the list is full.
   * @param {string} id @param {Kind} kind @returns {boolean} whether there is room
   */
  function makeRoom(id, { severity }) {
    if (alerts.size < ALERTS_MAX) return true;
    const all = [...alerts.values()];
    const victim = all.find(({ ended_ms: ended }) => ended !== null)
      ?? (severity === 'critical' ? all.find((alert) => alert.severity === 'warning') : undefined);
    if (victim) alerts.delete(victim.id);
    if (victim || !rejected.has(id)) dropped += 1;
    if (!victim) rejected.add(id);
    return victim !== undefined;
  }

  /** Takes over newer texts and subjects of an active alert. @param {Alert} alert @param {Condition} condition */
  function update(alert, { text, todo, level = null, room = null, subjects = [] }) {
    pendingSince.delete(alert.id);
    const before = new Set(alert.subjects);
    const hasNew = subjects.some((id) => !before.has(id));
    if (hasNew) alert.acknowledged = null; // nobody has seen the new subjects
    if (hasNew || subjects.length !== before.size) version += 1;
    Object.assign(alert, { text, todo, level, room, subjects });
  }

  /** @param {Alert} alert @param {number} nowMs */
  function end(alert, nowMs) {
    alert.ended_ms = pendingSince.get(alert.id) ?? nowMs;
    pendingSince.delete(alert.id);
    version += 1;
    onChange(alert, nowMs);
    if (alert.acknowledged) remove(alert.id);
  }

  /** @param {string} id */
  function remove(id) {
    alerts.delete(id);
    version += 1;
  }

  /**
   * Acknowledges an alert; the first acknowledgement stays. An ended alert leaves the list.
   * @param {string} id @param {string} by @param {number} nowMs
   * @returns {Alert|null} null: there is no such alert
   */
  function acknowledge(id, by, nowMs) {
    const alert = alerts.get(id);
    if (!alert) return null;
    if (!alert.acknowledged) version += 1;
    alert.acknowledged ??= { by, ts: nowMs };
    if (alert.ended_ms !== null) remove(id);
    return { ...alert };
  }

  /**
   * Acknowledges all alerts of a kind. @param {string} kind @param {string} by @param {number} nowMs
   * @returns {number|null} how many were not acknowledged before; null: there is no such kind
   */
  function acknowledgeAll(kind, by, nowMs) {
    if (!byKind.has(kind)) return null;
    const unseen = [...alerts.values()].filter((alert) => alert.kind === kind && !alert.acknowledged);
    for (const { id } of unseen) acknowledge(id, by, nowMs);
    return unseen.length;
  }

  return {
    evaluate,
    acknowledge,
    acknowledgeAll,
    /** @returns {Alert[]} active ones first, then critical ones, then the newest */
    list: () => [...alerts.values()].map((alert) => ({ ...alert })).sort(byUrgency),
    /** How many active alerts nobody has acknowledged. */
    open: () => [...alerts.values()].filter(({ ended_ms: ended, acknowledged }) => ended === null && !acknowledged).length,
    /** How many alerts were not raised, or were removed, because the list was full. */
    dropped: () => dropped,
    /** Grows whenever an alert is raised, ends, is acknowledged or is removed. */
    version: () => version,
  };
}

/** @param {Alert} a @param {Alert} b */
const byUrgency = (a, b) => Number(a.ended_ms !== null) - Number(b.ended_ms !== null)
  || Number(a.severity !== 'critical') - Number(b.severity !== 'critical') || b.raised_ms - a.raised_ms || (a.id < b.id ? -1 : 1);

module.exports = { createAlertList, ALERTS_MAX, ENDED_KEPT_MS, START_MS };
