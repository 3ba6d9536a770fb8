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
  /** Sorted and grouped once for all readers. @type {{sorted: Alert[]|null, groups: Group[]|null}} */
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
   * @param {{state?: State, untilMs?: number}} [seen] only in that state; only what had changed by then
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

/**
 * Space in the list of alerts. When it is full, an ended alert gives way, then a warning to a critical one, then one of the largest
 * kind: a flood of one kind hides no other.
 */

/** Each gateway of the largest building may be down. */
const ALERTS_MAX = 10_000;

/** @param {Partition} partition */
const endedOf = ({ alerts }) => [...alerts.values()].filter(({ ended_ms: ended }) => ended !== null);

/**
 * @param {Map<string, Partition>} partitions by kind
 * @param {(partition: Partition, subject: string) => void} remove
 */
function createCapacity(partitions, remove) {
  let dropped = 0;

  /** @param {Partition} partition @param {string} subject */
  function reject({ rejected }, subject) {
    if (!rejected.has(subject)) dropped += 1;
    rejected.add(subject);
  }

  /** @param {Partition} partition of the alert that needs space @returns {Partition|undefined} of the one that gives way */
  function yielding(partition) {
    const all = [...partitions.values()];
    const withEnded = all.find(({ ended }) => ended > 0);
    if (withEnded) return withEnded;
    const largest = (/** @type {Partition[]} */ some) => some.sort((a, b) => b.alerts.size - a.alerts.size)[0];
    const warnings = largest(all.filter(({ kind }) => kind.severity === 'warning'));
    if (partition.kind.severity === 'critical' && warnings && warnings.alerts.size > 0) return warnings;
    const same = largest(all.filter(({ kind }) => kind.severity === partition.kind.severity));
    return same && same.alerts.size > partition.alerts.size + 1 ? same : undefined;
  }

  /**
   * @param {Partition} partition @param {string} subject of the alert that needs space
   * @returns {boolean} whether there is space
   */
  function makeSpace(partition, subject) {
    if ([...partitions.values()].reduce((sum, { alerts }) => sum + alerts.size, 0) < ALERTS_MAX) return true;
    const from = yielding(partition);
    if (!from) {
      reject(partition, subject);
      return false;
    }
    const [victim] = from.ended > 0 ? endedOf(from) : from.alerts.values();
    if (victim) {
      reject(from, victim.subject);
      remove(from, victim.subject);
    }
    return true;
  }

  return { makeSpace, dropped: () => dropped };
}

/**
 * Alerts of one kind and state together: how many, since when, where, and the newest of them. A thousand of a kind are as short to
 * send and to read as five.
 * @typedef {'open'|'acknowledged'|'ended'} State open: active and not acknowledged; ended: and not acknowledged
 * @typedef {{level: string, count: number}} OnLevel
 * @typedef {{level: string|null, room: string, count: number}} InRoom
 * @typedef {object} Group times in epoch ms
 * @property {string} kind
 * @property {'critical'|'warning'} severity
 * @property {State} state
 * @property {number} count
 * @property {number} since when the first of them began
 * @property {number} changed_ms when the last of them was raised, or its end was noticed
 * @property {string|null} todo what to do about all of them; null: it differs
 * @property {number} levels_count how many levels have one
 * @property {OnLevel[]} levels those with most
 * @property {number} rooms_count how many rooms have one
 * @property {InRoom[]} rooms those with most
 * @property {Alert[]} alerts the newest
 */

/** A group has so many single alerts; a reader takes in no more at once. */
const SHOWN_MAX = 5;
const PLACES_MAX = 3;
/** From so many on, single devices or people are hardly the reason. */
const MANY = 20;

/** @param {Alert} alert @returns {State} */
const stateOf = ({ ended_ms: ended, acknowledged }) => (ended !== null ? 'ended' : acknowledged ? 'acknowledged' : 'open');
/** @type {State[]} */
const STATES = ['open', 'acknowledged', 'ended'];

/** @param {string} a @param {string} b */
const byText = (a, b) => (a < b ? -1 : Number(a > b));

/** Active ones first, then critical ones, then the newest. @param {Alert} a @param {Alert} b */
const byUrgency = (a, b) => Number(a.ended_ms !== null) - Number(b.ended_ms !== null)
  || Number(a.severity !== 'critical') - Number(b.severity !== 'critical') || b.raised_ms - a.raised_ms || byText(a.id, b.id);

/** By state, then critical ones first, then those with the newest alert. @param {Group} a @param {Group} b */
const byGroupUrgency = (a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state)
  || Number(a.severity !== 'critical') - Number(b.severity !== 'critical') || b.changed_ms - a.changed_ms || byText(a.kind, b.kind);

/**
 * @param {Alert[]} alerts in any order
 * @param {{kind: string, todoMany?: string}[]} [kinds] todoMany: what to do about many at once
 * @returns {Group[]} the most urgent first
 */
function groupAlerts(alerts, kinds = []) {
  const todoMany = new Map(kinds.map((kind) => [kind.kind, kind.todoMany]));
  /** @type {Map<string, {group: Group, levels: Map<string, number>, rooms: Map<string, InRoom>}>} */
  const found = new Map();
  for (const alert of alerts) {
    const { kind, severity, level, room, since, changed_ms: changed, todo } = alert;
    const key = `${stateOf(alert)} ${kind}`;
    const known = found.get(key) ?? { levels: new Map(), rooms: new Map(), group: { kind, severity, state: stateOf(alert), count: 0,
      since, changed_ms: changed, todo, levels_count: 0, levels: [], rooms_count: 0, rooms: [], alerts: [] } };
    const { group, levels, rooms } = known;
    found.set(key, known);
    group.count += 1;
    group.since = Math.min(group.since, since);
    group.changed_ms = Math.max(group.changed_ms, changed);
    if (group.todo !== todo) group.todo = null;
    if (level !== null) levels.set(level, (levels.get(level) ?? 0) + 1);
    if (room !== null) rooms.set(room, { level, room, count: (rooms.get(room)?.count ?? 0) + 1 });
    insert(group.alerts, alert);
  }
  return [...found.values()].map(({ group, levels, rooms }) => ({
    ...group,
    todo: (group.count >= MANY && todoMany.get(group.kind)) || group.todo,
    levels_count: levels.size,
    levels: most([...levels].map(([level, count]) => ({ level, count }))),
    rooms_count: rooms.size,
    rooms: most([...rooms.values()]),
    alerts: group.alerts.map((alert) => ({ ...alert })),
  })).sort(byGroupUrgency);
}

/** Keeps the most urgent ones in order. @param {Alert[]} shown @param {Alert} alert */
function insert(shown, alert) {
  const last = shown.at(-1);
  if (shown.length >= SHOWN_MAX && last && byUrgency(alert, last) > 0) return;
  const at = shown.findIndex((one) => byUrgency(alert, one) < 0);
  shown.splice(at < 0 ? shown.length : at, 0, alert);
  if (shown.length > SHOWN_MAX) shown.pop();
}

/** @template {{count: number}} T @param {T[]} places @returns {T[]} */
const most = (places) => places.sort((a, b) => b.count - a.count).slice(0, PLACES_MAX);

module.exports = { createAlertList, ENDED_KEPT_MS, START_MS, ALERTS_MAX, byUrgency, stateOf, STATES };
