// @ts-check
'use strict';

/** A room below this probability is said to be *probably* theirs. */
const PROBABLE_BELOW = 0.7;

/** From this probability on no runner-up is worth a word. */
const SURE_FROM = 0.9;

/** @param {number|null|undefined} probability */
const isSure = (probability) => typeof probability === 'number' && probability >= SURE_FROM;

/** @param {number|null|undefined} probability null: not known, of what an earlier version located */
const isProbable = (probability) => typeof probability === 'number' && probability < PROBABLE_BELOW;

/** Two decimals, as locations have them. @param {number} share @returns {number} */
const rounded = (share) => Math.round(share * 100) / 100;

/**
 * How sure a room is, as answers and messages for others have it.
 * @param {{probability: number|null, runner_up: string|null}} located
 */
const howSure = ({ probability, runner_up: runnerUp }) => ({ probability, probably: isProbable(probability), runner_up: runnerUp });

module.exports = { PROBABLE_BELOW, howSure, isProbable, isSure, rounded };
