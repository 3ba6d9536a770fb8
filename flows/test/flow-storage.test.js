'use strict';

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { createFlowStorage, FLOWS, applyUserChanges, diffUserChanges } = require('../lib/flow-storage');

const OURS = [
  { id: 'tab', type: 'tab', label: 'Pipeline' },
  { id: 'group', type: 'group', z: 'tab', nodes: ['locate', 'publish'] },
  { id: 'locate', type: 'sda-locate', z: 'tab', x: 1, wires: [['publish'], ['publish']] },
  { id: 'publish', type: 'sda-publish', z: 'tab', x: 2, wires: [[]] },
];
const with_ = (changes) => OURS.map((node) => ({ ...node, ...changes[node.id] }));
const MINE = [{ id: 'mine', type: 'tab', label: 'My own' }, { id: 'post', type: 'http request', z: 'mine', wires: [] }];

test('nothing deployed is nothing kept, and our flows stay as they are', () => {
  const own = diffUserChanges(OURS, structuredClone(OURS));
  assert.deepEqual(own, { v: 1, nodes: [], changed: {}, removed: [] });
  assert.deepEqual(applyUserChanges(OURS, own), OURS);
});

test('a tab of a user and a wire to it stay through an update that adds wires, moves nodes and brings new ones', () => {
  const own = diffUserChanges(OURS, [...with_({ locate: { wires: [['publish', 'post'], ['publish']] }, publish: { d: true } }), ...MINE]);
  const updated = [...with_({ locate: { x: 9, wires: [['publish', 'new'], ['publish']] }, group: { nodes: ['locate', 'publish', 'new'] } }),
    { id: 'new', type: 'sda-new', z: 'tab', wires: [] }];
  const flows = applyUserChanges(updated, own);
  const of = (id) => flows.find((node) => node.id === id);
  assert.deepEqual(of('locate'), { ...updated[2], wires: [['publish', 'new', 'post'], ['publish']] });
  assert.equal(of('publish').d, true);
  assert.deepEqual(of('group').nodes, ['locate', 'publish', 'new']);
  assert.deepEqual(flows.slice(-2), MINE);
});

test('what an update takes away leaves no wire into nothing, and costs no node of the user', () => {
  const own = diffUserChanges(OURS, [...with_({ publish: { wires: [['post']] }, locate: { wires: [['publish', 'post'], []] } }), ...MINE]);
  const flows = applyUserChanges(OURS.filter(({ id }) => id !== 'publish'), own);
  assert.deepEqual(flows.map(({ id }) => id), ['tab', 'group', 'locate', 'mine', 'post']);
  const back = applyUserChanges(OURS, { ...own, nodes: [MINE[0]] }); // a node of theirs that is gone
  assert.deepEqual(back.find(({ id }) => id === 'locate').wires, [['publish'], []]);
});

test('a node of ours that was deleted stays so; a property that was taken away too', () => {
  const own = diffUserChanges(OURS, with_({ publish: { x: undefined } }).filter(({ id }) => id !== 'group').map((node) => JSON.parse(JSON.stringify(node))));
  const flows = applyUserChanges(OURS, own);
  assert.deepEqual(flows.map(({ id }) => id), ['tab', 'locate', 'publish']);
  assert.ok(!('x' in flows[2]));
});

test('whatever is deployed comes back as it was', () => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const list = fc.uniqueArray(fc.constantFrom(...ids), { maxLength: 3 });
  const node = fc.record({ type: fc.constantFrom('x', 'y'), x: fc.option(fc.nat(3), { nil: undefined }), name: fc.constantFrom('', 'n'),
    wires: fc.array(list, { maxLength: 3 }), nodes: list }, { noNullPrototype: true });
  const flow = fc.uniqueArray(fc.tuple(fc.constantFrom(...ids), node), { selector: ([id]) => id, maxLength: 5 })
    .map((list_) => list_.map(([id, one]) => JSON.parse(JSON.stringify({ id, ...one }))));
  const sorted = (flows) => flows.map((one) => {
    const there = new Set(flows.map(({ id }) => id));
    const known = (ids_) => ids_.filter((id) => there.has(id)).sort();
    const wires = one.wires.map(known);
    while (wires.length > 0 && wires.at(-1).length === 0) wires.pop();
    return { ...one, wires, nodes: known(one.nodes) };
  }).sort((a, b) => a.id.localeCompare(b.id));
  fc.assert(fc.property(flow, flow, (ours, deployed) => {
    assert.deepEqual(sorted(applyUserChanges(ours, diffUserChanges(ours, deployed))), sorted(deployed));
  }));
});

test('in files: ours are never written, theirs are readable by the owner alone, a damaged one is no empty one', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'own-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const [flowFile, credentialsFile] = ['flows.json', 'cred.json'].map((name) => path.join(folder, name));
  fs.writeFileSync(flowFile, JSON.stringify(OURS), { mode: 0o444 });
  fs.writeFileSync(credentialsFile, JSON.stringify({ broker: { user: 'nodered' } }), { mode: 0o444 });
  const data = path.join(folder, 'data');
  const warned = [];
  const storage = createFlowStorage({ flowFile, credentialsFile, folder: data, base: { getSettings: () => 'theirs' },
    warn: (text) => warned.push(text) });
  assert.equal(storage.getSettings(), 'theirs');
  assert.deepEqual(await storage.getFlows(), OURS);
  await storage.saveFlows([...OURS, ...MINE]);
  await storage.saveCredentials({ broker: { user: 'nodered' }, post: { password: 'p' } });
  assert.deepEqual(await storage.getFlows(), [...OURS, ...MINE]);
  assert.deepEqual(await storage.getCredentials(), { broker: { user: 'nodered' }, post: { password: 'p' } });
  assert.deepEqual(JSON.parse(fs.readFileSync(flowFile, 'utf8')), OURS);
  const file = path.join(data, FLOWS);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  for (const [text, reason] of [['{"v":1', /user-flows.json is no JSON/], ['[]', /user-flows.json is not what the editor wrote/]]) {
    fs.writeFileSync(file, text);
    assert.deepEqual(await storage.getFlows(), OURS);
    assert.match(warned.at(-1), reason);
    await storage.saveFlows([...OURS, ...MINE]);
    assert.deepEqual([fs.readFileSync(`${file}.damaged`, 'utf8'), await storage.getFlows()], [text, [...OURS, ...MINE]]);
  }
});

test('what was deployed is taken into the flow file by hand', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'adopt-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const flowFile = path.join(folder, 'flows.json');
  fs.writeFileSync(flowFile, JSON.stringify(OURS));
  fs.writeFileSync(path.join(folder, FLOWS), JSON.stringify(diffUserChanges(OURS, [...OURS, ...MINE])));
  execFileSync(process.execPath, [path.join(__dirname, '..', 'bin', 'adopt-flows.js'), folder, flowFile]);
  assert.deepEqual(JSON.parse(fs.readFileSync(flowFile, 'utf8')), [...OURS, ...MINE]);
  assert.ok(!fs.existsSync(path.join(folder, FLOWS)));
});
