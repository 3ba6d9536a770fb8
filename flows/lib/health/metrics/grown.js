// @ts-check
'use strict';

/** By how much a counter has grown that begins at 0 with each start of whoever counts. @param {number} before @param {number} now */
const grown = (before, now) => (now >= before ? now - before : now);

module.exports = { grown };
