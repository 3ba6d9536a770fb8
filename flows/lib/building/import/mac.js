// @ts-check
'use strict';

const { readBeacon } = require('../ids');

const MAC_DIGITS = 12;
/** A text that was meant as one of the longer forms. */
const LONG = /^[0-9A-F-]{32,}$/;
const PLACEHOLDER = /^(?:0{12}|F{12})$/;
/** As spreadsheets write a MAC that looks like a number. */
const CALCULATED = /^\d[.,]?\d*E\+\d+$/;
const LETTERS_MAX = 5;

/**
 * Parses a beacon id that an installer wrote. Nothing is completed or corrected.
 * @param {string} text
 * @returns {{beacon: string}|{kind: string, reason: string}}
 */
function readMac(text) {
  if (text === '') return { kind: 'mac_missing', reason: 'the MAC is missing' };
  const read = readBeacon(text);
  if ('beacon' in read) return read;
  const upper = text.trim().toUpperCase();
  if (LONG.test(upper) || !/[0-9A-Z]/.test(upper)) return { kind: 'mac_form', reason: `the beacon id ${read.reason}` };
  const digits = upper.replace(/[:-]/g, '');
  if (PLACEHOLDER.test(digits)) return { kind: 'mac_form', reason: `the MAC ${read.reason}` };
  if (CALCULATED.test(upper)) return { kind: 'mac_digit', reason: 'a spreadsheet has made a number of the MAC: format its column as text, and write it again' };
  const strange = [...new Set(digits.match(/[^0-9A-F]/gu) ?? [])];
  const reasons = [
    ...(strange.length > 0 ? [`${lettersOf(strange)} in the MAC is no hex digit`] : []),
    ...(digits.length === MAC_DIGITS ? [] : [`the MAC has ${digits.length} digits, not ${MAC_DIGITS}`]),
  ];
  const kind = strange.length > 0 ? 'mac_digit' : digits.length === MAC_DIGITS ? 'mac_separators' : 'mac_length';
  return { kind, reason: reasons.join(', ') || 'the separators in the MAC stand at odd places' };
}

/** @param {string[]} letters */
const lettersOf = (letters) => letters.slice(0, LETTERS_MAX).map((letter) => `"${letter}"`).join(' and ')
  + (letters.length > LETTERS_MAX ? ' and others' : '');

module.exports = { readMac };
