'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { createLossLedger } = require('../lib/health/loss-ledger');

const T = Date.UTC(2026, 0, 10, 12);
const MIN = 60_000;
const DAY = 24 * 60 * MIN;

function rig(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'losses-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const warnings = [];
  const rig_ = { warnings, file: path.join(folder, 'losses.json'), brokerStartedMs: T - DAY,
    open: (startedMs) => createLossLedger({ file: rig_.file, startedMs, brokerStartedMs: () => rig_.brokerStartedMs,
      warn: (text) => warnings.push(text) }) };
  return rig_;
}

test('losses of 30 days survive restarts of their counters, and are counted once', async (t) => {
  const r = rig(t);
  let ledger = r.open(T);
  await ledger.record({ broker_dropped: 5 }, T + 5000);
  assert.deepEqual(ledger.byName(T + 5000), {}, 'counters arrive one by one after a start');
  await ledger.record({ broker_dropped: 5, ingest_dropped: 3, ingest_dropped_readings: 3, outbox_dropped: 0, messages: 9,
    spool_dropped: 4, spool_dropped_readings: 4 }, T + MIN);
  await ledger.record({ broker_dropped: 192_678, outbox_dropped: 2, gateway_dropped: 7, gateway_dropped_age: 7 }, T + 2 * MIN);
  const all = { broker_dropped: 192_678, ingest_dropped_readings: 3, spool_dropped_readings: 4, outbox_dropped: 2, gateway_dropped_age: 7 };
  assert.deepEqual(ledger.byName(T + 2 * MIN), all);
  const { status, reason, lost_30_days: total } = ledger.part(T + 2 * MIN);
  assert.deepEqual([status, total], ['degraded', 192_687], 'what gateways lost was not acknowledged');
  assert.match(reason, /192678 by the broker, 3 by Telegraf for readings, 4 by the queue on disk for readings, 2 by the flows/);

  ledger = r.open(T + 3 * MIN); // the flows were restarted, nobody else
  await ledger.record({ broker_dropped: 192_678, ingest_dropped_readings: 3, spool_dropped_readings: 4, outbox_dropped: 0 }, T + 4 * MIN);
  assert.deepEqual(ledger.byName(T + 4 * MIN), all);
  assert.equal(ledger.part(T + 4 * MIN).status, 'up');
  assert.equal(ledger.part(T + 4 * MIN).last_ms, T + 2 * MIN);
  await ledger.record({ broker_dropped: 10, ingest_dropped_readings: 1 }, T + 5 * MIN); // the others were
  assert.deepEqual(ledger.byName(T + 5 * MIN), { ...all, broker_dropped: 192_688, ingest_dropped_readings: 4 });

  r.brokerStartedMs = T + 6 * MIN; // while the flows were away, and has lost more than before
  ledger = r.open(T + 7 * MIN);
  await ledger.record({ broker_dropped: 12 }, T + 8 * MIN);
  assert.equal(ledger.byName(T + 8 * MIN).broker_dropped, 192_700);
  await ledger.record({ broker_dropped: 13 }, T + 20 * DAY);
  assert.equal(ledger.byName(T + 20 * DAY).broker_dropped, 192_701);
  assert.deepEqual(ledger.byName(T + 31 * DAY), { broker_dropped: 1 });
  assert.deepEqual(ledger.byName(T + 60 * DAY), {});
  assert.deepEqual(r.warnings, []);
});

test('a file that cannot be read or written is warned of, and has no other effect', async (t) => {
  const r = rig(t);
  fs.writeFileSync(r.file, 'nonsense');
  const ledger = r.open(T);
  fs.rmSync(path.dirname(r.file), { recursive: true });
  fs.writeFileSync(path.dirname(r.file), 'no folder');
  await ledger.record({ outbox_dropped: 2 }, T + MIN);
  await ledger.record({ outbox_dropped: 3 }, T + MIN);
  assert.deepEqual(ledger.byName(T + MIN), { outbox_dropped: 3 });
  assert.equal(r.warnings.length, 2);
  assert.match(r.warnings[0], /cannot be read, earlier losses are not known/);
  assert.match(r.warnings[1], /will not survive a restart/);
});
