// @ts-check
'use strict';

// A walk in, what it teaches out: some seconds of work, which the live view does not wait for.
const { parentPort, workerData } = require('node:worker_threads');
const { calibrate } = require('./index');

parentPort?.postMessage(calibrate(workerData));
