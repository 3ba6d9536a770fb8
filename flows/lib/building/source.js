// @ts-check
'use strict';

const fs = require('node:fs');
const fsp = require('node:fs/promises');
const { oneAtATime } = require('../shared/deadline');
const { encodingFault, encodingOf } = require('./import/decode');

/**
 * The text of a building file: the same rules for a file, a request and a command. It is UTF-8, with or without a byte order mark,
 * a regular file of 8 MiB at most, nested as little as a building is.
 */

/** Several times the largest building that anybody has drawn: 10,000 people are one MB. */
const BUILDING_BYTES = 8 * 1024 * 1024;
/** A corner of a room is the deepest value: six levels. */
const DEPTH_MAX = 32;
/** A disk answers within milliseconds, a mount over a busy network within a second. */
const READ_WITHIN_MS = 5000;
/** Without it opening a named pipe waits for somebody who writes. */
const FLAGS = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK;

/** The content is no text of a building; the message says why, without the name of the file. */
class UnreadableText extends Error {}

/** @param {{isFile: () => boolean, size: number}} stat @throws {UnreadableText} */
function refuseOdd(stat) {
  if (!stat.isFile()) throw new UnreadableText('is no regular file');
  if (stat.size > BUILDING_BYTES) throw new UnreadableText(tooLarge(stat.size));
}

/** @param {number} bytes */
const tooLarge = (bytes) => `has ${(bytes / 1024 / 1024).toFixed(1)} MiB, at most ${BUILDING_BYTES / 1024 / 1024} are taken`;

/**
 * @param {Uint8Array} bytes
 * @returns {string} without a byte order mark
 * @throws {UnreadableText}
 */
function buildingText(bytes) {
  if (bytes.length > BUILDING_BYTES) throw new UnreadableText(tooLarge(bytes.length));
  if (encodingOf(bytes).name !== 'UTF-8') throw new UnreadableText(`is not JSON: it ${encodingFault(bytes)}`);
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/**
 * Parses a building's text. Nesting is counted before, since what is thousands deep breaks off every walk through it.
 * @param {string} text
 * @returns {any}
 * @throws {UnreadableText}
 */
function parseText(text) {
  if (isNested(text, DEPTH_MAX)) throw new UnreadableText(`is nested more than ${DEPTH_MAX} deep: a building is not`);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnreadableText(`is not JSON: ${/** @type {Error} */ (error).message}`);
  }
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Whether brackets outside of strings are open deeper than `most`. @param {string} text @param {number} most */
function isNested(text, most) {
  let [depth, inString] = [0, false];
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === BACKSLASH) i += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      if (depth > most) return true;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}

/** Reads a building file at once, for a start and for commands. @param {string} file @throws {UnreadableText|NodeJS.ErrnoException} */
function readTextSync(file) {
  const descriptor = fs.openSync(file, FLAGS);
  try {
    refuseOdd(fs.fstatSync(descriptor));
    return buildingText(fs.readFileSync(descriptor));
  } finally {
    fs.closeSync(descriptor);
  }
}

/**
 * Reads a building file. A read that hangs is not repeated until it ends, since each would keep a thread of Node busy.
 * @param {string} file
 * @param {number} [withinMs]
 * @returns {() => Promise<string>} which throws UnreadableText, TookTooLong or an error of the system
 */
function createTextReader(file, withinMs = READ_WITHIN_MS) {
  return oneAtATime(async () => {
    const handle = await fsp.open(file, FLAGS);
    try {
      refuseOdd(await handle.stat());
      return buildingText(await handle.readFile());
    } finally {
      await handle.close();
    }
  }, withinMs, `reading ${file}`);
}

module.exports = { BUILDING_BYTES, READ_WITHIN_MS, UnreadableText, buildingText, parseText, readTextSync, createTextReader };
