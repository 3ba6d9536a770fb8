// @ts-check
'use strict';

/**
 * What a locator gets at its time besides readings: other buildings, gateways that come and go. A replay of the past follows the
 * same changes, so that history keeps the room that was true when a reading was taken.
 * @typedef {import('../locator').Locator} Locator
 * @typedef {import('../locator').Outcome} Outcome
 * @typedef {import('../building').Building} Building
 * @typedef {import('../locator').Prepared} Prepared
 * @typedef {{ms: number, prepare?: (locator: Locator) => import('../shared/pieces').Work<Prepared>,
 *   take: (locator: Locator, ms: number, outcome: Outcome, prepared?: Prepared) => void}} Change prepare: of another building, before it
 *   is taken
 */

/** @param {Building} building @param {number} ms @param {Prepared} [known] what was prepared for it already @returns {Change} */
const buildingChange = (building, ms, known) => ({
  ms,
  *prepare(locator) { return known ?? (yield* locator.prepare(building)); },
  take: (locator, at, outcome, prepared) => locator.setBuilding(building, at, outcome, prepared),
});

/** @param {string} gateway @param {boolean} up @param {number} ms @returns {Change} */
const gatewayChange = (gateway, up, ms) => ({ ms, take: (locator) => locator.setGateway(gateway, up, ms) });

module.exports = { buildingChange, gatewayChange };
