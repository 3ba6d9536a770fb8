'use strict';

const fs = require('node:fs');

/**
 * Loaded into a process before its program: how long its event loop was busy without a break at most, ms of the processor (a busy
 * machine would add its own). Stands in LONGEST_TURN_FILE; when that is taken away it is measured anew.
 */
const file = process.env.LONGEST_TURN_FILE;
const cpuMs = () => { const { user, system } = process.threadCpuUsage(); return (user + system) / 1000; };
let [longest, written] = [0, -1];
let last = cpuMs();

setInterval(() => {
  longest = Math.max(longest, cpuMs() - last);
  last = cpuMs();
}, 1).unref();
setInterval(() => {
  if (!fs.existsSync(file)) [longest, written] = [0, -1];
  if (longest > written) fs.writeFileSync(file, String(written = longest));
  last = cpuMs();
}, 50).unref();
