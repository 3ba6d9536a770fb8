// @ts-check
'use strict';

const { SiteUnavailable } = require('./site');

/**
 * How a site is, by what it says of itself and what it lets the entry's key do: a fault shows here before a caller finds it.
 * @typedef {{status: 'up'|'degraded'|'away', reason?: string}} SiteState degraded: it answers, and its /health names what is not up
 * @typedef {{building: string|null, simulated: boolean, completeMs: number|null}} Said building: its name; simulated: people there are
 *   played; completeMs: up to when nothing is missing
 * @typedef {(path: string) => Promise<{status: number, text: () => Promise<string>}>} Ask asks the site
 */

/** What a site must let the entry's key do. */
const NEEDED = ['history', 'presence', 'forward'];

/** @param {Ask} ask @returns {Promise<SiteState & {said?: Said}>} said: where it answers */
async function stateOf(ask) {
  try {
    const health = await ask('/health');
    const text = await health.text();
    if (health.status !== 200) return { status: 'away', reason: `answers HTTP ${health.status}: ${messageIn(text)}` };
    const lack = await lackOf(ask);
    if (lack !== '') return { status: 'away', reason: lack };
    const { status, parts = {} } = JSON.parse(text);
    const said = saidBy(parts);
    if (status === 'up') return { status, said };
    const down = Object.entries(parts).filter(([, part]) => /** @type {any} */ (part).status !== 'up').map(([name]) => name);
    return { status: 'degraded', reason: `its /health says so: ${down.join(', ')}`, said };
  } catch (error) {
    return { status: 'away', reason: error instanceof SiteUnavailable ? error.reason : 'answers with something else than JSON' };
  }
}

/** @param {any} parts of /health; an earlier version has not all of it @returns {Said} */
const saidBy = ({ building, rebuild }) => ({ building: building?.name ?? null, simulated: building?.simulated > 0,
  completeMs: rebuild?.complete_until_ms ?? null });

/** What the entry's key lacks. @param {Ask} ask @returns {Promise<string>} '': nothing */
async function lackOf(ask) {
  const me = await ask('/api/v1/me');
  const text = await me.text();
  if (me.status !== 200) return `refuses the entry's key: ${messageIn(text)}`;
  const { rights = [] } = JSON.parse(text);
  const missing = NEEDED.filter((right) => !rights.includes(right));
  if (missing.length === 0) return '';
  return `does not give the entry's key the right ${missing.join(', ')}: make one with `
    + NEEDED.map((right) => `--right ${right}`).join(' ');
}

/** The message of an error's answer. @param {string} text */
function messageIn(text) {
  try {
    return String(JSON.parse(text).error ?? '');
  } catch {
    return '';
  }
}

module.exports = { stateOf, messageIn };
