/**
 * When somebody was in each room last: what is stored, and what was seen since on the live plan.
 */

/** A room that nobody entered for longer counts as not known. */
export const LOOK_BACK_MS = 24 * 3_600_000;

/**
 * @param {{room: string, last_ms: number|null}[]} stored as `/api/v1/patrols` tells it
 * @param {Map<string, number>} seen epoch ms by room id
 * @returns {Map<string, number>} the later of both
 */
export function lastPatrols(stored, seen) {
  const known = new Map(seen);
  for (const { room, last_ms: lastMs } of stored) {
    if (lastMs !== null && lastMs > (known.get(room) ?? 0)) known.set(room, lastMs);
  }
  return known;
}

/**
 * Remember who is where now.
 * @param {Map<string, number>} seen is changed
 * @param {{room: string, ts: number}[]} people of a snapshot
 */
export function see(seen, people) {
  for (const { room, ts } of people) if (ts > (seen.get(room) ?? 0)) seen.set(room, ts);
}
