// @ts-check
'use strict';

/**
 * What the ledger of losses adds up to.
 * @param {{byName: (nowMs: number) => Record<string, number>}} losses @param {() => number} clock
 * @returns {import('./figures').Figure[]}
 */
const lossFigures = (losses, clock) => [{
  name: 'lost_30_days', kind: 'gauge', label: 'what', read: () => losses.byName(clock()),
  help: 'What was lost within 30 days, over restarts, by the counter that told it',
}];

module.exports = { lossFigures };
