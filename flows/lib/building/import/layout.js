// @ts-check
'use strict';

/** Line width of the demo building. */
const WIDTH = 200;

/**
 * Formats JSON for people: a value that fits on one line is on one line, so a changed beacon is one line of a diff.
 * @param {unknown} value
 * @param {string} [indent]
 * @returns {string}
 */
function layout(value, indent = '') {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const list = Array.isArray(value);
  const holdsObjects = list && value.some((one) => one !== null && typeof one === 'object' && !Array.isArray(one));
  const compact = indent === '' || holdsObjects ? null : oneLine(value, WIDTH - indent.length);
  if (compact !== null) return compact;
  const deeper = `${indent}  `;
  const parts = list ? value.map((one) => layout(one, deeper))
    : Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${layout(one, deeper)}`);
  const [open, close] = list ? ['[', ']'] : ['{', '}'];
  return parts.length === 0 ? open + close : `${open}\n${parts.map((part) => deeper + part).join(',\n')}\n${indent}${close}`;
}

/**
 * @param {unknown} value
 * @param {number} atMost characters
 * @returns {string|null} null: it is longer
 */
function oneLine(value, atMost) {
  if (value === null || typeof value !== 'object') {
    const text = JSON.stringify(value);
    return text.length <= atMost ? text : null;
  }
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  let text = open;
  for (const [key, one] of Object.entries(value)) {
    const head = (text === open ? '' : ', ') + (Array.isArray(value) ? '' : `${JSON.stringify(key)}: `);
    const rest = oneLine(one, atMost - text.length - head.length - 1);
    if (rest === null) return null;
    text += head + rest;
  }
  return text.length < atMost ? text + close : null;
}

module.exports = { layout };
