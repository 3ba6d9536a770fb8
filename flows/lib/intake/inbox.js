// @ts-check
'use strict';

/**
 * Messages that came in, taken in pieces of a few milliseconds: whoever asks over HTTP gets a turn between two of them,
 * also while the messages of a second come at once. Order is kept. When many wait they are taken without a break, so that
 * this process reads no faster than it checks: the broker can queue them better. What is checked waits in `newest-first.js`.
 */

/** What a request waits for at most is this and a piece of locating (`newest-first.js`), beside the one message that is being taken. */
const PIECE_MS = 1;
const MAX_WAITING = 1000; // a tenth of a second's work

/**
 * @template T
 * @param {(item: T) => void} take
 * @param {object} [deps]
 * @param {() => void} [deps.after] called after each piece, also after one that failed
 * @param {(work: () => void) => void} [deps.later] in the next turn of the event loop
 * @param {() => number} [deps.clockMs] only goes on
 */
function createInbox(take, { after = () => {}, later = setImmediate, clockMs = () => performance.now() } = {}) {
  /** @type {T[]} */
  let waiting = [];
  let next = 0;
  let due = false;
  const size = () => waiting.length - next;

  /** @param {() => boolean} enough asked after each */
  function takeUntil(enough) {
    try {
      while (size() > 0) {
        const item = /** @type {T} */ (waiting[next]);
        next += 1; // first: one that fails is not tried again
        take(item);
        if (enough()) return;
      }
    } finally {
      if (size() === 0 || next >= MAX_WAITING) {
        waiting = waiting.slice(next);
        next = 0;
      }
      after();
    }
  }

  function work() {
    const endMs = clockMs() + PIECE_MS;
    try {
      takeUntil(() => clockMs() >= endMs && size() < MAX_WAITING);
    } finally {
      due = size() > 0;
      if (due) later(work);
    }
  }

  return {
    /** @param {T} item */
    put(item) {
      waiting.push(item);
      if (!due) later(work);
      due = true;
    },
    /** Take all that waits, now. */
    drain: () => takeUntil(() => false),
    size,
  };
}

/** @param {Set<{size: () => number}>} inboxes @returns {import('../health/figures').Figure} */
const inboxFigure = (inboxes) => ({
  name: 'inbox_waiting', kind: 'gauge', help: 'Messages of readings that have come and wait to be checked',
  read: () => [...inboxes].reduce((sum, { size }) => sum + size(), 0),
});

module.exports = { createInbox, inboxFigure, PIECE_MS, MAX_WAITING };
