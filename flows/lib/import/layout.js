// @ts-check
'use strict';

/** As wide as the demo building is written. */
const WIDTH = 200;

/**
 * JSON for people: whatever fits on one line stands on one line, so a beacon is a line and a change of it one in a diff.
 * @param {unknown} value
 * @param {string} [indent]
 * @returns {string}
 */
function layout(value, indent = '') {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const compact = oneLine(value);
  const list = Array.isArray(value);
  const holdsObjects = list && value.some((one) => one !== null && typeof one === 'object' && !Array.isArray(one));
  if (indent !== '' && !holdsObjects && indent.length + compact.length <= WIDTH) return compact;
  const deeper = `${indent}  `;
  const parts = list ? value.map((one) => layout(one, deeper))
    : Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${layout(one, deeper)}`);
  const [open, close] = list ? ['[', ']'] : ['{', '}'];
  return parts.length === 0 ? open + close : `${open}\n${parts.map((part) => deeper + part).join(',\n')}\n${indent}${close}`;
}

/** @param {unknown} value @returns {string} */
function oneLine(value) {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${oneLine(one)}`).join(', ')}}`;
}

module.exports = { layout };
