'use strict';

/**
 * Measures the longest task of the event loop, ms of the processor, since a busy machine would add its own time. `sample` is called
 * at each turn of the loop.
 */
function createLongTaskProbe() {
  const cpuMs = () => { const { user, system } = process.threadCpuUsage(); return (user + system) / 1000; };
  let [longest, last] = [0, cpuMs()];
  return {
    sample() {
      const now = cpuMs();
      [longest, last] = [Math.max(longest, now - last), now];
    },
    /** What ran since the last sample was the measurement itself: it does not count. */
    ignoreOwnWork: () => { last = cpuMs(); },
    reset: () => { longest = 0; },
    longestMs: () => longest,
  };
}

/**
 * The longest task of the event loop while `work` runs, ms of the processor.
 * @param {() => Promise<unknown>} work
 */
async function longestTaskMs(work) {
  const probe = createLongTaskProbe();
  let isRunning = true;
  const sample = () => {
    probe.sample();
    if (isRunning) setImmediate(sample);
  };
  setImmediate(sample);
  await work().finally(() => { isRunning = false; });
  return probe.longestMs();
}

module.exports = { createLongTaskProbe, longestTaskMs };
