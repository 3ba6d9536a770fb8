// @ts-check
'use strict';

/**
 * Space in the list of alerts. When it is full, an ended alert gives way, then a warning to a critical one, then one of the largest
 * kind: a flood of one kind hides no other.
 * @typedef {import('./alert-list').Partition} Partition
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

module.exports = { createCapacity, endedOf, ALERTS_MAX };
