// @ts-check
'use strict';

const { CATCH_UP_WITHIN_MS, FINAL_AFTER_MS, REBUILD_PADDING_MS } = require('../coverage');
const { checkpointOf, fromCheckpoint } = require('./beginning');
const { catchUp } = require('./catch-up');
const { createIncoming } = require('./incoming');
const { PRESENT_MS, rebuildRange } = require('./range');

/**
 * A time of which readings came when it was over. Who heard everything before goes on from a checkpoint up to the present, and so does the
 * locator of the present afterwards; without one the time itself and what is aside of it is located once more.
 * @param {import('./recover').Deps} deps
 * @param {import('./due').Task} task
 */
async function relocate(deps, { part: { fromMs, toMs, staff }, isRepeat }) {
  const { site, coverage, clock } = deps;
  const wholeMs = (/** @type {number} */ ms) => Math.floor(ms / 1000) * 1000; // a location may carry the beginning of its second
  const beforeMs = wholeMs(fromMs - FINAL_AFTER_MS);
  const checkpoint = fromMs > clock() - CATCH_UP_WITHIN_MS ? await checkpointOf(deps, beforeMs, staff) : null;
  const beginning = checkpoint && await fromCheckpoint(deps, checkpoint, staff);
  if (!beginning) {
    const paddingMs = isRepeat ? 0 : REBUILD_PADDING_MS;
    await rebuildRange(deps, wholeMs(fromMs - paddingMs), Math.min(toMs + paddingMs, clock()), staff);
    // The locator of the present went on without it, and may differ for a while from one that heard it in time.
    const paddedMs = toMs + REBUILD_PADDING_MS;
    if (!isRepeat && paddedMs > clock() - PRESENT_MS) coverage.repeats.add({ fromMs, toMs: paddedMs, staff });
    return;
  }
  const incoming = createIncoming(() => {}, clock());
  site.bus.on('batch', incoming.hear);
  try {
    await catchUp(deps, incoming, { fromMs: beforeMs, staff, beginning });
  } finally {
    site.bus.off('batch', incoming.hear);
  }
}

module.exports = { relocate };
