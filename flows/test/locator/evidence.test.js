// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createEvidence } = require('../../lib/locator/evidence');
const { createModel } = require('../../lib/locator/model');
const { TUNING } = require('../../lib/locator/tuning');
const { house } = require('./house');

const model = createModel(house(), TUNING);
const { radio, cells } = model;
const gateways = [...radio.gateways.values()].filter((source) => source < radio.beacons.size + 5); // of one level

/** Log odds of cell a against cell b after readings that were made in cell `from`. @param {(r: number, k: number) => number} bend
 * @param {number} a @param {number} b @param {object} [changes] */
function odds(bend, a, b, changes = {}) {
  const mass = new Float64Array(cells.all.length);
  const evidence = createEvidence(radio, { ...TUNING, ...changes }, mass, () => true);
  const rssis = gateways.map((source, k) => bend(radio.sources[source].expected[a - radio.sources[source].first], k));
  mass[a] = 0.5;
  mass[b] = 0.5;
  evidence.weigh(Int32Array.of(a, b), 2, gateways, rssis);
  assert.ok(Math.abs(mass[a] + mass[b] - 1) < 1e-9);
  return Math.log(mass[a] / mass[b]);
}

const cellOf = (/** @type {string} */ room) => cells.all.findIndex((cell) => model.plan.rooms[cell.room].id === room);
const [here, there] = [cellOf('G-a'), cellOf('G-b')];

test('readings as expected in a cell speak for it', () => {
  assert.ok(odds((dbm) => dbm, here, there) > 1);
});

test('the densities are those of the covariance that the page names', () => {
  // by hand: covariance s²·I + c²·11ᵀ + f²·(xxᵀ + yyᵀ), by Gauss elimination
  const bend = (/** @type {number} */ dbm, /** @type {number} */ k) => dbm + [4, -3, 6, 0, -5][k];
  const rssis = gateways.map((source, k) => bend(radio.sources[source].expected[here - radio.sources[source].first], k));
  const logP = (/** @type {number} */ cell) => {
    const of = gateways.map((source) => {
      const { first, expected, east, north } = radio.sources[source];
      return { e: expected[cell - first], x: east[cell - first], y: north[cell - first] };
    });
    const { spreadDb: s, commonDb: c, facingDb: f } = TUNING;
    const rows = of.map((p, i) => [...of.map((q, j) => (i === j ? s * s : 0) + c * c + f * f * (p.x * q.x + p.y * q.y)), rssis[i] - p.e]);
    let logDet = 0;
    rows.forEach((row, i) => {
      logDet += Math.log(row[i]);
      for (let j = i + 1; j < rows.length; j += 1) {
        const factor = rows[j][i] / row[i];
        row.forEach((value, k) => { rows[j][k] -= factor * value; });
      }
    });
    const solved = new Array(rows.length).fill(0);
    for (let i = rows.length - 1; i >= 0; i -= 1) {
      solved[i] = (rows[i][rows.length] - solved.reduce((sum, value, j) => sum + (j > i ? value * rows[i][j] : 0), 0)) / rows[i][i];
    }
    return -(solved.reduce((sum, value, i) => sum + value * (rssis[i] - of[i].e), 0) + logDet) / 2;
  };
  assert.ok(Math.abs(odds(bend, here, there) - (logP(here) - logP(there))) < 1e-6);
});

test('a gateway that does not tell weak readings is not taken for silent where it would be weak', () => {
  const quiet = (/** @type {object} */ changes) => {
    const other = createModel(house(changes), TUNING);
    const mass = new Float64Array(other.cells.all.length).fill(1);
    const evidence = createEvidence(other.radio, TUNING, mass, () => true);
    evidence.quiet(Int32Array.of(there), 1, 'gateway', [], TUNING.hearableDbm, 0);
    return mass[there];
  };
  assert.ok(quiet({ 'gw-G-a': { min_rssi: -60 } }) > quiet({}));
});
