// @ts-check
'use strict';

/** Increase of a counter between two values; a counter starts at 0 again with its process. @param {number} before @param {number} now */
const counterIncrease = (before, now) => (now >= before ? now - before : now);

module.exports = { counterIncrease };
