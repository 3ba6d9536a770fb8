// @ts-check
'use strict';

/** A bound time is text: as a number it would be nanoseconds, which are no safe integer. @param {number} ms */
const time = (ms) => new Date(ms).toISOString();

/** @param {number} fromMs @param {number} toMs exclusive */
const between = (fromMs, toMs) => ({ from: time(fromMs), to: time(toMs) });

/** The condition for what `between` binds. */
const BETWEEN = 'time >= $from AND time < $to';

/** InfluxQL takes no bound LIMIT. @param {number} count */
const atMost = (count) => (Number.isSafeInteger(count) && count < Number.MAX_SAFE_INTEGER ? ` LIMIT ${count}` : '');

module.exports = { time, between, BETWEEN, atMost };
