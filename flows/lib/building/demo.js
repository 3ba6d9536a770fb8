// @ts-check
'use strict';

const { digestOf } = require('./index');

/** Digest of the shipped building/demo.json; a test compares it with the file. native/demo.cksum is the same for the launcher. */
const DEMO_DIGEST = 'fdff6c7cdc0ee55cef6ea652fdc4ef8b63ffdff3585f76c08b7cfe102e1c93db';

/** Whether a building is the unchanged demo. @param {import('./index').BuildingFile} file */
const isDemo = (file) => digestOf(file) === DEMO_DIGEST;

module.exports = { isDemo };
