// @ts-check
'use strict';

/**
 * Which of two databases the flows read from: the one whose newest heartbeat is newer. Pure.
 *
 * The present one stays until it fails, or until its newest heartbeat is a whole one and a half behind the other's. None is
 * preferred, so one that comes back is not read from at once: nothing flaps.
 * @typedef {ReturnType<typeof createChoice>} Choice
 * @typedef {{fault: string, heartbeatMs: number, lacking: number}} Known of a database. fault: why it does not answer, '': it does;
 *   heartbeatMs: of the newest heartbeat in it, epoch ms; lacking: hours of the past that the other one has and it has not
 */

/** Heartbeats come every 5 s, and one is always on its way. */
const MARGIN_MS = 7500;

/** @param {number[]} [lacking] hours that each lacks, as known before a restart */
function createChoice(lacking = [0, 0]) {
  /** @type {[Known, Known]} */
  const known = [{ fault: '', heartbeatMs: 0, lacking: lacking[0] ?? 0 }, { fault: '', heartbeatMs: 0, lacking: lacking[1] ?? 0 }];
  let current = 0;
  /** The first heartbeat that was seen: one that has none yet is not behind by all of history. */
  let firstMs = 0;
  let switches = 0;

  /** One that lacks a part of the past gives half answers, unless the other lacks one too. @param {number} index */
  const isWhole = (index) => of(index).lacking === 0 || of(1 - index).lacking > 0;
  /** @param {number} index */
  const isUsable = (index) => of(index).fault === '' && isWhole(index);
  /** @param {number} index @returns {Known} */
  const of = (index) => /** @type {Known} */ (known[index]);

  /** @param {number} index */
  const newestMs = (index) => Math.max(of(index).heartbeatMs, firstMs);

  function decide() {
    const other = 1 - current;
    if (!isUsable(other)) return;
    if (isUsable(current) && newestMs(other) - newestMs(current) <= MARGIN_MS) return;
    current = other;
    switches += 1;
  }

  return {
    /** Index of the one to read from. */
    current: () => current,
    /** Index of the one to ask when the present one has failed; null: it cannot be read from either. */
    fallback: () => (isUsable(1 - current) ? 1 - current : null),
    /** It has answered with its newest heartbeat; null: it has none of late. @param {number} index @param {number|null} heartbeatMs */
    answered(index, heartbeatMs) {
      firstMs ||= heartbeatMs ?? 0;
      of(index).fault = '';
      of(index).heartbeatMs = Math.max(heartbeatMs ?? 0, of(index).heartbeatMs);
      decide();
    },
    /** It has not answered. @param {number} index @param {string} reason */
    failed(index, reason) {
      of(index).fault = reason;
      decide();
    },
    /** Their pasts were compared. @param {[number, number]} hours that each lacks */
    compared(hours) {
      hours.forEach((lacks, index) => { of(index).lacking = lacks; });
      decide();
    },
    known: of,
    switches: () => switches,
  };
}

module.exports = { createChoice, MARGIN_MS };
