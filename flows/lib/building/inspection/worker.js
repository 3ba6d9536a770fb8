// @ts-check
'use strict';

// Thread that inspects files from outside, one after the other.
const { parentPort } = require('node:worker_threads');
const { inOneGo } = require('../../shared/pieces');
const { checkBuilding } = require('../checks');
const { pictureName, PictureError } = require('../editing/picture-type');
const { decode, readRows, ImportError } = require('../import/rows');
const { buildingText, parseText, UnreadableText } = require('../source');

/** Rows of a list of the largest size; more are only line ends. */
const LINES_MAX = 20_000;

/** @param {{content: string|Uint8Array}} job @returns {import('./index').InspectedBuilding} */
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

/** @param {{bytes: Uint8Array}} job @returns {import('./index').InspectedList} */
const list = ({ bytes }) => inOneGo(readRows(decode(bytes), { linesMax: LINES_MAX }));

/** @param {{bytes: Uint8Array}} job @returns {import('./index').InspectedPicture} */
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
