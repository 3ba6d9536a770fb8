// @ts-check
'use strict';

const { StoreUnavailable } = require('../store');

/**
 * Where people were, from memory and database together, newest first, piece by piece: what memory holds completely is never
 * asked for, and where both know a millisecond memory counts.
 * @typedef {import('./index').LocationList} LocationList
 * @typedef {import('../store').StaffLocations} StaffLocations
 * @typedef {{history: Pick<import('./index').History, 'completeFrom'|'locations'|'staffIds'>,
 *   store: Pick<import('../store').Store, 'locations'>, clock: () => number,
 *   refuseIncomplete?: import('../coverage').RefuseIncomplete}} Deps
 */

/** Nothing can lie further ahead: readings may be 5 minutes ahead of us. */
const AHEAD_MS = 10 * 60_000;
/** Memory moves on while a long answer is taken; what it gave up since then must be among what the database was asked for. */
const TAKEN_WITHIN_MS = 4 * 60_000;

/**
 * @param {Deps} deps
 * @param {string} staffId
 * @param {number} fromMs inclusive
 * @param {number} toMs inclusive
 * @returns {{recent: LocationList, older: AsyncGenerator<LocationList, void, void>|null}} older: where memory does not reach; it takes
 *   `recent` in
 */
function locationsOf({ history, store, clock, refuseIncomplete = () => {} }, staffId, fromMs, toMs) {
  const nowMs = clock();
  const olderToMs = Math.min(toMs, history.completeFrom(staffId, nowMs) - 1, nowMs + AHEAD_MS);
  const recent = history.locations(staffId, fromMs, toMs);
  return { recent, older: fromMs <= olderToMs ? older() : null };

  async function* older() {
    refuseIncomplete(fromMs, olderToMs + 1, [staffId], nowMs);
    const merge = createMerge(recent);
    for await (const piece of store.locations([staffId], fromMs, olderToMs, (olderToMs - fromMs) / 1000)) yield merge.with(piece);
    yield merge.rest();
  }
}

/**
 * One person after the other.
 * @param {Deps} deps
 * @param {string[]|null} staffIds null: everybody
 * @param {number} fromMs inclusive
 * @param {number} toMs inclusive
 * @returns {AsyncGenerator<StaffLocations, void, void>} pieces of the same person follow each other
 */
async function* locationsOfSeveral({ history, store, clock, refuseIncomplete = () => {} }, staffIds, fromMs, toMs) {
  const askedMs = clock();
  const known = [...new Set(staffIds ?? history.staffIds())].sort().reverse();
  const whole = (staffId = '') => ({ staffId, ...history.locations(staffId, fromMs, toMs) });
  const lacks = (/** @type {string} */ staffId) => history.completeFrom(staffId, askedMs) > fromMs;
  // nobody has an empty id: what memory says of it holds for everybody it does not know
  const asked = staffIds === null && lacks('') ? null : known.filter(lacks);
  const olderToMs = Math.min(toMs, askedMs + AHEAD_MS);
  let next = 0;
  if (asked === null || asked.length > 0) {
    const completeMs = (asked ?? ['', ...known]).reduce((ms, id) => Math.max(ms, history.completeFrom(id, askedMs)), 0);
    refuseIncomplete(fromMs, Math.min(olderToMs + 1, completeMs), asked, askedMs);
    let merge = createMerge({ ms: [], places: [] });
    let staffId = '';
    const records = ((asked ?? known).length * (olderToMs - fromMs)) / 1000;
    for await (const piece of store.locations(asked, fromMs, olderToMs, records)) {
      if (piece.staffId !== staffId) {
        yield { staffId, ...merge.rest() };
        for (; next < known.length && /** @type {string} */ (known[next]) > piece.staffId; next += 1) yield whole(known[next]);
        if (known[next] === piece.staffId) next += 1;
        if (clock() - askedMs > TAKEN_WITHIN_MS) throw new StoreUnavailable('the answer was taken too slowly');
        staffId = piece.staffId;
        merge = createMerge(history.locations(staffId, fromMs, toMs), history.completeFrom(staffId, clock()));
      }
      yield { staffId, ...merge.with(piece) };
    }
    yield { staffId, ...merge.rest() };
  }
  for (; next < known.length; next += 1) yield whole(known[next]);
}

/**
 * Takes one person's recent locations into the pieces of the older ones.
 * @param {LocationList} recent
 * @param {number} [completeFromMs] from here on the recent one has everything
 */
function createMerge(recent, completeFromMs = Infinity) {
  let at = 0;
  return {
    /** @param {LocationList} piece newest first, and so all that follow @returns {LocationList} */
    with(piece) {
      if (at === recent.ms.length && (piece.ms[0] ?? 0) < completeFromMs) return piece;
      /** @type {LocationList} */
      const merged = { ms: [], places: [] };
      const take = (/** @type {LocationList} */ from, /** @type {number} */ index) => {
        merged.ms.push(/** @type {number} */ (from.ms[index]));
        merged.places.push(/** @type {import('./index').Place} */ (from.places[index]));
      };
      for (let index = 0; index < piece.ms.length; index += 1) {
        const ms = /** @type {number} */ (piece.ms[index]);
        while (/** @type {number} */ (recent.ms[at]) > ms) take(recent, at++);
        if (recent.ms[at] !== ms && ms < completeFromMs) take(piece, index);
      }
      return merged;
    },
    /** @returns {LocationList} what no piece was old enough for */
    rest() {
      const rest = { ms: recent.ms.slice(at), places: recent.places.slice(at) };
      at = recent.ms.length;
      return rest;
    },
  };
}

module.exports = { AHEAD_MS, locationsOf, locationsOfSeveral };
