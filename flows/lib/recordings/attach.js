// @ts-check
'use strict';

const path = require('node:path');
const { createRecordings } = require('./index');

const TICK_MS = 1000; // a kill costs a recording what came since

/**
 * The recordings of a site: they hear what it hears, and what ends by itself is in the audit log.
 * @param {import('../site').Site} site
 * @param {{userDir: string}} config
 * @param {Pick<import('../access/audit').Audit, 'deed'>} audit
 * @param {(text: string) => void} warn
 */
function attachRecordings(site, { userDir }, audit, warn) {
  const recordings = createRecordings({ folder: path.join(userDir, 'recordings'), clock: Date.now, warn,
    ended: (kind, { name, id, staff_id: staff }, why) => audit.deed(kind, null, `${name} (${id}): staff ${staff}, ${why}`) });
  site.listen(recordings.hear);
  const timer = setInterval(() => recordings.tick(Date.now()), TICK_MS);
  return {
    ...recordings,
    /** @returns {Promise<unknown>} when all that came is on the disk */
    close() {
      clearInterval(timer);
      site.listen(() => {});
      return recordings.close();
    },
  };
}

module.exports = { attachRecordings };
