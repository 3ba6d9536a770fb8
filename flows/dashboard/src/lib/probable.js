import { isProbable } from '../../../lib/shared/probable.js';

export { isProbable };

/**
 * How sure a room is, for a tooltip: "63 % sure, else Hall".
 * @param {{probability?: number|null, runner_up?: string|null}} one @param {(room: string) => string} nameOf
 * @returns {string} empty: sure enough, or not known
 */
export function sureText({ probability, runner_up: other }, nameOf) {
  if (!isProbable(probability)) return '';
  return `${Math.round(Number(probability) * 100)} % sure${other ? `, else ${nameOf(other)}` : ''}`;
}
