// @ts-check
'use strict';

// Worker thread of a calibration: takes a walk, returns the result after some seconds.
const { parentPort, workerData } = require('node:worker_threads');
const { calibrate } = require('./index');

parentPort?.postMessage(calibrate(workerData));
