// @ts-check
'use strict';

/**
 * Whose readings say where somebody is: their own phone's, and for tags those of gateways.
 */

/** The people a batch concerns. @param {import('../live/readings').Batch} batch @param {import('../building').Building} building */
function staffIn({ kind, receiver, readings }, { gateways, tagOwner }) {
  if (kind === 'phone') return new Set([receiver]);
  return new Set(gateways.has(receiver) ? readings.flatMap(({ beacon }) => tagOwner.get(beacon) ?? []) : []);
}

/**
 * Batches whose people are located later, for the batch's time.
 * @param {Pick<import('../site').Site, 'building'>} site @param {Pick<import('./coverage').Coverage, 'late'>} coverage
 * @param {() => number} clock @returns {(batch: import('../live/readings').Batch) => void}
 */
const locatesLater = (site, coverage, clock) => (batch) => {
  for (const id of staffIn(batch, site.building())) coverage.late(id, batch.ts, clock());
};

/** Whether gateways hear somebody. @param {import('../building').Building} building @param {string} staffId */
const hasTags = ({ staff }, staffId) => (staff.get(staffId)?.tags?.length ?? 0) > 0;

/** The same by the building in use. @param {Pick<import('../site').Site, 'building'>} site @returns {(staffId: string) => boolean} */
const carriesTags = (site) => (staffId) => hasTags(site.building(), staffId);

/** Whose phones are asked for one by one; of more it is quicker to read everybody's. */
const MAX_PHONES = 500;

/**
 * Whose readings say where these people are: their own phones'; and of gateways all, since it counts, too, that one next to them
 * hears nothing.
 * @param {string[]} phones ids of these people @param {import('../building').Building[]} buildings of then and of now
 * @returns {import('../store').Only|null} null: everybody's
 */
function onlyOf(phones, buildings) {
  if (phones.length > MAX_PHONES) return null;
  return { phones, gateways: buildings.some((building) => phones.some((id) => hasTags(building, id))) };
}

module.exports = { carriesTags, hasTags, locatesLater, onlyOf, staffIn };
