#!/usr/bin/env node
'use strict';

// Packs the nodes that work in any Node-RED, with those files of lib/ that they use: node bin/pack-nodes.js [FOLDER]
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const { builtinModules } = require('node:module');
const os = require('node:os');
const path = require('node:path');
const { dependencies } = require('../package.json');
const manifest = require('../node-package/package.json');

const FLOWS = path.join(__dirname, '..');
/** What is read, and not required. */
const READ = ['building/building.schema.json'];
const REQUIRES = /\brequire\('([^']+)'\)/g;

/**
 * What files need: further files of ours, and packages.
 * @param {string[]} first files, relative to `FLOWS`
 */
function closure(first) {
  const files = new Set(first);
  const packages = new Set();
  for (const file of files) {
    const text = file.endsWith('.json') ? '' : fs.readFileSync(path.join(FLOWS, file), 'utf8');
    for (const [, name] of text.matchAll(REQUIRES)) {
      if (name.startsWith('.')) files.add(path.relative(FLOWS, require.resolve(path.join(FLOWS, path.dirname(file), name))));
      else if (!name.startsWith('node:') && !builtinModules.includes(name)) packages.add(/^(@[^/]+\/)?[^/]+/.exec(name)[0]);
    }
  }
  return { files, packages };
}

/** @param {string} folder where the packed file is to lie @returns {string} its path */
function pack(folder) {
  const nodes = Object.values(manifest['node-red'].nodes);
  const { files, packages } = closure([...nodes, ...READ]);
  for (const node of nodes) {
    files.add(node.replace('.js', '.html'));
    files.add(path.join('nodes/locales/en-US', path.basename(node, '.js') + '.json'));
  }
  const stage = fs.mkdtempSync(path.join(os.tmpdir(), 'sda-nodes-'));
  try {
    fs.cpSync(path.join(FLOWS, 'node-package'), stage, { recursive: true });
    fs.copyFileSync(path.join(FLOWS, '..', 'LICENSE'), path.join(stage, 'LICENSE'));
    for (const file of files) fs.cpSync(path.join(FLOWS, file), path.join(stage, file));
    const needed = Object.fromEntries([...packages].sort().map((name) => [name, dependencies[name]]));
    fs.writeFileSync(path.join(stage, 'package.json'), JSON.stringify({ ...manifest, dependencies: needed }, null, 2));
    const [{ filename }] = JSON.parse(execFileSync('npm', ['pack', '--json', '--pack-destination', path.resolve(folder)],
      { cwd: stage, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
    return path.join(path.resolve(folder), filename);
  } finally {
    fs.rmSync(stage, { recursive: true });
  }
}

console.log(pack(process.argv[2] ?? '.'));
