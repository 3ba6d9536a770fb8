// @ts-check
'use strict';

/** A 3 V lithium cell is nearly empty below 2.4 V; beacons stop between 2.2 and 1.8 V. */
const LOW_MV = 2400;

module.exports = { LOW_MV };
