'use strict';

const fs = require('node:fs');
const { createLongTaskProbe } = require('./long-task');

/**
 * Preloaded into a process: writes the longest task of its event loop, ms, to LONG_TASK_FILE. Removing the file starts a new
 * measurement.
 */
const file = process.env.LONG_TASK_FILE;
const probe = createLongTaskProbe();
let written = -1;

setInterval(probe.sample, 1).unref();
setInterval(() => {
  if (!fs.existsSync(file)) {
    probe.reset();
    written = -1;
  }
  if (probe.longestMs() > written) fs.writeFileSync(file, String(written = probe.longestMs()));
  probe.ignoreOwnWork();
}, 50).unref();
