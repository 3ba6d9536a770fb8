// @ts-check
'use strict';

const { parentPort } = require('node:worker_threads');
const { inOneGo } = require('../shared/pieces');
const { checkBuilding } = require('./checks');
const { ImportError, decode, readRows } = require('./import/rows');
const { PictureError, pictureName } = require('./picture-type');
const { UnreadableText, buildingText, parseText } = require('./source');

// Thread that inspects files from outside, one after the other.

/** Rows of a list of the largest size; more are only line ends. */
const LINES_MAX = 20_000;

/** @param {{content: string|Uint8Array}} job @returns {import('./inspection').InspectedBuilding} */
function building({ content }) {
  try {
    const text = typeof content === 'string' ? content : buildingText(content);
    const faults = inOneGo(checkBuilding(parseText(text)));
    return { text: faults.length > 0 ? null : text, faults };
  } catch (error) {
    if (error instanceof UnreadableText) return { text: null, faults: [`/ ${error.message}`] };
    throw error;
  }
}

/** @param {{bytes: Uint8Array}} job @returns {import('./inspection').InspectedList} */
const list = ({ bytes }) => inOneGo(readRows(decode(bytes), { linesMax: LINES_MAX }));

/** @param {{bytes: Uint8Array}} job @returns {import('./inspection').InspectedPicture} */
const picture = ({ bytes }) => ({ name: pictureName(bytes) });

/** @type {Record<string, (job: any) => object>} */
const JOBS = { building, list, picture };

parentPort?.on('message', ({ what, ...job }) => {
  try {
    parentPort?.postMessage({ result: JOBS[what]?.(job) });
  } catch (error) {
    const isExpected = error instanceof ImportError || error instanceof PictureError;
    parentPort?.postMessage(isExpected ? { refusal: error.message } : { fault: error });
  }
});

module.exports = {  };
