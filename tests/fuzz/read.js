#!/usr/bin/env node
'use strict';

// What the flows take of messages: a line of JSON in, a line of JSON out, in the same order.
// In: [payload in base64, our time in epoch ms]. Out: null, or [ts, [[beacon, rssi], …], [[beacon, {values}], …]].
const readline = require('node:readline');
const { readMessage } = require('../../flows/lib/live/readings');

const TOPIC = 'sda/v1/phone/0/readings';
const VALUES = ['battery_mv', 'temperature_c', 'humidity_pct'];

/** @param {Record<string, number>} reading */
const valuesOf = (reading) => Object.fromEntries(VALUES.filter((name) => reading[name] !== undefined).map((name) => [name, reading[name]]));

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const [payload, nowMs] = JSON.parse(line);
  const { batch } = readMessage(TOPIC, Buffer.from(payload, 'base64'), nowMs);
  const taken = batch && [batch.ts, batch.readings.map(({ beacon, rssi }) => [beacon, rssi]),
    [...batch.readings, ...batch.measured ?? []].map((one) => [one.beacon, valuesOf(one)])];
  process.stdout.write(`${JSON.stringify(taken)}\n`);
});
