// @ts-check
'use strict';

/**
 * Whose readings say where somebody is: their own phone's, and for tags those of gateways. Pure.
 */

/** The people a batch concerns. @param {import('../intake/readings').Batch} batch @param {import('../building').Building} building */
function staffIn({ kind, receiver, readings }, { gateways, tagOwner }) {
  if (kind === 'phone') return new Set([receiver]);
  return new Set(gateways.has(receiver) ? readings.flatMap(({ beacon }) => tagOwner.get(beacon) ?? []) : []);
}

/** Whether gateways hear somebody. @param {import('../building').Building} building @param {string} staffId */
const hasTags = ({ staff }, staffId) => (staff.get(staffId)?.tags?.length ?? 0) > 0;

module.exports = { hasTags, staffIn };
