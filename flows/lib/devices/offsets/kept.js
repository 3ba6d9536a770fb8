// @ts-check
'use strict';

const path = require('node:path');
const { createReceiverOffsets } = require('../receiver-offsets');
const { createLearnedOffsets } = require('.');

/**
 * All that is kept of devices' signals: what is shown of late, and the learned offsets in use.
 * @param {{folder: string, site: import('../../site').Site, clock: () => number, warn: (text: string) => void,
 *   log: (text: string) => void}} deps folder: of the flows' data
 */
function keepOffsets({ folder, site, clock, warn, log }) {
  const shown = createReceiverOffsets(path.join(folder, 'receivers.json'), site, warn);
  const learned = createLearnedOffsets({ folder, site, clock, warn, log });
  shown.restore();
  learned.restore();
  return {
    /** To be called once a minute. */
    save: () => Promise.all([shown.save(), learned.update()]),
    /** At the end. */
    settle: () => Promise.all([shown.save(), learned.settle()]),
  };
}

module.exports = { keepOffsets };
