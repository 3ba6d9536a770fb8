// @ts-check
'use strict';

/** Nothing that is done again and again takes so long: what has not ended by then never will. */
const LIMIT_MS = 60_000;

/**
 * Work that a timer begins again and again, never twice at a time. An error ends that turn alone, and so does work that does not end.
 * @param {() => Promise<unknown>} work
 * @param {(error: unknown) => void} onError
 * @param {object} [deps]
 * @param {number} [deps.limitMs]
 * @param {() => number} [deps.clock]
 * @returns {() => Promise<void>} begins it, unless it is under way
 */
function inTurns(work, onError, { limitMs = LIMIT_MS, clock = Date.now } = {}) {
  /** @type {{begunMs: number}|null} */
  let turn = null;

  return async () => {
    if (turn !== null) {
      if (clock() - turn.begunMs < limitMs) return;
      onError(new Error(`this has not ended within ${limitMs / 1000} s, and is begun again`));
    }
    const own = { begunMs: clock() };
    turn = own;
    try {
      await work();
    } catch (error) {
      onError(error);
    } finally {
      if (turn === own) turn = null;
    }
  };
}

module.exports = { inTurns };
