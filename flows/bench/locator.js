// @ts-check
'use strict';

/**
 * Benchmark of the locator alone: readings a second and memory a person, half of them with phones, half with tags, in the
 * demo building. The time to make the stream is not counted. Prints one line of JSON; exit code 1 if a target is missed.
 * node --expose-gc bench/locator.js [staff] [seconds]
 */

const path = require('node:path');
const { createBuilding, loadBuilding } = require('../lib/building');
const { createLocator, emptyOutcome } = require('../lib/locator');
const { createStream } = require('./stream');

const DEMO = path.join(__dirname, '..', 'building', 'demo.json');
const START_MS = 1_700_000_000_000;
const TICK_MS = 250;
const KIND = Number(process.env.KIND ?? 2);
const WARM_S = 30;
const WANTED_US_PER_READING = 0.5;
const WANTED_BYTES_PER_PERSON = 3500;

const [staff = 10_000, seconds = 20] = process.argv.slice(2).map(Number);
const { file } = loadBuilding(DEMO);
const people = Array.from({ length: staff }, (_, n) => ({ id: `s${n}`, name: `${n}`, tags: n % KIND ? [`C0FFEE${n.toString(16).padStart(6, '0').toUpperCase()}`] : [] }));
const building = createBuilding({ ...file, staff: people });
const stream = createStream(building, START_MS);
const locator = createLocator(building);
for (const id of building.gateways.keys()) locator.setGateway(id, true);

/** Live bytes, on the heap and in arrays beside it. */
function bytes() {
  global.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Runs one second of the stream through the locator. @param {ReturnType<typeof stream.second>} batches */
function run(batches) {
  const outcome = emptyOutcome();
  const { user, system } = process.cpuUsage();
  const started = performance.now();
  let readings = 0;
  let tickMs = batches[0].atMs;
  for (const { batch, atMs } of batches) {
    for (; tickMs <= atMs; tickMs += TICK_MS) locator.tick(tickMs, outcome);
    locator.hear(batch, atMs, outcome);
    readings += batch.readings.length;
  }
  const spent = process.cpuUsage();
  return { readings, cpuS: (spent.user + spent.system - user - system) / 1e6, wallS: (performance.now() - started) / 1000 };
}

const empty = bytes();
const total = { readings: 0, cpuS: 0, wallS: 0 };
for (let s = 0; s < WARM_S + seconds; s += 1) {
  const one = run(stream.second());
  if (s < WARM_S) continue;
  total.readings += one.readings;
  total.cpuS += one.cpuS;
  total.wallS += one.wallS;
}
stream.end();
const each = (bytes() - empty) / staff;
const usPerReading = (total.cpuS * 1e6) / total.readings;
process.exitCode = usPerReading <= WANTED_US_PER_READING && each < WANTED_BYTES_PER_PERSON ? 0 : 1;
process.stdout.write(`${JSON.stringify({
  staff,
  located: locator.presences().length,
  readings: total.readings,
  readings_per_s: Math.round(total.readings / total.wallS),
  us_per_reading: Math.round(usPerReading * 100) / 100,
  bytes_per_person: Math.round(each),
})}\n`);
