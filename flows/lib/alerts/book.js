// @ts-check
'use strict';

/**
 * The alerts: raised when something has been amiss for long enough, ended when it has been well for long enough,
 * acknowledged by somebody. One that ended stays until it is acknowledged, or for a day, so that nothing of the night is
 * missed. What is amiss again after it ended is raised again, acknowledged or not.
 * @typedef {import('./kinds').Kind} Kind
 * @typedef {import('./kinds').Condition} Condition
 * @typedef {import('./kinds').Facts} Facts
 * @typedef {object} Alert times in epoch ms
 * @property {string} id `<kind>:<subject>`
 * @property {string} kind
 * @property {string} subject whom or what it is about
 * @property {'critical'|'warning'} severity
 * @property {number} since when it began, as far as is known
 * @property {number} raised_ms
 * @property {number|null} ended_ms
 * @property {string} text what is amiss
 * @property {string} todo what to do
 * @property {string|null} level
 * @property {string|null} room
 * @property {string[]} subjects of one that stands for many: all of them
 * @property {{by: string, ts: number}|null} acknowledged
 * @typedef {ReturnType<typeof createBook>} Book
 */

/** More than anybody reads. */
const MOST = 1000;
const ENDED_KEPT_MS = 24 * 3_600_000;
/** So long after a start nothing ends: the present is only known bit by bit. */
const START_MS = 60_000;

/**
 * @param {Kind[]} kinds
 * @param {number} startedMs
 * @param {Alert[]} [known] of an earlier run
 * @param {(alert: Alert, nowMs: number) => void} [tell] of one that was raised just now, or has ended
 */
