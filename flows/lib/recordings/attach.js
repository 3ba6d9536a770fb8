// @ts-check
'use strict';

const path = require('node:path');
const { createRecordings } = require('./index');

const TICK_MS = 1000; // a kill loses at most this much of a recording

/**
 * Attaches recordings to a site: they get its batches, and the audit log gets recordings that end by themselves.
 * @param {import('../site').Site} site
 * @param {{userDir: string}} config
 * @param {Pick<import('../access/audit').Audit, 'adminAction'>} audit
 * @param {(text: string) => void} warn
 */
function attachRecordings(site, { userDir }, audit, warn) {
  const recordings = createRecordings({ folder: path.join(userDir, 'recordings'), clock: Date.now, warn,
    onEnded: (kind, { name, id, staff_id: staff }, why) => audit.adminAction(kind, null, `${name} (${id}): staff ${staff}, ${why}`) });
  site.listen(recordings.addBatch);
  const timer = setInterval(() => recordings.tick(Date.now()), TICK_MS);
  return {
    ...recordings,
    /** @returns {Promise<unknown>} when all rows are written */
    close() {
      clearInterval(timer);
      site.listen(() => {});
      return recordings.close();
    },
  };
}

module.exports = { attachRecordings };
