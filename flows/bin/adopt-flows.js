#!/usr/bin/env node
'use strict';

// For who develops these flows: takes what was deployed in the editor into flows.json. node bin/adopt-flows.js DATA_FOLDER [FLOWS_FILE]
const fs = require('node:fs');
const path = require('node:path');
const { FLOWS, applyUserChanges } = require('../lib/flow-storage');

const [folder, flowFile] = process.argv.slice(2);
if (!folder) {
  console.error(`the folder with ${FLOWS} is missing: node bin/adopt-flows.js ../.data/node-red`);
  process.exit(2);
}
const [ours, own] = [path.resolve(flowFile ?? path.join(__dirname, '..', 'flows.json')), path.join(folder, FLOWS)];
const flows = applyUserChanges(JSON.parse(fs.readFileSync(ours, 'utf8')), JSON.parse(fs.readFileSync(own, 'utf8')));
fs.writeFileSync(ours, `${JSON.stringify(flows, null, 4)}\n`);
fs.rmSync(own);
console.log(`${ours} has it now; start Node-RED again`);
