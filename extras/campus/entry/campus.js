#!/usr/bin/env node
'use strict';

// The campus entry: one address for several sites. Usage: campus.js CAMPUS.TOML
// What is missing or wrong in the file ends the start with every fault named.
const fs = require('node:fs');
const path = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');
const { createCampus } = require('./lib');
const { readCampus } = require('./lib/config');
const { encodingFault, encodingOf } = require('./lib/core');
const { version } = require('./package.json');

/** Requests that are being answered may go on so long after a stop was asked for. */
const STOP_WITHIN_MS = 10_000;
const OTHERS_READ = 0o077;

const say = (level) => (text) => console.log(`${new Date().toISOString()} [${level}] [campus] ${text}`);
const log = { info: say('info'), warn: say('warn'), error: say('error') };

/** A key in a file that only this user may read. */
function readSecret(file) {
  if ((fs.statSync(file).mode & OTHERS_READ) !== 0) throw new Error(`others can read ${file}, which has a key: chmod 600 ${file}`);
  return fs.readFileSync(file, 'utf8');
}

/** A file that people write, with or without a byte order mark. */
function readText(file) {
  const bytes = fs.readFileSync(file);
  if (encodingOf(bytes).name !== 'UTF-8') throw new Error(`${file} ${encodingFault(bytes)}`);
  return bytes.toString('utf8').replace(/^\ufeff/, '');
}

/** Refuse to start with a sentence, not with a stack. */
function fail(error) {
  console.error(error.message);
  process.exit(1);
}

function main([file = 'campus.toml']) {
  const config = readCampus(path.resolve(file), { env: process.env, read: readText, readSecret });
  fs.mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const campus = createCampus(config, { version, log });
  const server = campus.app.listen(config.port, config.bind);
  server.on('error', fail);
  server.on('listening', () => {
    const names = config.sites.map(({ name }) => name).join(', ');
    log.info(`version ${version} listens on ${config.bind}:${config.port} for the sites ${names}`);
    campus.serve(server);
    campus.start();
  });

  /** Take no more connections, answer what was asked, end. */
  async function stop() {
    log.info('stops');
    server.close();
    await Promise.race([campus.drain(), sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
    server.closeAllConnections();
    campus.close();
  }
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

try {
  main(process.argv.slice(2));
} catch (error) {
  fail(error);
}
