'use strict';

const fc = require('fast-check');

/** fast-check with the same examples in each run, so that a red run speaks of the change; `SEED=7 npm test` looks at others. */
fc.configureGlobal({ seed: Number(process.env.SEED ?? 1) });

module.exports = fc;
