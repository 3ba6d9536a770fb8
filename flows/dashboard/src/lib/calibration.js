/**
 * Texts for the calibration of a walk.
 * @typedef {{kind: 'gateway'|'beacon'|'staff', id: string, field: 'rssi_offset'|'tx'|'tag_tx', from: number|null, was: number, to: number,
 *   readings: number, visits: number}} Proposal
 * @typedef {{room: string, seconds: number, before: number, after: number}} RoomScore
 * @typedef {{verdict: 'better'|'no_gain'|'too_little', reason: string, visits: number, seconds: number, before: number, left_out: number,
 *   same_walk: number, with_plan: number|null, rooms: RoomScore[], proposals: Proposal[], is_as_walked: boolean}} Calibration answer
 *   of `/api/v1`
 */

const FIELDS = { rssi_offset: ['offset', 'dB'], tx: ['power at 1 m', 'dBm'], tag_tx: ['power of the tag at 1 m', 'dBm'] };
const THINGS = { gateway: 'Gateway', beacon: 'Beacon', staff: 'Walker' };

/** A percentage, "84 %"; "–" without a whole. @param {number} part @param {number} whole */
export const percent = (part, whole) => (whole === 0 ? '–' : `${Math.round(100 * part / whole)} %`);

/** "−7 dB", with a real minus sign. @param {number} number @param {string} unit */
const signed = (number, unit) => `${String(number).replace('-', '−')} ${unit}`;

/**
 * @param {Proposal} proposal
 * @returns {{title: string, change: string, why: string}} "Gateway gw-1", "offset 0 → −7 dB", "7 visits"
 */
export function proposalText({ kind, id, field, was, to, visits }) {
  const [name, unit] = FIELDS[field];
  return { title: `${THINGS[kind]} ${id}`, change: `${name} ${String(was).replace('-', '−')} → ${signed(to, unit)}`, why: `${visits} visits` };
}

/** Rooms that would change, the greatest gain first. @param {readonly RoomScore[]} rooms @returns {RoomScore[]} */
export const changedRooms = (rooms) => rooms.filter(({ before, after }) => before !== after)
  .toSorted((a, b) => (b.after - b.before) - (a.after - a.before));

/** Why the proposals cannot be applied; '': they can. @param {Calibration} calibration */
export function obstacle({ verdict, is_as_walked: fits }) {
  if (verdict !== 'better') return '';
  return fits ? '' : 'The building was changed since this walk: walk again.';
}

/**
 * What the measured plan is worth on this walk, percentage points: "+1.8".
 * @param {Calibration} calibration @returns {string} empty: no position is measured, or too little was walked
 */
export function planWorth({ before, with_plan: withPlan, seconds, verdict }) {
  if (withPlan === null || withPlan === undefined || seconds === 0 || verdict === 'too_little') return '';
  const points = Math.round((1000 * (withPlan - before)) / seconds) / 10;
  return points === 0 ? '0' : `${points > 0 ? '+' : '−'}${Math.abs(points).toFixed(1)}`;
}
