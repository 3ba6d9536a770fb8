// @ts-check
'use strict';

const LATEST = 16; // older ones are late anyway

/**
 * Whether it means anything that a source was not heard: not when a gateway is out or a beacon's battery empty.
 * @typedef {{heardMs: Float64Array, latest: Map<number, string[]>, sinceMs: number}} Heard heardMs: when each source was heard last;
 *   latest: keys of each gateway's latest batches; sinceMs: when the first source was heard
 * @param {import('./radio').Radio} radio
 * @param {import('./constants').Settings} settings
 */
function createSourceLiveness(radio, { aliveMs, beaconDeadMs }) {
  const heardMs = new Float64Array(radio.sources.length);
  /** @type {Map<number, string[]>} the latest batches of each gateway, by source */
  const latest = new Map();
  /** @type {Map<number, boolean>} by source */
  const online = new Map();
  const beacons = radio.beacons.size; // sources below this are beacons
  let sinceMs = Infinity;

  return {
    /** @param {number} source was heard, or heard something @param {number} nowMs */
    heard(source, nowMs) {
      heardMs[source] = nowMs;
      if (nowMs < sinceMs) sinceMs = nowMs;
    },
    /**
     * Whether a gateway sent this batch before: gateways send again what the broker may have lost.
     * @param {number} source @param {import('../intake/readings').Batch} batch parts of one window differ in their beacons
     */
    knows(source, { ts, readings }) {
      const key = `${ts} ${readings[0]?.beacon}`;
      const known = latest.get(source) ?? [];
      if (known.includes(key)) return true;
      latest.set(source, [...known.slice(1 - LATEST), key]);
      return false;
    },
    /** What the broker says about a gateway. @param {number|undefined} source @param {boolean|null} up null: nothing that holds */
    status(source, up) {
      if (source === undefined) return;
      if (up === null) online.delete(source);
      else online.set(source, up);
    },
    /** A copy of what is known. @returns {Heard} */
    save: () => ({ heardMs: heardMs.slice(), latest: new Map(latest), sinceMs }),
    /** What was known elsewhere, beside what is known here. @param {Heard} before */
    restore(before) {
      before.heardMs.forEach((ms, source) => { heardMs[source] = Math.max(heardMs[source], ms); });
      for (const [source, keys] of before.latest) latest.set(source, [...new Set([...keys, ...latest.get(source) ?? []])].slice(-LATEST));
      sinceMs = Math.min(sinceMs, before.sinceMs);
    },
    /** Whether it says something that a source was not heard. @param {number} source @param {number} nowMs */
    isAlive(source, nowMs) {
      if (source < beacons) return nowMs - Math.max(heardMs[source], sinceMs) < beaconDeadMs;
      return online.get(source) ?? nowMs - heardMs[source] < aliveMs;
    },
  };
}

module.exports = { createSourceLiveness };
