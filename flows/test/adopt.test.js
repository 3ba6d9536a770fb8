'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createBuilding } = require('../lib/building');
const { createLocator, emptyOutcome } = require('../lib/locator');
const { createReplay } = require('../lib/past/replay');
const { Site } = require('../lib/site');
const { BEACONS, smallBuilding } = require('./support/building');
const { receive } = require('./support/receive');

const NOW = 1_800_000_000_000;
const SECONDS = 60;

/** Two people who walk from room a to room b; what ended is found, but not handed over yet. */
function walked() {
  const site = new Site(createBuilding(smallBuilding()), NOW - 60_000);
  const published = [];
  site.broker.results.attach((batches) => published.push(...(batches.stays ?? [])));
  for (let second = 0; second < SECONDS; second += 1) {
    const ms = NOW + 1000 * second;
    const room = second < SECONDS / 2 ? 'a' : 'b';
    for (const staff of ['0', '1']) {
      receive(site, `sda/v1/phone/${staff}/readings`, Buffer.from(JSON.stringify({ ts: ms, readings: [{ beacon: BEACONS[room], rssi: -40 }] })), ms);
    }
  }
  return { site, published };
}

/** A locator that heard the same, and has published what it found. */
const replayOf = ({ live }) => ({
  presences: new Map(live.presences().map((one) => [one.staff_id, one])),
  pass: () => {}, take: () => ({ locations: [], stays: [], events: [] }),
  save: () => live.save(NOW + 1000 * SECONDS).locator,
});

test('what ended and is not handed over yet is published', () => {
  const { site, published } = walked();
  site.flush(NOW + 1000 * SECONDS);
  assert.deepEqual(published.map(({ staff_id: id, room }) => [id, room]), [['0', 'a'], ['1', 'a']]);
});

test('whose state is taken over from a rebuild is no longer published by the locator of before', () => {
  const { site, published } = walked();
  site.live.adopt(replayOf(walked().site), NOW + 1000 * SECONDS, new Set(['0']));
  assert.deepEqual(published.map(({ staff_id: id }) => id), ['1']);
  site.flush(NOW + 1000 * SECONDS + 500);
  assert.deepEqual(published.map(({ staff_id: id }) => id), ['1']);
});

test('a rebuild publishes the stays of its last minute once more, since the locator of the present may have published other ends after it', () => {
  const building = createBuilding(smallBuilding());
  const replay = createReplay({ locator: createLocator(building), sinceMs: NOW, changes: [] }, emptyOutcome, { fromMs: NOW });
  for (let second = 0; second < 2 * SECONDS; second += 1) {
    const room = second < SECONDS / 2 ? 'a' : 'b';
    replay.hear({ ts: NOW + 1000 * second, kind: 'phone', receiver: '0', readings: [{ beacon: BEACONS[room], rssi: -40 }] });
    if (second === SECONDS) {
      assert.deepEqual(replay.take().stays.map(({ room: left }) => left), ['a']);
      assert.deepEqual(replay.endedOfLate().map(({ room: left }) => left), ['a'], 'although they are taken');
    }
  }
  assert.deepEqual(replay.endedOfLate(), [], 'a minute later nothing else is published about it');
});
