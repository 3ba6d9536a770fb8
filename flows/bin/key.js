#!/usr/bin/env node
'use strict';

// Keys for the HTTP API. Writes keys.json in the flows' data folder (SDA_USER_DIR), which running flows follow.
const path = require('node:path');
const { parseArgs } = require('node:util');
const { changeKeys, FILE, KeyError, KeyFileError, makeKey, parseExpiry, readKeys } = require('../lib/access/keys');

const HELP = `Keys for the HTTP API: each caller gets one of its own, with only the rights it needs.

  make key ARGS='add NAME --right RIGHT [--right RIGHT] [--expires WHEN] [--rate N]'
      makes a key and shows it, this once: only its fingerprint is kept
  make key ARGS='list'
      name, id, rights, when made, when it expires, how many requests a second
  make key ARGS='revoke NAME'          (or its id, the middle of sda_<id>_…)
      from now on the key is refused

Rights    history    where people were and who they met: /extractbeacon, /api/v1/…
          presence   who is where now, and reporting it: /retrieveformonitoring, /newbeacondetect
          admin      keys, audit, rebuild, the building
          forward    for an entry to several sites: it names its own caller in the audit log; opens no route
Expiry    90d, 12h, never (which it is unless you say), 2027-01-31, 2027-01-31T12:00:00Z
Rate      requests a second, in the mean over ten; without it SDA_RATE_PER_S of .env

A change is in force within about a second, without a restart. To replace a key without a gap: add a second one under
another name, give it to the caller, revoke the first.

  make key ARGS='add hacs --right history --expires 90d'
  curl -H "X-API-Key: <key>" "localhost:1880/extractbeacon?staff_id=0&start_time=…&end_time=…"

Callers of SDA_TRUSTED_NETS need no key for history and presence. Who looked up whose history: /api/v1/audit.`;

const OPTIONS = { right: { type: 'string', multiple: true }, expires: { type: 'string' }, rate: { type: 'string' },
  help: { type: 'boolean', short: 'h' } };
const day = (ms) => (ms === null ? 'never' : new Date(ms).toISOString().slice(0, 16).replace('T', ' '));

async function add(file, [name, ...rest], { right = [], expires = 'never', rate }) {
  if (name === undefined || rest.length > 0) throw new KeyError('give one name: add NAME --right history');
  if (right.length === 0) throw new KeyError('say what it may do: --right history, presence, admin or forward (several are possible)');
  if (rate !== undefined && !/^\d+$/.test(rate)) throw new KeyError(`--rate ${rate} is no whole number of requests a second`);
  const nowMs = Date.now();
  const wanted = { name, rights: right, expiresMs: parseExpiry(expires, nowMs), ratePerS: rate === undefined ? undefined : Number(rate) };
  const { record, key } = await changeKeys(file, (records) => {
    const made = makeKey(records, wanted, nowMs);
    return { records: [...records, made.record], result: made };
  });
  console.error(`${name} may: ${record.rights.join(', ')}; expires: ${day(record.expires_ms)} UTC. The key, shown this once:`);
  console.log(key);
}

function list(file) {
  const { records } = readKeys(file);
  if (records.length === 0) {
    console.log("there are no keys yet but SDA_API_KEY of .env: make key ARGS='add hacs --right history'");
    return;
  }
  const rows = records.map((one) => [one.name, one.id, one.rights.join(','), day(one.created_ms),
    day(one.expires_ms) + (one.expires_ms !== null && one.expires_ms <= Date.now() ? ' (over)' : ''), String(one.rate_per_s ?? '')]);
  const table = [['name', 'id', 'rights', 'made (UTC)', 'expires (UTC)', 'rate'], ...rows];
  const widths = table[0].map((_, i) => Math.max(...table.map((row) => row[i].length)));
  for (const row of table) console.log(row.map((cell, i) => cell.padEnd(widths[i])).join('  ').trimEnd());
}

async function revoke(file, [which, ...rest]) {
  if (which === undefined || rest.length > 0) throw new KeyError('give one name or id: revoke NAME');
  await changeKeys(file, (records) => {
    const gone = records.find(({ name, id }) => name === which || id === which);
    if (!gone) throw new KeyError(`there is no key "${which}"; make key ARGS=list shows them`);
    return { records: records.filter((one) => one !== gone), result: null };
  });
  console.log(`${which} is revoked`);
}

async function main(args) {
  const { values, positionals: [command, ...rest] } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  if (values.help || command === undefined || command === 'help') {
    console.log(HELP);
    return;
  }
  if (!process.env.SDA_USER_DIR) throw new Error('SDA_USER_DIR, the data folder of the flows, is not set; use: make key');
  const file = path.join(process.env.SDA_USER_DIR, FILE);
  const work = { add, list, revoke }[command];
  if (!work) throw new Error(`there is no "${command}": add, list or revoke; see --help`);
  try {
    await (command === 'list' ? list(file) : work(file, rest, values));
  } catch (error) {
    throw error instanceof KeyFileError ? new Error(`${file} ${error.message}`) : error;
  }
}

main(process.argv.slice(2)).catch((error) => {
  console.error(`error: ${error.message}`);
  process.exitCode = 2;
});
