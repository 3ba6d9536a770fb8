// @ts-check
'use strict';

const { createHash } = require('node:crypto');
const fs = require('node:fs/promises');
const path = require('node:path');
const { replaceFile } = require('../../shared/whole-file');

/**
 * Uploaded plan pictures. They are beside the building file and named by their content, so that an earlier version of the building
 * keeps its picture. Pictures that no version refers to are removed when there are too many.
 */

/** bytes, side (pixels): of a picture; all, allBytes: of all pictures. */
const BOUNDS = Object.freeze({ bytes: 8 * 1024 * 1024, side: 8000, all: 100, allBytes: 256 * 1024 * 1024 });
/** A younger picture may belong to a draft that is not saved yet. */
const DRAFT_MS = 24 * 60 * 60 * 1000;
const NAME = /^plan-[0-9a-f]{16}\.(png|jpg|svg)$/;

/** The picture is refused; the message says why and what to do. */
class PictureError extends Error {}

/**
 * Type of a picture by its content, whatever its name.
 * @param {Buffer} bytes
 * @returns {'png'|'jpg'|'svg'}
 * @throws {PictureError}
 */
function typeOf(bytes) {
  if (bytes.length === 0) throw new PictureError('the picture is empty');
  if (bytes.length > BOUNDS.bytes) {
    throw new PictureError(`the picture has ${mib(bytes.length)} MiB, at most ${mib(BOUNDS.bytes)} are taken: save it smaller`);
  }
  const size = sizeOfPng(bytes) ?? sizeOfJpeg(bytes);
  if (size) {
    const { kind, width, height } = size;
    if (width > 0 && height > 0 && Math.max(width, height) <= BOUNDS.side) return kind;
    throw new PictureError(`the picture has ${width} × ${height} pixels, at most ${BOUNDS.side} a side are taken: save it smaller`);
  }
  const text = bytes.toString('utf8');
  if (!/^\s*(?:<\?xml[^>]*\?>\s*)?(?:(?:<!--[\s\S]*?-->|<!DOCTYPE[^>[]*>)\s*)*<(?:\w+:)?svg[\s>]/i.test(text.replace(/^\ufeff/, ''))) {
    throw new PictureError('the file is no PNG, JPEG or SVG; a page of a PDF is made a picture by the page Set-up');
  }
  if (/<(?:\w+:)?script|<!ENTITY/i.test(text)) throw new PictureError('the SVG has a script or entities in it: save it as a plain SVG or as PNG');
  return 'svg';
}

/** @param {number} bytes */
const mib = (bytes) => Math.ceil(bytes / 1024 / 102.4) / 10;

/** Size from the first chunk: PNG specification, 5.2 and 11.2.1. @param {Buffer} bytes */
function sizeOfPng(bytes) {
  if (bytes.length < 24 || bytes.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') return null;
  return { kind: /** @type {const} */ ('png'), width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Size from a frame header: ITU T.81, B.2.2; the markers C4, C8 and CC are none. @param {Buffer} bytes */
function sizeOfJpeg(bytes) {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null;
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1] ?? 0;
    if (marker < 0xc0 || marker > 0xcf || [0xc4, 0xc8, 0xcc].includes(marker)) continue;
    return { kind: /** @type {const} */ ('jpg'), width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
  }
  return { kind: /** @type {const} */ ('jpg'), width: 0, height: 0 };
}

/**
 * @param {object} options
 * @param {string} options.folder of the building file
 * @param {() => Promise<Set<string>>} options.referenced names in the building and its versions
 * @param {() => number} options.clock
 * @param {Partial<typeof BOUNDS>} [options.bounds]
 */
function createPictures({ folder, referenced, clock, bounds: overrides = {} }) {
  const bounds = { ...BOUNDS, ...overrides };
  let queue = Promise.resolve();

  /** @param {Buffer} bytes @returns {Promise<string>} name for a level's `plan` @throws {PictureError} */
  async function put(bytes) {
    const name = `plan-${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}.${typeOf(bytes)}`;
    const file = path.join(folder, name);
    if (await fs.stat(file).then(({ size }) => size === bytes.length, () => false)) {
      await fs.utimes(file, new Date(clock()), new Date(clock())); // its time as part of a draft starts again
      return name;
    }
    await makeRoom(bytes.length);
    await replaceFile(file, bytes);
    return name;
  }

  /** Removes old pictures until a new one fits. @param {number} bytes of the new one @throws {PictureError} */
  async function makeRoom(bytes) {
    const names = (await fs.readdir(folder)).filter((name) => NAME.test(name));
    const all = await Promise.all(names.map(async (name) => ({ name, stat: await fs.stat(path.join(folder, name)) })));
    let total = all.reduce((sum, { stat }) => sum + stat.size, bytes);
    let count = all.length + 1;
    const fits = () => count <= bounds.all && total <= bounds.allBytes;
    if (fits()) return;
    const needed = await referenced();
    for (const { name, stat } of all.sort((a, b) => a.stat.mtimeMs - b.stat.mtimeMs)) {
      if (fits() || needed.has(name) || clock() - stat.mtimeMs < DRAFT_MS) continue;
      await fs.rm(path.join(folder, name), { force: true });
      total -= stat.size;
      count -= 1;
    }
    if (!fits()) {
      throw new PictureError(`there are ${count - 1} plan pictures of ${mib(total - bytes)} MiB, and all of them are of this building or its versions: `
        + 'save pictures smaller');
    }
  }

  return {
    /** Stores pictures one after the other. @param {Buffer} bytes @returns {Promise<string>} */
    put: (bytes) => {
      const result = queue.then(() => put(bytes));
      queue = result.then(() => {}, () => {});
      return result;
    },
  };
}

module.exports = { createPictures, PictureError, NAME, BOUNDS };
