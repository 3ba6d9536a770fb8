// @ts-check
'use strict';

/**
 * Time limits for work that may never end: a file on a mount that hangs, a thread that computes for ever. Work cannot be cancelled;
 * who waits for it can be told.
 */

/** Work took longer than its limit; it may still go on. */
class TookTooLong extends Error {
  /** @param {string} what @param {number} ms */
  constructor(what, ms) {
    super(`${what} takes longer than ${ms / 1000} s`);
    this.name = 'TookTooLong';
  }
}

/**
 * The result of work, or an error when it takes longer than its limit.
 * @template T
 * @param {Promise<T>} work it goes on after the limit; its late error is nobody's
 * @param {number} ms @param {string} what for the message: `reading /x`
 * @returns {Promise<T>}
 * @throws {TookTooLong} and whatever the work throws
 */
function within(work, ms, what) {
  /** @type {NodeJS.Timeout|undefined} */
  let timer;
  const late = new Promise((_resolve, reject) => { timer = setTimeout(() => reject(new TookTooLong(what, ms)), ms); });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/**
 * Work of which one run at most is under way. Who calls meanwhile gets the result of that run, and waits `ms` at most: a run that hangs
 * is not started a second time, and keeps nobody.
 * @template T
 * @param {() => Promise<T>} work @param {number} ms @param {string} what for the message
 * @returns {() => Promise<T>} which throws TookTooLong, or what the work throws
 */
function oneAtATime(work, ms, what) {
  /** @type {Promise<T>|null} */
  let running = null;
  return () => {
    if (!running) {
      const run = Promise.resolve().then(work).finally(() => { running = null; });
      run.catch(() => {}); // who waits for it gets the error
      running = run;
    }
    return within(running, ms, what);
  };
}

/**
 * Work one after the other, whether the one before failed or not. A caller waits `ms` at most; what takes longer goes on, and what
 * follows it waits for its end, so that two never run at once.
 * @param {number} ms @param {string} what for the message
 */
function createQueue(ms, what) {
  /** @type {Promise<unknown>} */
  let queue = Promise.resolve();
  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  return function add(work) {
    let isAwaited = true;
    const result = queue.then(() => {
      if (!isAwaited) throw new TookTooLong(what, ms); // told already; what nobody waits for is not begun
      return work();
    });
    queue = result.catch(() => {});
    return within(result, ms, what).finally(() => { isAwaited = false; });
  };
}

module.exports = { TookTooLong, within, oneAtATime, createQueue };
