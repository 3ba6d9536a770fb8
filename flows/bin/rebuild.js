#!/usr/bin/env node
'use strict';

// Asks the running flows to locate a time again from the stored readings, and shows the progress.
// Usage: node bin/rebuild.js FROM [TO]   environment: HTTP_PORT, SDA_API_KEY
const { setTimeout: wait } = require('node:timers/promises');

const POLL_MS = 500;
const PROGRESS_MS = 5000;
const USAGE = 'give a time: make rebuild FROM=2026-01-01T10:00 TO=2026-01-01T12:30 (UTC unless it says +08:00; or epoch seconds;\n' +
  'without TO: to the present; up to seven days back)';
const url = `http://127.0.0.1:${process.env.HTTP_PORT || 1880}/api/v1/rebuild`;
const headers = { 'X-API-Key': process.env.SDA_API_KEY ?? '' };

/** @returns the JSON answer of the flows @throws {Error} where they refuse or do not answer */
async function ask(options) {
  let answer;
  try {
    answer = await fetch(url, { headers, ...options });
  } catch (error) {
    throw new Error(`Node-RED does not answer at ${url} (${error.cause?.code ?? error.message}); is it running? make status`, { cause: error });
  }
  const body = await answer.json().catch(() => ({ error: `HTTP ${answer.status}` }));
  if (!answer.ok) throw new Error(body.error);
  return body;
}

const iso = (ms) => new Date(ms).toISOString().replace('.000Z', 'Z');
const found = ({ readings, locations, stays }) => `${readings} readings, ${locations} locations, ${stays} stays`;

async function main([from = '', to = '']) {
  if (from === '') throw new Error(`FROM is missing; ${USAGE}`);
  const asked = await ask({ method: 'POST', body: new URLSearchParams({ from, ...(to === '' ? {} : { to }) }) });
  console.log(`rebuild ${asked.id}: ${iso(asked.from_ms)} to ${iso(asked.to_ms)}; it goes on when this is stopped`);
  let job = asked;
  for (let shownMs = Date.now(); job.state === 'waiting' || job.state === 'running'; await wait(POLL_MS)) {
    const { jobs } = await ask({});
    job = jobs.find(({ id }) => id === asked.id);
    if (!job) throw new Error('Node-RED was restarted meanwhile: ask for it again');
    if (Date.now() - shownMs < PROGRESS_MS) continue;
    shownMs = Date.now();
    console.log(`  ${job.state === 'waiting' ? 'another job runs first' : `at ${iso(job.at_ms ?? job.from_ms)}, ${found(job)}`}` +
      `${job.reason ? `; ${job.reason}` : ''}`);
  }
  if (job.state === 'failed') throw new Error(`it failed: ${job.reason}; the log of Node-RED says more`);
  console.log(`done in ${job.took_s} s: ${found(job)}`);
}

main(process.argv.slice(2)).catch((error) => {
  console.error(`error: ${error.message}`);
  process.exitCode = 2;
});
