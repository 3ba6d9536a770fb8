// @ts-check
'use strict';

const { Grouping } = require('../live/batches');
const { inPieces } = require('../shared/pieces');

/**
 * Stored readings into a replay, slice by slice: a slice is one question to the database, small enough to ask again.
 */

const FIRST_SLICE_MS = 60_000;
const SHORTEST_SLICE_MS = 5000;
const LONGEST_SLICE_MS = 30 * 60_000;
const SLICE_MS = 2000; // a start that is killed soon goes on after the last slice
const SLICE_ROWS = 200_000; // so that what a question costs by itself (100 ms for 10,000 series) is a small part

/**
 * @param {import('../store').Store} store
 * @param {import('./background').Background} background
 * @param {() => number} clock
 * @param {(rows: number, ms: number) => void} onRows how many, up to which time
 */
function createFeed(store, background, clock, onRows) {
  let lengthMs = FIRST_SLICE_MS;

  /**
   * @param {ReturnType<typeof import('./replay').createReplay>} replay
   * @param {number} fromMs inclusive
   * @param {number} toMs exclusive
   * @param {object} callbacks
   * @param {() => Promise<void>} callbacks.publishSome what was found; is called often
   * @param {(endMs: number) => void} [callbacks.onSliceStart] what is read next ends there
   * @param {(endMs: number) => Promise<void>} [callbacks.onSliceDone] everything before was heard
   * @param {import('../store').Only|null} [only] of these receivers; null: of all
   */
  async function replayRange(replay, fromMs, toMs, { publishSome, onSliceStart = () => {}, onSliceDone = async () => {} }, only = null) {
    let cursorMs = fromMs;
    while (cursorMs < toMs) {
      const endMs = Math.min(cursorMs + lengthMs, toMs);
      onSliceStart(endMs);
      const askedMs = clock();
      const rows = await slice(replay, cursorMs, endMs, publishSome, only);
      const tookMs = clock() - askedMs;
      cursorMs = endMs;
      if (rows > SLICE_ROWS || tookMs > SLICE_MS) lengthMs = Math.max(Math.floor(lengthMs / 2), SHORTEST_SLICE_MS);
      else if (rows < SLICE_ROWS / 4 && tookMs < SLICE_MS / 2) lengthMs = Math.min(lengthMs * 2, LONGEST_SLICE_MS);
      if (rows === 0 && endMs < toMs) {
        onSliceStart(toMs);
        cursorMs = (await background.retry(() => store.firstReading(endMs, toMs, only))) ?? toMs;
      }
      await inPieces(replay.passing(cursorMs));
      await publishSome();
      await onSliceDone(cursorMs);
    }
  }

  /**
   * @param {ReturnType<typeof import('./replay').createReplay>} replay @param {number} fromMs @param {number} toMs
   * @param {() => Promise<void>} publishSome @param {import('../store').Only|null} only
   * @returns {Promise<number>} rows
   */
  async function slice(replay, fromMs, toMs, publishSome, only) {
    let resumeMs = fromMs;
    let count = 0;
    await background.retry(async () => {
      const grouping = new Grouping();
      /** @param {import('../live/readings').Batch[]} batches */
      const hear = async (batches) => {
        background.begin();
        for (const batch of batches) {
          if (replay.changesBy(batch.ts)) await inPieces(replay.passing(batch.ts));
          replay.hear(batch);
          resumeMs = batch.ts + 1; // an answer that breaks off is asked for from here on
          await background.yieldIfDue();
        }
        await background.yieldIfDue(1);
      };
      await store.readings(resumeMs, toMs, async (rows) => {
        count += rows.length;
        await hear(grouping.push(rows));
        onRows(rows.length, resumeMs);
        await publishSome();
      }, only);
      await hear(grouping.finish());
    });
    return count;
  }

  return { replayRange };
}

module.exports = { createFeed };
