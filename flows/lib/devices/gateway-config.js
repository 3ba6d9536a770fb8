// @ts-check
'use strict';

const { createFilter, strangersShare } = require('./bloom');

/**
 * What each gateway of the building is told to listen for: the payloads of `sda/v1/gateway/<id>/config`. Pure.
 *
 * `rssi_offset` is not among it: the locator adds the building's, and a gateway that added it too would count it twice.
 * @typedef {import('../building').Building} Building
 */

/** A longer list goes as a filter: with thousands of gateways the broker holds one for each. */
const LIST_BYTES = 16 * 1024;
/** The contract's bounds of `min_rssi`, dBm. */
const RSSI = { min: -127, max: 20 };

/**
 * @param {Building} building
 * @param {number} [listBytes]
 * @returns {{payloads: Map<string, string>, beacons: number, strangersShare: number}} payloads by gateway id, the same for the
 *   same building; beacons: ids they all let in; strangersShare: of other beacons, 0 where they name each id
 */
function gatewayConfigs({ gateways, beacons, tagOwner }, listBytes = LIST_BYTES) {
  const ids = [...new Set([...beacons.keys(), ...tagOwner.keys()])].sort();
  const list = JSON.stringify(ids);
  const filter = list.length > listBytes ? createFilter(ids) : null;
  const wanted = filter ? `"allow_bloom":${JSON.stringify(filter)}` : `"allow":${list}`;
  /** @type {Map<string, string>} gateways with the same settings share one text */
  const texts = new Map();
  const payloads = new Map([...gateways].map(([id, gateway]) => {
    const own = ownSettings(gateway);
    if (!texts.has(own)) texts.set(own, `{"v":1,${own}${wanted}}`);
    return [id, /** @type {string} */ (texts.get(own))];
  }));
  return { payloads, beacons: ids.length, strangersShare: filter ? strangersShare(filter) : 0 };
}

/** @param {import('../building').Gateway} gateway @returns {string} what the building says of this one, as members of a JSON object */
function ownSettings({ window_ms: window, min_rssi: least, rssi_offset: offset = 0 }) {
  return (window === undefined ? '' : `"window_ms":${window},`) + (least === undefined ? '' : `"min_rssi":${weakest(least, offset)},`);
}

/**
 * The weakest whole RSSI that the locator takes when it has added the offset; the gateway compares what it sends.
 * @param {number} least dBm @param {number} offset dB
 */
function weakest(least, offset) {
  const near = Math.ceil(least - offset);
  // The locator compares the sum: a difference of fractions may be rounded to the other side of a whole number.
  const whole = [near - 1, near].find((rssi) => rssi + offset >= least) ?? near + 1;
  return Math.min(RSSI.max, Math.max(RSSI.min, whole));
}

module.exports = { gatewayConfigs };
