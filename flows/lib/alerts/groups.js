// @ts-check
'use strict';

/**
 * Alerts of one kind and state together: how many, since when, where, and the newest of them. A thousand of a kind are as short to
 * send and to read as five.
 * @typedef {import('./alert-list').Alert} Alert
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

module.exports = { groupAlerts, byUrgency, stateOf, STATES };
