// @ts-check
'use strict';

/**
 * Benchmark of the locator alone, in the demo building: CPU a reading and memory a person, first with phones that hear ten beacons each,
 * then with tags that ten gateways hear each. The time to make the stream is not counted. Prints one line of JSON; exit code 1 if a
 * target is missed. --lib: of another version, to compare both within the same minutes.
 * node --expose-gc bench/locator.js [--staff 10000] [--seconds 20] [--warm 15] [--lib <folder>]
 */

const path = require('node:path');
const { parseArgs } = require('node:util');
const { createStream } = require('./stream');

const { values } = parseArgs({ options: {
  staff: { type: 'string', default: '10000' }, seconds: { type: 'string', default: '20' }, warm: { type: 'string', default: '15' },
  lib: { type: 'string', default: path.join(__dirname, '..', 'lib') },
} });
const [staff, seconds, warm] = [values.staff, values.seconds, values.warm].map(Number);
/** @type {typeof import('../lib/building')} */
const { createBuilding, loadBuilding } = require(path.resolve(values.lib, 'building'));
/** @type {typeof import('../lib/locator')} */
const { createLocator, emptyOutcome } = require(path.resolve(values.lib, 'locator'));

const DEMO = path.join(__dirname, '..', 'building', 'demo.json');
const START_MS = 1_700_000_000_000;
const TICK_MS = 250;
const WANTED_US_PER_READING = 0.5;
const WANTED_BYTES_PER_PERSON = 3500;

/** Live bytes, on the heap and in arrays beside it. */
function bytes() {
  global.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** @param {(n: number) => string[]} tagsOf who carries which tags; none: a phone */
function measure(tagsOf) {
  const people = Array.from({ length: staff }, (_, n) => ({ id: `s${n}`, name: `${n}`, tags: tagsOf(n) }));
  const building = createBuilding({ ...loadBuilding(DEMO).file, staff: people });
  const stream = createStream(building, START_MS);
  const locator = createLocator(building);
  for (const id of building.gateways.keys()) locator.setGateway(id, true);
  const empty = bytes();
  const total = { readings: 0, cpuS: 0 };
  for (let second = 0; second < warm + seconds; second += 1) {
    const batches = stream.second();
    const outcome = emptyOutcome();
    const { user, system } = process.cpuUsage();
    let tickMs = batches[0].atMs;
    let readings = 0;
    for (const { batch, atMs } of batches) {
      for (; tickMs <= atMs; tickMs += TICK_MS) locator.tick(tickMs, outcome);
      locator.hear(batch, atMs, outcome);
      readings += batch.readings.length;
    }
    const spent = process.cpuUsage();
    if (second < warm) continue;
    total.readings += readings;
    total.cpuS += (spent.user + spent.system - user - system) / 1e6;
  }
  stream.end();
  const each = Math.round((bytes() - empty) / staff);
  const us = Math.round(total.cpuS * 1e8 / total.readings) / 100;
  if (us > WANTED_US_PER_READING || each > WANTED_BYTES_PER_PERSON) process.exitCode = 1;
  return { located: locator.presences().length, readings: total.readings, us_per_reading: us, bytes_per_person: each };
}

const phones = measure(() => []);
const tags = measure((n) => [`C0FFEE${n.toString(16).padStart(6, '0').toUpperCase()}`]);
process.stdout.write(`${JSON.stringify({ staff, phones, tags })}\n`);
