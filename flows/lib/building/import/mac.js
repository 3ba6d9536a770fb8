// @ts-check
'use strict';

const { normaliseBeacon } = require('../ids');

/** The longer forms of the contract: iBeacon, Eddystone-UID, AltBeacon. */
const LONG = [/^[0-9A-F]{32}-\d{1,5}-\d{1,5}$/, /^[0-9A-F]{20}-[0-9A-F]{12}$/, /^[0-9A-F]{40}$/];
const MAC_DIGITS = 12;

/**
 * Parses a beacon id that an installer wrote. Nothing is completed or corrected.
 * @param {string} text
 * @returns {{beacon: string}|{kind: string, reason: string}}
 */
function readMac(text) {
  if (text === '') return { kind: 'mac_missing', reason: 'the MAC is missing' };
  const beacon = normaliseBeacon(text) ?? text.toUpperCase();
  if (/^[0-9A-F]{12}$/.test(beacon) || LONG.some((form) => form.test(beacon))) return { beacon };
  const digits = beacon.replace(/[:-]/g, '');
  const strange = [...new Set(digits.match(/[^0-9A-F]/gu) ?? [])];
  const reasons = [
    ...(strange.length > 0 ? [`${strange.map((letter) => `"${letter}"`).join(' and ')} in the MAC is no hex digit`] : []),
    ...(digits.length === MAC_DIGITS ? [] : [`the MAC has ${digits.length} digits, not ${MAC_DIGITS}`]),
  ];
  const kind = strange.length > 0 ? 'mac_digit' : digits.length === MAC_DIGITS ? 'mac_separators' : 'mac_length';
  return { kind, reason: reasons.join(', ') || 'the separators in the MAC stand at odd places' };
}

module.exports = { readMac };
