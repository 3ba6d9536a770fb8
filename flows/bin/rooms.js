#!/usr/bin/env node
'use strict';

/**
 * The rooms of `lib` and their arrows: which folder imports which. `npm run check` calls it with `--check`, which fails where an arrow
 * points the wrong way; `make yardsticks` prints what there is of everything that this repository wants less of.
 *
 * An arrow is an import that the program makes; a type in a comment is none.
 */

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const ts = require('typescript');

const ROOT = path.resolve(__dirname, '..', '..');
const LIB = path.join(ROOT, 'flows', 'lib');

/** From the ground up, as in CONTRIBUTING.md: a room may import only those before it. A folder that is missing here is a fault too. */
const ROOMS = ['shared', 'store', 'building', 'locator', 'broker', 'health', 'devices', 'live', 'clocks', 'past', 'recordings',
  'calibration', 'alerts', 'access', 'http', 'dashboard'];

/** What the core does not name: the extras, and what only they have. */
const EXTRA = new RegExp(`\\b(${Object.values(require('../../extras/names.json')).flat().join('|')})\\b`);
const INVERTED = /\/\*\*(?:\n\s*\*)? What /g;

/**
 * The files that each file imports.
 * @param {string[]} files absolute paths
 * @returns {Map<string, string[]>}
 */
function importsOf(files) {
  return new Map(files.map((file) => {
    const specifiers = ts.preProcessFile(fs.readFileSync(file, 'utf8'), true, true).importedFiles
      .map(({ fileName }) => fileName).filter((name) => name.startsWith('.'));
    const found = specifiers.map((specifier) => [specifier, `${specifier}.js`, `${specifier}/index.js`]
      .map((name) => path.resolve(path.dirname(file), name)).find((name) => fs.existsSync(name) && fs.statSync(name).isFile()));
    return [file, [...new Set(found.filter(Boolean))]];
  }));
}

/** The room of a file; '' beside the rooms, where they are put together. @param {string} lib @param {string} file */
const roomOf = (lib, file) => path.relative(lib, file).split(path.sep).slice(0, -1)[0] ?? '';

/**
 * Arrows between rooms.
 * @param {string} lib @param {Map<string, string[]>} imports
 * @returns {{from: string, to: string, file: string}[]}
 */
const arrowsOf = (lib, imports) => [...imports].flatMap(([file, imported]) => imported
  .map((other) => ({ from: roomOf(lib, file), to: roomOf(lib, other), file: path.relative(lib, file) }))
  .filter(({ from, to }) => from !== '' && to !== '..' && from !== to));

/**
 * Arrows that point up or to a room that is not listed.
 * @param {string} lib @param {Map<string, string[]>} imports @param {string[]} rooms from the ground up
 * @returns {string[]}
 */
const faultsOf = (lib, imports, rooms = ROOMS) => arrowsOf(lib, imports)
  .filter(({ from, to }) => !rooms.includes(to) || rooms.indexOf(to) > rooms.indexOf(from))
  .map(({ from, to, file }) => `lib/${file} imports ${to === '' ? 'a file beside the rooms' : `from ${to}`}: `
    + `${from} may import ${rooms.slice(0, Math.max(0, rooms.indexOf(from))).join(', ') || 'no other room'}`);

/** Groups of rooms that import each other, directly or through others. @param {string} lib @param {Map<string, string[]>} imports */
function loopsOf(lib, imports) {
  const arrows = arrowsOf(lib, imports);
  const reach = (/** @type {string} */ start) => {
    const seen = new Set();
    const queue = [start];
    while (queue.length > 0) {
      const room = queue.pop();
      for (const { from, to } of arrows) if (from === room && !seen.has(to)) { seen.add(to); queue.push(to); }
    }
    return seen;
  };
  const reached = new Map([...new Set(arrows.map(({ from }) => from))].map((room) => [room, reach(room)]));
  return [...new Set([...reached].filter(([room, rooms]) => rooms.has(room))
    .map(([room, rooms]) => [...rooms].filter((other) => reached.get(other)?.has(room)).sort().join(' ↔ ')))];
}

/** @param {string} file */
const linesOf = (file) => fs.readFileSync(file, 'utf8').split('\n').length - 1;

/** @param {string[]} files */
function sizeOf(files) {
  const lines = files.reduce((sum, file) => sum + linesOf(file), 0);
  return `${String(files.length).padStart(5)} files ${String(lines).padStart(7)} lines`;
}

/** The counts, one a line. @returns {string} */
function yardsticks() {
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0').filter(Boolean)
    .map((name) => path.join(ROOT, name)).filter((file) => fs.existsSync(file));
  const named = (/** @type {RegExp} */ pattern, files = listed) => files.filter((file) => pattern.test(path.relative(ROOT, file)));
  const source = named(/\.(js|cjs|ts|vue|css|html|py|sh|go|star)$/)
    .filter((file) => !/(^|\/)(tests?|bench|kit)\//.test(path.relative(ROOT, file)));
  const lib = named(/^flows\/lib\//, source);
  const javascript = named(/^flows\/.*\.(js|vue)$/);
  const imports = importsOf(javascript);
  const importers = new Map();
  for (const [file, imported] of imports) {
    if (/\/test\/|\/bench\//.test(file)) continue;
    for (const other of imported) importers.set(other, (importers.get(other) ?? 0) + 1);
  }
  const ofLib = new Map([...imports].filter(([file]) => lib.includes(file)));
  const texts = (/** @type {string[]} */ files) => files.map((file) => fs.readFileSync(file, 'utf8'));
  const count = (/** @type {RegExp} */ pattern) => texts(lib).reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0);
  const core = source.filter((file) => !/^extras\//.test(path.relative(ROOT, file)));
  const words = texts(named(/\.md$/)).reduce((sum, text) => sum + text.split(/\s+/).filter(Boolean).length, 0);
  const parts = [...new Set(source.map((file) => path.relative(ROOT, file).split(path.sep)[0] ?? ''))];
  const rooms = [...new Set(lib.map((file) => roomOf(LIB, file)))];
  return [
    'source, without tests and benches', ...parts.map((part) => `  ${part.padEnd(16)}${sizeOf(named(new RegExp(`^${part}(/|$)`), source))}`),
    `  ${'all'.padEnd(16)}${sizeOf(source)}`,
    'flows/lib', ...rooms.map((room) => `  ${(room || '(beside them)').padEnd(16)}${sizeOf(lib.filter((file) => roomOf(LIB, file) === room))}`),
    `  ${'all'.padEnd(16)}${sizeOf(lib)}`,
    `files of flows/lib with one importer: ${lib.filter((file) => importers.get(file) === 1).length}`,
    `room loops: ${loopsOf(LIB, ofLib).join(', ') || 0}`,
    `single-slot listeners: ${count(/\blet on[A-Z]\w* = (?:async )?\(/g)}`,
    `comments of flows/lib that open with What: ${count(INVERTED)}`,
    `core files that name an extra: ${texts(core).filter((text) => EXTRA.test(text)).length}`,
    `words of Markdown: ${words}`,
  ].join('\n');
}

module.exports = { ROOMS, faultsOf, importsOf, loopsOf };

if (require.main === module) {
  if (process.argv.includes('--check')) {
    const files = fs.globSync('**/*.js', { cwd: LIB }).map((name) => path.join(LIB, name));
    const faults = faultsOf(LIB, importsOf(files));
    for (const fault of faults) console.error(`error: ${fault}`);
    process.exitCode = faults.length > 0 ? 1 : 0;
  } else {
    console.log(yardsticks());
  }
}
