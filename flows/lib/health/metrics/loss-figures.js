// @ts-check
'use strict';

/**
 * Figures of the loss ledger.
 * @param {{byName: (nowMs: number) => Record<string, number>}} losses @param {() => number} clock
 * @returns {import('./figures').Figure[]}
 */
const lossFigures = (losses, clock) => [{
  name: 'lost_30_days', kind: 'gauge', label: 'what', read: () => losses.byName(clock()),
  help: 'What was lost within 30 days, over restarts, by its counter',
}];

module.exports = { lossFigures };
