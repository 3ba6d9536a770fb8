'use strict';

const { spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { FileLockError, withFileLock } = require('../lib/shared/file-lock');

const WAIT_MS = 60_000;

function lockFile(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lock-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  return path.join(folder, 'lock');
}

test('one holder at a time, also after one has failed', async (t) => {
  const file = lockFile(t);
  let inside = 0;
  const results = await Promise.allSettled(Array.from({ length: 6 }, (_, i) => withFileLock(file, WAIT_MS, async () => {
    inside += 1;
    await new Promise(setImmediate);
    assert.equal(inside, 1);
    inside -= 1;
    if (i % 2) throw new Error('mine');
    return i;
  })));
  assert.deepEqual(results.map(({ status, value }) => [status, value]),
    [0, 1, 2, 3, 4, 5].map((i) => (i % 2 ? ['rejected', undefined] : ['fulfilled', i])));
});

test('another process holds the lock until it is killed', async (t) => {
  const file = lockFile(t);
  const holder = spawn(process.execPath, ['-e', `require(${JSON.stringify(require.resolve('../lib/shared/file-lock'))})
    .withFileLock(${JSON.stringify(file)}, 0, () => { console.log('held'); return new Promise(() => setInterval(() => {}, 1000)); });`],
  { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  await assert.rejects(withFileLock(file, 0, async () => {}), (error) => error instanceof FileLockError && /held/.test(error.message));
  holder.kill('SIGKILL');
  assert.equal(await withFileLock(file, WAIT_MS, async () => 'mine'), 'mine');
});

test('an impossible path, or a file that is no database, is an error', async (t) => {
  const file = lockFile(t);
  await assert.rejects(withFileLock(path.join(file, 'nowhere'), 0, async () => {}), FileLockError);
  fs.writeFileSync(file, 'no database at all, but long enough for a header: '.repeat(4));
  await assert.rejects(withFileLock(file, 0, async () => {}), /not a database/);
});
