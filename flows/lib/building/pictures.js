// @ts-check
'use strict';

const fs = require('node:fs/promises');
const path = require('node:path');
const { createQueue } = require('../shared/deadline');
const { replaceFile } = require('../shared/whole-file');
const { inspectPicture } = require('./inspection');
const { BOUNDS: BOUNDS_OF_ONE, PictureError } = require('./picture-type');

/**
 * Uploaded plan pictures. They are beside the building file and named by their content, so that an earlier version of the building
 * keeps its picture. Pictures that no version refers to are removed when there are too many.
 */

/** bytes, side (pixels): of a picture; all, allBytes: of all pictures. */
const BOUNDS = Object.freeze({ ...BOUNDS_OF_ONE, all: 100, allBytes: 256 * 1024 * 1024 });
/** The inspection in its thread has limits of its own; the disk takes the rest. */
const WITHIN_MS = 90_000;
/** A younger picture may belong to a draft that is not saved yet. */
const DRAFT_MS = 24 * 60 * 60 * 1000;
/** @param {number} bytes */
const mib = (bytes) => Math.ceil(bytes / 1024 / 102.4) / 10;
const NAME = /^plan-[0-9a-f]{16}\.(png|jpg|svg)$/;

/**
 * @param {object} options
 * @param {string} options.folder of the building file
 * @param {() => Promise<Set<string>>} options.referenced names in the building and its versions
 * @param {() => number} options.clock
 * @param {Partial<typeof BOUNDS>} [options.bounds]
 */
function createPictures({ folder, referenced, clock, bounds: overrides = {} }) {
  const bounds = { ...BOUNDS, ...overrides };
  const inTurn = createQueue(WITHIN_MS, 'storing a picture, with those that wait before it,');

  /** @param {Buffer} bytes @returns {Promise<string>} name for a level's `plan` @throws {PictureError} */
  async function put(bytes) {
    const { result, refusal } = await inspectPicture(bytes);
    if (refusal !== undefined) throw new PictureError(refusal);
    const { name } = result;
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
    put: (bytes) => inTurn(() => put(bytes)),
  };
}

module.exports = { createPictures, PictureError, NAME, BOUNDS };
