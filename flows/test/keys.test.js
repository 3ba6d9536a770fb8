'use strict';

const assert = require('node:assert/strict');
const { execFileSync, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { createKeys, parseExpiry, readKeys } = require('../lib/access');
const { changeKeys, createKeyRing, faultOf, makeKey, parseKeys, writeKeys } = require('../lib/access/keys');
const { createBodyCheck } = require('../lib/http/checks');
const { createDescription, operationsOf } = require('../lib/http/v1/description');
const { createSystemAnswers } = require('../lib/http/v1/answers/system');

const NOW = Date.UTC(2026, 10, 21, 12);
const wanted = { name: 'hacs', rights: ['history'], expiresMs: null };

/** A folder for keys, and the keys of a running installation in it. */
function rig(t, given = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'keys-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'keys.json');
  if (given.text !== undefined) fs.writeFileSync(file, given.text, { mode: 0o600 });
  const calls = { log: [], warn: [], changed: [] };
  const logger = { log: (text) => calls.log.push(text), warn: (text) => calls.warn.push(text) };
  const names = (list) => list.map(({ name }) => name);
  const keys = createKeys({ file, clock: () => NOW, logger, changed: (added, gone) => calls.changed.push([names(added), names(gone)]) });
  return { folder, file, keys, calls };
}

test('a key is found by itself alone, and nothing of it is kept but its fingerprint', () => {
  const ring = createKeyRing();
  const { record, key } = makeKey([], wanted, NOW);
  ring.set([record]);
  assert.match(key, /^sda_[0-9a-f]{8}_[A-Za-z0-9_-]{43}$/);
  assert.equal(ring.find(key).name, 'hacs');
  const secret = key.split('_').slice(2).join('_');
  assert.ok(!writeKeys([record]).includes(secret));
  const at = fc.nat(key.length - 1);
  const another = fc.tuple(at, fc.string({ minLength: 1, maxLength: 1 })).map(([i, char]) => key.slice(0, i) + char + key.slice(i + 1));
  const guesses = fc.oneof(fc.string(), at.map((i) => key.slice(0, i)), another);
  fc.assert(fc.property(guesses, (text) => text === key || ring.find(text) === null));
  ring.set([]);
  assert.equal(ring.find(key), null);
});

test('what is written is read again; what is damaged is refused with the place', () => {
  const { record } = makeKey([], { ...wanted, ratePerS: 5, expiresMs: NOW + 1 }, NOW);
  assert.deepEqual(parseKeys(writeKeys([record])), [record]);
  for (const [change, message] of [
    [{ id: 'x' }, /keys\[0\]: id must be/], [{ name: 'a b' }, /name must be/],
    [{ name: 'SDA_API_KEY' }, /name must not be/],
    [{ name: '10.0.0.1' }, /must not be an address/], [{ rights: [] }, /rights must be/], [{ rights: ['all'] }, /rights must be/], [{ sha256: 'x' }, /sha256/],
    [{ created_ms: 'x' }, /created_ms/], [{ expires_ms: undefined }, /expires_ms/], [{ rate_per_s: 0 }, /rate_per_s/], [{ rate_per_s: 1.5 }, /rate_per_s/]]) {
    assert.throws(() => parseKeys(writeKeys([{ ...record, ...change }])), message);
  }
  assert.throws(() => parseKeys('{'), /is no JSON/);
  assert.throws(() => parseKeys('{"v":2,"keys":[]}'), /must be \{"v":1/);
  assert.throws(() => parseKeys(writeKeys([record, record])), /keys\[1\]: the id [0-9a-f]+ is there twice/);
  assert.throws(() => parseKeys(writeKeys([null])), /keys\[0\]: is no object/);
  fc.assert(fc.property(fc.anything(), (value) => faultOf(value) === null || typeof faultOf(value) === 'string'));
});

test('wishes that cannot be granted are refused in words', () => {
  const { record } = makeKey([], wanted, NOW);
  assert.throws(() => makeKey([record], wanted, NOW), /there is a key "hacs" already/);
  assert.throws(() => makeKey([], { ...wanted, rights: ['histroy'] }, NOW), /rights must be one or more of history, presence, admin/);
  assert.throws(() => makeKey([], { ...wanted, rights: 'history' }, NOW), /rights must be/);
  assert.throws(() => makeKey([], { ...wanted, name: undefined }, NOW), /name must be/);
  assert.throws(() => makeKey([], { ...wanted, ratePerS: NaN }, NOW), /rate_per_s/);
  assert.throws(() => makeKey([], { ...wanted, expiresMs: NOW }, NOW), /expired already/);
  assert.deepEqual(makeKey([], { ...wanted, rights: ['admin', 'history', 'admin'] }, NOW).record.rights, ['history', 'admin']);
});

test('when a key expires, in every way of writing it', () => {
  for (const [text, ms] of [['never', null], ['12h', NOW + 12 * 3_600_000], ['90d', NOW + 90 * 86_400_000], ['2026-12-01', Date.UTC(2026, 11, 1)],
    ['2026-12-01T10:30', Date.UTC(2026, 11, 1, 10, 30)], ['2026-12-01T10:30:05+08:00', Date.UTC(2026, 11, 1, 2, 30, 5)]]) {
    assert.equal(parseExpiry(text, NOW), ms, text);
  }
  for (const text of ['', '90', '90m', 'soon', '2027-02-30', '2027-13-01', '2027-01-01T25:00', '-1d', '2026-11-21', '0d', '40000d']) {
    assert.throws(() => parseExpiry(text, NOW), /is no time|is over already|years ahead/, text);
  }
  fc.assert(fc.property(fc.string(), (text) => {
    try {
      const ms = parseExpiry(text, NOW);
      return ms === null || ms > NOW;
    } catch (error) {
      return error.message.startsWith(`"${text}" is `);
    }
  }));
});

test('keys are made and revoked while everything runs, by the API and by hand', async (t) => {
  const { file, keys, calls } = rig(t);
  const { key, record } = await keys.add(wanted);
  assert.equal(keys.find(key).name, 'hacs');
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.ok(!fs.existsSync(`${file}.new`));
  const made = await changeKeys(file, (records) => {
    const other = makeKey(records, { ...wanted, name: 'wall' }, NOW);
    return { records: [...records, other.record], result: other };
  });
  assert.equal(keys.find(made.key), null);
  keys.follow();
  assert.equal(keys.find(made.key).name, 'wall');
  assert.equal((await keys.revoke(record.id)).name, 'hacs');
  assert.equal(await keys.revoke(record.id), null);
  assert.equal(keys.find(key), null);
  fs.rmSync(file);
  keys.follow();
  assert.equal(keys.find(made.key), null);
  assert.deepEqual(calls.changed, [[['wall'], []], [[], ['wall']]]);
});

test('what the API and others change at the same moment is reported of the others alone, however long the disk takes', async (t) => {
  const { file, keys, calls } = rig(t);
  const byHand = (name) => changeKeys(file, (records) => ({ records: [...records, makeKey(records, { ...wanted, name }, NOW).record] }));
  await byHand('before');
  const real = fs.promises.rename;
  t.mock.method(fs.promises, 'rename', async (...args) => {
    await real(...args);
    keys.follow(); // the file is there, and its folder is not on the disk yet
  });
  const { record } = await keys.add(wanted);
  await keys.revoke(record.id);
  await byHand('after');
  assert.deepEqual(calls.changed, [[['before'], []], [['after'], []]]);
});

test('a damaged file is refused, the keys of before stay, and nothing is written over it', async (t) => {
  const { file, keys, calls } = rig(t);
  const { key } = await keys.add(wanted);
  const good = fs.readFileSync(file, 'utf8');
  for (const [damage, message] of [[() => fs.writeFileSync(file, good.slice(0, 40)), /is no JSON/],
    [() => fs.chmodSync(file, 0o662), /can be written by others/]]) {
    damage();
    const before = fs.readFileSync(file, 'utf8');
    keys.follow();
    keys.follow();
    assert.equal(keys.find(key).name, 'hacs');
    assert.equal(keys.part().status, 'degraded');
    assert.match(keys.part().reason, message);
    assert.match(calls.warn.at(-1), /the keys of before stay/);
    await assert.rejects(keys.add({ ...wanted, name: 'other' }), message);
    assert.equal(fs.readFileSync(file, 'utf8'), before);
    fs.chmodSync(file, 0o600);
    fs.writeFileSync(file, good);
    keys.follow();
    assert.deepEqual(keys.part(), { status: 'up', count: 1 });
  }
  assert.equal(calls.warn.length, 2, 'each is logged once');
});

test('a file that is damaged at the start leaves the key of .env, and says so', (t) => {
  const { keys, calls } = rig(t, { text: '[]' });
  assert.deepEqual(keys.records(), []);
  assert.equal(keys.part().status, 'degraded');
  assert.match(calls.warn[0], /no key but that of \.env is known/);
});

test('changes at the same time are all kept, and what a kill left behind is in nobody\'s way', async (t) => {
  const { file, keys } = rig(t);
  fs.writeFileSync(`${file}.new`, 'half of a fi');
  await Promise.all(Array.from({ length: 12 }, (_, i) => keys.add({ ...wanted, name: `key-${i}` })));
  assert.equal(readKeys(file).records.length, 12);
  assert.equal(keys.records().length, 12);
});

test('the API: made, listed without secrets, revoked; faults are the caller\'s', async (t) => {
  const { file, keys } = rig(t);
  const answers = createSystemAnswers({ keys, clock: () => NOW, audit: { adminAction: async () => {} } });
  const caller = { name: 'login:ada' };
  const check = createBodyCheck(operationsOf(createDescription('0')).find(({ id }) => id === 'createKey').body);
  const create = async (body) => answers.createKey({ body: check(new URLSearchParams(), body), caller });
  const revoke = (id) => answers.revokeKey({ params: { id }, caller });
  const made = await create({ name: 'hacs', rights: 'history, presence', expires: '1d', rate_per_s: '20' });
  assert.equal(keys.find(made.key).name, 'hacs');
  assert.deepEqual(answers.listKeys(), { keys: [{ id: made.id, name: 'hacs', rights: ['history', 'presence'], created_ms: NOW,
    expires_ms: NOW + 86_400_000, expired: false, rate_per_s: 20 }] });
  const status = (code, message) => (error) => error.status === code && message.test(error.message);
  await assert.rejects(create({ name: 'hacs', rights: ['history'] }), status(409, /already/));
  await assert.rejects(create({ name: 'b', rights: ['history'], expires: 'soon' }), status(400, /^expires is no time/));
  await assert.rejects(create({ name: 'b', rights: ['history'], expires: 5 }), status(400, /^expires is no time/));
  await assert.rejects(create({ name: 'b', rights: ['history'], expires: '2020-01-01' }), status(400, /is over already/));
  await assert.rejects(create({ name: 'b', rights: ['history'], rate_per_s: 'fast' }), status(400, /rate_per_s/));
  await assert.rejects(create({ rights: ['history'] }), status(400, /name is missing/));
  await assert.rejects(create({ name: 'b' }), status(400, /rights is missing/));
  await assert.rejects(revoke('deadbeef'), status(404, /no key deadbeef/));
  assert.equal((await revoke(made.id)).name, 'hacs');
  assert.deepEqual(answers.listKeys(), { keys: [] });
  fs.writeFileSync(file, '{');
  await assert.rejects(create({ name: 'b', rights: ['admin'] }), status(503, /keys cannot be changed: their file is no JSON/));
});

test('the command: help that teaches, a key shown once, faults in words', (t) => {
  const { folder, keys } = rig(t);
  const env = { ...process.env, SDA_USER_DIR: folder };
  const run = (...args) => spawnSync(process.execPath, [path.join(__dirname, '..', 'bin', 'key.js'), ...args], { env, encoding: 'utf8' });
  for (const args of [[], ['--help'], ['add', '--help']]) {
    const { status, stdout } = run(...args);
    assert.equal(status, 0);
    assert.match(stdout, /make key ARGS='add hacs --right history --expires 90d'/);
  }
  const added = run('add', 'hacs', '--right', 'history', '--right', 'presence', '--expires', '90d', '--rate', '50');
  assert.equal(added.status, 0, added.stderr);
  keys.follow();
  const record = keys.find(added.stdout.trim());
  assert.deepEqual([record.name, record.rights, record.rate_per_s], ['hacs', ['history', 'presence'], 50]);
  const listed = execFileSync(process.execPath, [path.join(__dirname, '..', 'bin', 'key.js'), 'list'], { env, encoding: 'utf8' });
  assert.match(listed, new RegExp(`hacs  ${record.id}  history,presence`));
  for (const [args, message] of [[['add'], /give one name/], [['add', 'x'], /say what it may do/], [['add', 'x', '--right', 'all'], /rights must be/],
    [['add', 'hacs', '--right', 'admin'], /there is a key "hacs" already/], [['add', 'x', '--right', 'admin', '--expires', 'x'], /is no time/],
    [['add', 'x', '--right', 'admin', '--rate', 'x'], /no whole number/], [['revoke'], /give one name/], [['revoke', 'x'], /there is no key "x"/],
    [['frob'], /there is no "frob"/], [['list', '--frob'], /frob/]]) {
    const { status, stderr } = run(...args);
    assert.equal(status, 2, args.join(' '));
    assert.match(stderr, /^error: /);
    assert.match(stderr, message);
  }
  assert.equal(run('revoke', 'hacs').status, 0);
  keys.follow();
  assert.equal(keys.find(added.stdout.trim()), null);
  assert.match(run('list').stdout, /there are no keys yet/);
});
