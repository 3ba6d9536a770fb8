// @ts-check
'use strict';

const fs = require('node:fs');
const { replaceFile } = require('../shared/whole-file');

/**
 * Learned signal offsets of gateways and beacons, persisted in a file beside the flows' other state.
 * @typedef {import('../locator').Receiver} Receiver
 * @param {string} file
 * @param {Pick<import('../site').Site, 'receivers'|'restoreReceivers'>} site
 * @param {(text: string) => void} warn
 */
function createReceiverOffsets(file, site, warn) {
  let written = '';
  let hasWarned = false;
  let saving = Promise.resolve();

  /** Writes the file if something changed. */
  async function write() {
    const text = `${JSON.stringify({ v: 1, receivers: site.receivers().map(rounded) })}\n`;
    if (text === written) return;
    try {
      await replaceFile(file, text);
      written = text;
      hasWarned = false;
    } catch (error) {
      if (!hasWarned) warn(`${file}: learned signal offsets will not survive a restart: ${error}`);
      hasWarned = true;
    }
  }

  return {
    /** Reads the file; called at the start. */
    restore() {
      try {
        written = fs.readFileSync(file, 'utf8');
        const { receivers } = JSON.parse(written);
        if (!Array.isArray(receivers)) throw new Error('it has no list of receivers');
        site.restoreReceivers(receivers.filter(isReceiver));
      } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return;
        warn(`${file}: signal offsets are learned again: ${error}`);
      }
    },
    /** Called once a minute and at the end. */
    save: () => { saving = saving.then(write); return saving; },
  };
}

/** @param {any} one @returns {one is Receiver} */
const isReceiver = (one) => (one?.kind === 'gateway' || one?.kind === 'beacon') && typeof one.id === 'string' && typeof one.place === 'string'
  && Number.isFinite(one.offset_db) && Number.isInteger(one.readings) && one.readings > 0;

/** @param {Receiver} one @returns {Receiver} */
const rounded = (one) => ({ ...one, offset_db: Math.round(one.offset_db * 100) / 100 });

module.exports = { createReceiverOffsets };
