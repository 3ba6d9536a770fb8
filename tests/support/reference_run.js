'use strict';

// Computes the reference history from the stored readings: every batch in order of time, in one locator that is never
// interrupted. Reads InfluxQL rows [ts, rssi, kind, receiver, beacon] as JSON from standard input, among them [ts, up, "status",
// gateway] where a gateway came or went, in any order;
// writes {locations, stays} to standard output. Time passes until END_MS (the last reading, if not given).
// Usage: node reference_run.js BUILDING [END_MS] < rows.json
const path = require('node:path');

const LIB = path.join(__dirname, '..', '..', 'flows', 'lib');
const { loadBuilding } = require(path.join(LIB, 'building'));
const { createLocator, emptyOutcome } = require(path.join(LIB, 'locator'));

const TICK_MS = 250;
const rows = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const batches = new Map();
const states = rows.filter(([, , kind]) => kind === 'status').sort((a, b) => a[0] - b[0]);
for (const [ts, rssi, kind, receiver, beacon] of rows) {
  if (kind === 'status') continue;
  const key = `${ts} ${kind} ${receiver}`;
  if (!batches.has(key)) batches.set(key, { kind, receiver, ts, readings: [] });
  batches.get(key).readings.push({ beacon, rssi });
}
const inOrder = [...batches.values()].sort((a, b) => a.ts - b.ts || (a.receiver < b.receiver ? -1 : 1));
const locator = createLocator(loadBuilding(process.argv[2]));
const outcome = emptyOutcome();
let tickedMs = Math.floor((inOrder[0]?.ts ?? 0) / TICK_MS) * TICK_MS;
/** What happens at a time happens after all ticks before it. */
function passTo(ms) {
  for (; tickedMs + TICK_MS <= ms; locator.tick(tickedMs, outcome)) tickedMs += TICK_MS;
}
for (const batch of inOrder) {
  while (states[0]?.[0] <= batch.ts) {
    const [ms, up, , gateway] = states.shift();
    passTo(ms);
    locator.setGateway(gateway, up, ms);
  }
  batch.readings.sort((a, b) => (a.beacon < b.beacon ? -1 : 1));
  passTo(batch.ts);
  locator.hear(batch, batch.ts, outcome);
}
passTo(Number(process.argv[3] ?? 0));
/** A later record of the same moment replaces an earlier one. */
const newest = (records) => [...new Map(records.map((one) => [`${one.staff_id} ${one.ts}`, one])).values()];
process.stdout.write(JSON.stringify({ locations: newest(outcome.locations), stays: newest(outcome.stays) }));