function createBook(kinds, startedMs, known = [], tell = () => {}) {
  const byKind = new Map(kinds.map((kind) => [kind.kind, kind]));
  /** @type {Map<string, Alert>} */
  const alerts = new Map(known.filter(({ kind }) => byKind.has(kind)).map((alert) => [alert.id, alert]));
  /** since when something is amiss that is not raised yet, and well that is not ended yet @type {Map<string, number>} */
  const pending = new Map();
  /** For which there was no room. @type {Set<string>} */
  const turnedAway = new Set();
  let dropped = 0;
  let version = 0;

  /**
   * Look around, every second or two.
   * @param {Facts} facts
   * @param {number} nowMs
   */
  function look(facts, nowMs) {
    for (const kind of kinds) {
      const amiss = new Map(kind.amiss(facts, (subject) => activeAlert(`${kind.kind}:${subject}`), nowMs)
        .map((condition) => [`${kind.kind}:${condition.subject}`, condition]));
      for (const [id, condition] of amiss) {
        if (active(id)) again(/** @type {Alert} */ (alerts.get(id)), condition);
        else if (lasts(id, kind.raiseMs, nowMs)) raise(id, kind, condition, nowMs);
      }
      for (const alert of alerts.values()) {
        if (alert.kind === kind.kind && alert.ended_ms === null && !amiss.has(alert.id)) judge(alert, kind, facts, nowMs);
      }
      const over = (/** @type {string} */ id) => id.startsWith(`${kind.kind}:`) && !amiss.has(id) && !active(id);
      for (const ids of [pending, turnedAway]) for (const id of ids.keys()) if (over(id)) ids.delete(id);
    }
    for (const { id, ended_ms: ended } of alerts.values()) if (ended !== null && nowMs - ended > ENDED_KEPT_MS) forget(id);
  }

  /** @param {string} id */
  const active = (id) => alerts.get(id)?.ended_ms === null;
  /** @param {string} id */
  const activeAlert = (id) => (active(id) ? /** @type {Alert} */ (alerts.get(id)) : null);

  /**
   * What is no longer amiss may be well, or just not known.
   * @param {Alert} alert @param {Kind} kind @param {Facts} facts @param {number} nowMs
   */
  function judge(alert, kind, facts, nowMs) {
    if (nowMs - startedMs < START_MS || !kind.well(facts, alert, nowMs)) pending.delete(alert.id);
    else if (lasts(alert.id, kind.endMs, nowMs)) end(alert, nowMs);
  }

  /** @param {string} id @param {number} forMs @param {number} nowMs */
  function lasts(id, forMs, nowMs) {
    const since = pending.get(id) ?? nowMs;
    pending.set(id, since);
    return nowMs - since >= forMs;
  }

  /** @param {string} id @param {Kind} kind @param {Condition} condition @param {number} nowMs */
  function raise(id, kind, { subject, since, text, todo, level = null, room = null, subjects = [] }, nowMs) {
    if (!alerts.has(id) && !makeRoom(id, kind)) return;
    const began = since ?? pending.get(id) ?? nowMs;
    pending.delete(id);
    alerts.delete(id);
    alerts.set(id, { id, kind: kind.kind, subject, severity: kind.severity, since: began, raised_ms: nowMs, ended_ms: null, text, todo,
      level, room, subjects, acknowledged: null });
    version += 1;
    tell(/** @type {Alert} */ (alerts.get(id)), nowMs);
  }

  /**
   * One that ended goes for one that has not, and a warning for what is critical.
   * @param {string} id @param {Kind} kind @returns {boolean}
   */
  function makeRoom(id, { severity }) {
    if (alerts.size < MOST) return true;
    const all = [...alerts.values()];
    const over = all.find(({ ended_ms: ended }) => ended !== null)
      ?? (severity === 'critical' ? all.find((one) => one.severity === 'warning') : undefined);
    if (over) alerts.delete(over.id);
    if (over || !turnedAway.has(id)) dropped += 1;
    if (!over) turnedAway.add(id);
    return over !== undefined;
  }

  /** It goes on; what is said of it may be newer. @param {Alert} alert @param {Condition} condition */
  function again(alert, { text, todo, level = null, room = null, subjects = [] }) {
    pending.delete(alert.id);
    const before = new Set(alert.subjects);
    const more = subjects.some((id) => !before.has(id));
    if (more) alert.acknowledged = null; // nobody has seen these
    if (more || subjects.length !== before.size) version += 1;
    Object.assign(alert, { text, todo, level, room, subjects });
  }

  /** @param {Alert} alert @param {number} nowMs */
  function end(alert, nowMs) {
    alert.ended_ms = pending.get(alert.id) ?? nowMs;
    pending.delete(alert.id);
    version += 1;
    tell(alert, nowMs);
    if (alert.acknowledged) forget(alert.id);
  }

  /** @param {string} id */
  function forget(id) {
    alerts.delete(id);
    version += 1;
  }

  /**
   * Somebody has seen it. One that has ended is off the list by that.
   * @param {string} id @param {string} by @param {number} nowMs
   * @returns {Alert|null} null: there is no such alert; who came first stays
   */
  function acknowledge(id, by, nowMs) {
    const alert = alerts.get(id);
    if (!alert) return null;
    if (!alert.acknowledged) version += 1;
    alert.acknowledged ??= { by, ts: nowMs };
    if (alert.ended_ms !== null) forget(id);
    return { ...alert };
  }

  /**
   * Somebody has seen all of a kind. @param {string} kind @param {string} by @param {number} nowMs
   * @returns {number|null} how many were not acknowledged before; null: there is no such kind
   */
  function acknowledgeAll(kind, by, nowMs) {
    if (!byKind.has(kind)) return null;
    const unseen = [...alerts.values()].filter((alert) => alert.kind === kind && !alert.acknowledged);
    for (const { id } of unseen) acknowledge(id, by, nowMs);
    return unseen.length;
  }

  return {
    look,
    acknowledge,
    acknowledgeAll,
    /** @returns {Alert[]} what goes on first, then what is critical, then the newest */
    list: () => [...alerts.values()].map((alert) => ({ ...alert })).sort(byUrgency),
    /** How many there are that nobody has acknowledged and that go on. */
    open: () => [...alerts.values()].filter(({ ended_ms: ended, acknowledged }) => ended === null && !acknowledged).length,
    /** How many were not raised, or went, because there were too many. */
    dropped: () => dropped,
    /** Grows whenever one is raised, ends, is acknowledged or goes. */
    version: () => version,
  };
}

/** @param {Alert} a @param {Alert} b */
const byUrgency = (a, b) => Number(a.ended_ms !== null) - Number(b.ended_ms !== null)
  || Number(a.severity !== 'critical') - Number(b.severity !== 'critical') || b.raised_ms - a.raised_ms || (a.id < b.id ? -1 : 1);

module.exports = { createBook, MOST, ENDED_KEPT_MS, START_MS };
