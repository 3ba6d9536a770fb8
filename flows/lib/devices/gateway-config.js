// @ts-check
'use strict';

const { createFilter, falsePositiveRate } = require('./bloom');

/**
 * The settings of each gateway of the building: payloads of `sda/v1/gateway/<id>/config`. Pure.
 *
 * `rssi_offset` is not sent: the locator adds the building's, and a gateway that added it too would count it twice.
 * @typedef {import('../building').Building} Building
 */

/** A longer list is sent as a Bloom filter: the broker holds one payload for each of thousands of gateways. */
const LIST_BYTES = 16 * 1024;
/** The contract's bounds of `min_rssi`, dBm. */
const RSSI = { min: -127, max: 20 };

/**
 * @param {Building} building
 * @param {number} [listBytes]
 * @returns {{payloads: Map<string, string>, beacons: number, falsePositiveRate: number}} payloads by gateway id, the same for the
 *   same building; beacons: how many ids they allow; falsePositiveRate: share of other beacons that pass, 0 with a list of ids
 */
function gatewayConfigs({ gateways, beacons, tagOwner }, listBytes = LIST_BYTES) {
  const ids = [...new Set([...beacons.keys(), ...tagOwner.keys()])].sort();
  const list = JSON.stringify(ids);
  const filter = list.length > listBytes ? createFilter(ids) : null;
  const allowed = filter ? `"allow_bloom":${JSON.stringify(filter)}` : `"allow":${list}`;
  /** @type {Map<string, string>} payload by own settings: gateways with the same settings share one string */
  const texts = new Map();
  const payloads = new Map([...gateways].map(([id, gateway]) => {
    const own = ownSettings(gateway);
    if (!texts.has(own)) texts.set(own, `{"v":1,${own}${allowed}}`);
    return [id, /** @type {string} */ (texts.get(own))];
  }));
  return { payloads, beacons: ids.length, falsePositiveRate: filter ? falsePositiveRate(filter) : 0 };
}

/** @param {import('../building').Gateway} gateway @returns {string} settings of this gateway alone, as members of a JSON object */
function ownSettings({ window_ms: window, min_rssi: least, rssi_offset: offset = 0 }) {
  return (window === undefined ? '' : `"window_ms":${window},`) + (least === undefined ? '' : `"min_rssi":${weakestSent(least, offset)},`);
}

/**
 * The weakest whole RSSI that the locator accepts after adding the offset; the gateway compares RSSI without it.
 * @param {number} least dBm @param {number} offset dB
 */
function weakestSent(least, offset) {
  const near = Math.ceil(least - offset);
  // The locator compares the sum: a difference of fractions may be rounded to the other side of a whole number.
  const whole = [near - 1, near].find((rssi) => rssi + offset >= least) ?? near + 1;
  return Math.min(RSSI.max, Math.max(RSSI.min, whole));
}

module.exports = { gatewayConfigs };
