/**
 * The last visit of each room: from the database, and from live snapshots since.
 */

/** An older visit counts as not known. */
export const LOOK_BACK_MS = 24 * 3_600_000;

/**
 * @param {{room: string, last_ms: number|null}[]} stored answer of `/api/v1/patrols`
 * @param {Map<string, number>} seen epoch ms by room id, from snapshots
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
 * Adds the people of a snapshot.
 * @param {Map<string, number>} seen is updated
 * @param {{room: string, ts: number}[]} people of a snapshot
 */
export function addSeen(seen, people) {
  for (const { room, ts } of people) if (ts > (seen.get(room) ?? 0)) seen.set(room, ts);
}
