#!/usr/bin/env node
'use strict';

// Prints the parts of /health that are not up, and what to do. Exit code 0: all are up.
const { setTimeout: later } = require('node:timers/promises');
const { parseArgs } = require('node:util');

const HELP = `Whether everything works, in words: node bin/health.js [--wait SECONDS] [--located SECONDS] [--alive]

  --wait SECONDS     waits so long at most until all of it is up
  --located SECONDS  then waits so long at most until the past is located, so that history answers instead of 503
  --alive            only whether Node-RED answers: what another part lacks does not count`;
const ANSWER_WITHIN_MS = 3000;
const POLL_MS = 500;
const WARNINGS_SHOWN = 20;

/**
 * @typedef {{status: string, state?: string, reason?: string, remedy?: string, faults?: string[],
 *   warnings_count?: number, warnings?: string[]}} Part
 * @returns {Promise<{status: string, parts: Record<string, Part>}>}
 */
async function ask() {
  const url = `http://127.0.0.1:${process.env.HTTP_PORT || 1880}/health`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  return answer.json();
}

/** @param {Awaited<ReturnType<typeof ask>>} report @returns {string[]} one line for each part that is not up */
function reasons({ parts }) {
  return Object.entries(parts).filter(([, part]) => part.status !== 'up').map(([name, part]) =>
    [`${name} is ${part.status}: ${part.reason ?? 'no reason is given'}`, ...part.faults ?? [], ...part.remedy ? [`-> ${part.remedy}`] : []].join('\n  '));
}

/** @param {Awaited<ReturnType<typeof ask>>} report @returns {string[]} what works, and should be looked at */
function warnings({ parts }) {
  return Object.entries(parts).flatMap(([name, { warnings_count: count = 0, warnings: all = [] }]) => (count === 0 ? []
    : [[`${name}: ${count} warnings; what is there goes on, a new edit may not bring it`, ...all.slice(0, WARNINGS_SHOWN)].join('\n  ')]));
}

/**
 * Waits until the past is located, `withinS` seconds at most. A long outage takes longer, and is no fault.
 * @param {number} withinS
 */
async function waitUntilLocated(withinS) {
  const deadlineMs = Date.now() + withinS * 1000;
  while ((await ask()).parts.rebuild?.state !== 'idle') {
    if (Date.now() >= deadlineMs) {
      console.log('readings of the past are still being located; until then questions about them are answered 503');
      return;
    }
    await later(POLL_MS);
  }
}

async function main() {
  const { values } = parseArgs({ options: { wait: { type: 'string', default: '0' }, located: { type: 'string' }, alive: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const deadlineMs = Date.now() + Number(values.wait) * 1000;
  for (;;) {
    let notes = [];
    const problems = await ask().then((report) => {
      notes = warnings(report);
      return values.alive ? [] : reasons(report);
    }, (error) => [`node-red does not answer: ${error.message}`]);
    if (problems.length === 0) {
      if (!values.alive) for (const line of ['all parts are up', ...notes]) console.log(line);
      if (values.located) await waitUntilLocated(Number(values.located));
      return 0;
    }
    if (Date.now() >= deadlineMs) {
      for (const line of problems) console.error(line);
      return 1;
    }
    await later(POLL_MS);
  }
}

main().then((code) => { process.exitCode = code; }, (error) => {
  console.error(`error: ${error.message}`);
  process.exitCode = 2;
});
