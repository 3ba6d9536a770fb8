// @ts-check
'use strict';

const { createCapacity, endedOf } = require('./capacity');
const { byUrgency, groupAlerts } = require('./groups');

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
 * @property {number} changed_ms when it was raised or its end was noticed, whichever is later
 * @property {string} text what is wrong
 * @property {string} todo what to do
 * @property {string|null} level
 * @property {string|null} room
 * @property {{by: string, ts: number}|null} acknowledged
 * @typedef {ReturnType<typeof createAlertList>} AlertList
 *
 * @typedef {object} Partition the alerts of a kind
 * @property {Kind} kind
 * @property {Map<string, Alert>} alerts by subject
 * @property {number} ended how many of them have ended
 * @property {Map<string, number>} pendingSince start of a condition that is not raised yet, or of a recovery that has not ended
 *   the alert yet, by subject
 * @property {Set<string>} rejected subjects of alerts that found no space
 */

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
  /** @type {Map<string, Partition>} by kind */
  const partitions = new Map(kinds.map((kind) => [kind.kind,
    { kind, alerts: new Map(), ended: 0, pendingSince: new Map(), rejected: new Set() }]));
  for (const alert of known) partitions.get(alert.kind)?.alerts.set(alert.subject, alert);
  for (const partition of partitions.values()) partition.ended = endedOf(partition).length;
  const capacity = createCapacity(partitions, remove);
  let version = 0;
  /** Sorted and grouped once for all readers. @type {{sorted: Alert[]|null, groups: import('./groups').Group[]|null}} */
  const cached = { sorted: null, groups: null };
  const forget = () => Object.assign(cached, { sorted: null, groups: null });

  /** Something was raised, ended, acknowledged or removed. */
  function changed() {
    version += 1;
    forget();
  }

  /**
   * Raises and ends alerts; called every second or two.
   * @param {Facts} facts
   * @param {number} nowMs
   */
  function evaluate(facts, nowMs) {
    for (const partition of partitions.values()) {
      const { kind, alerts, pendingSince, rejected } = partition;
      const conditions = kind.conditions(facts, (subject) => activeAlert(partition, subject), nowMs);
      const subjects = new Set(conditions.map(({ subject }) => subject));
      for (const condition of conditions) {
        const active = activeAlert(partition, condition.subject);
        if (active) update(partition, active, condition);
        else if (hasLasted(partition, condition.subject, kind.raiseMs, nowMs)) raise(partition, condition, nowMs);
      }
      for (const alert of alerts.values()) {
        if (alert.ended_ms === null && !subjects.has(alert.subject)) endIfResolved(partition, alert, facts, nowMs);
      }
      for (const stale of [pendingSince, rejected]) {
        for (const subject of stale.keys()) if (!subjects.has(subject) && !activeAlert(partition, subject)) stale.delete(subject);
      }
      if (partition.ended === 0) continue;
      for (const { subject, ended_ms: ended } of endedOf(partition)) if (nowMs - Number(ended) > ENDED_KEPT_MS) remove(partition, subject);
    }
  }

  /** @param {Partition} partition @param {string} subject @returns {Alert|null} */
  function activeAlert({ alerts }, subject) {
    const alert = alerts.get(subject);
    return alert?.ended_ms === null ? alert : null;
  }

  /**
   * A condition that is no longer reported is either resolved or not known.
   * @param {Partition} partition @param {Alert} alert @param {Facts} facts @param {number} nowMs
   */
  function endIfResolved(partition, alert, facts, nowMs) {
    const { kind, pendingSince } = partition;
    if (nowMs - startedMs < START_MS || !kind.isResolved(facts, alert, nowMs)) pendingSince.delete(alert.subject);
    else if (hasLasted(partition, alert.subject, kind.endMs, nowMs)) end(partition, alert, nowMs);
  }

  /** @param {Partition} partition @param {string} subject @param {number} forMs @param {number} nowMs */
  function hasLasted({ pendingSince }, subject, forMs, nowMs) {
    const since = pendingSince.get(subject) ?? nowMs;
    pendingSince.set(subject, since);
    return nowMs - since >= forMs;
  }

  /** @param {Partition} partition @param {Condition} condition @param {number} nowMs */
  function raise(partition, { subject, since, text, todo, level = null, room = null }, nowMs) {
    const { kind, alerts, pendingSince } = partition;
    if (!alerts.has(subject) && !capacity.makeSpace(partition, subject)) return;
    const began = since ?? pendingSince.get(subject) ?? nowMs;
    pendingSince.delete(subject);
    if (alerts.has(subject)) remove(partition, subject); // it had ended
    /** @type {Alert} */
    const alert = { id: `${kind.kind}:${subject}`, kind: kind.kind, subject, severity: kind.severity, since: began, raised_ms: nowMs,
      ended_ms: null, changed_ms: nowMs, text, todo, level, room, acknowledged: null };
    alerts.set(subject, alert);
    changed();
    onChange(alert, nowMs);
  }

  /** Takes over newer texts of an active alert. @param {Partition} partition @param {Alert} alert @param {Condition} condition */
  function update({ pendingSince }, alert, { text, todo, level = null, room = null }) {
    pendingSince.delete(alert.subject);
    if (alert.text === text && alert.todo === todo && alert.level === level && alert.room === room) return;
    Object.assign(alert, { text, todo, level, room });
    forget();
  }

  /** @param {Partition} partition @param {Alert} alert @param {number} nowMs */
  function end(partition, alert, nowMs) {
    Object.assign(alert, { ended_ms: partition.pendingSince.get(alert.subject) ?? nowMs, changed_ms: nowMs });
    partition.pendingSince.delete(alert.subject);
    partition.ended += 1;
    changed();
    onChange(alert, nowMs);
    if (alert.acknowledged) remove(partition, alert.subject);
  }

  /** @param {Partition} partition @param {string} subject */
  function remove(partition, subject) {
    if (partition.alerts.get(subject)?.ended_ms !== null) partition.ended -= 1;
    partition.alerts.delete(subject);
    changed();
  }

  /**
   * Acknowledges an alert; the first acknowledgement stays. An ended alert leaves the list.
   * @param {string} id @param {string} by @param {number} nowMs
   * @returns {Alert|null} null: there is no such alert
   */
  function acknowledge(id, by, nowMs) {
    const colon = id.indexOf(':');
    const partition = partitions.get(id.slice(0, colon));
    const alert = partition?.alerts.get(id.slice(colon + 1));
    if (!partition || !alert) return null;
    if (!alert.acknowledged) changed();
    alert.acknowledged ??= { by, ts: nowMs };
    if (alert.ended_ms !== null) remove(partition, alert.subject);
    return { ...alert };
  }

  /**
   * Acknowledges all alerts of a kind that somebody has seen.
   * @param {string} kind @param {string} by @param {number} nowMs
   * @param {{state?: import('./groups').State, untilMs?: number}} [seen] only in that state; only what had changed by then
   * @returns {number|null} how many were not acknowledged before; null: there is no such kind
   */
  function acknowledgeAll(kind, by, nowMs, { state, untilMs = Infinity } = {}) {
    const partition = partitions.get(kind);
    if (!partition) return null;
    const unseen = [...partition.alerts.values()].filter((alert) => !alert.acknowledged && alert.changed_ms <= untilMs
      && (state === undefined || (state === 'ended') === (alert.ended_ms !== null)));
    for (const { id } of unseen) acknowledge(id, by, nowMs);
    return unseen.length;
  }

  /** All alerts, in no order. */
  const all = () => [...partitions.values()].flatMap(({ alerts }) => [...alerts.values()]);
  const groups = () => { cached.groups ??= groupAlerts(all(), kinds); return cached.groups; };

  return {
    evaluate,
    acknowledge,
    acknowledgeAll,
    /** @returns {Readonly<Alert>[]} active ones first, then critical ones, then the newest; copies, not to be changed */
    list() {
      cached.sorted ??= all().map((alert) => ({ ...alert })).sort(byUrgency);
      return cached.sorted;
    },
    /** Alerts of one kind and state together. */
    groups,
    /** How many active alerts nobody has acknowledged. */
    open: () => groups().reduce((sum, { state, count }) => (state === 'open' ? sum + count : sum), 0),
    /** How many alerts were not raised, or were removed, because the list was full. */
    dropped: capacity.dropped,
    /** Grows whenever an alert is raised, ends, is acknowledged or is removed. */
    version: () => version,
  };
}

module.exports = { createAlertList, ENDED_KEPT_MS, START_MS };
