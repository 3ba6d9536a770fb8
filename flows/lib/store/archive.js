// @ts-check
'use strict';

/**
 * What `/api/v1` asks the database: windows half-open, at most `count` rows, everything bound.
 * @typedef {ReturnType<typeof createArchive>} Archive
 * @typedef {Pick<import('./store-guard').Calm, 'query'|'pieces'>} Influx
 * @param {Influx} influx
 */
const createArchive = (influx) => ({
  ...require('./people').createPeople(influx),
  ...require('./stays').createStays(influx),
  ...require('./devices').createDevices(influx),
  ...require('./telemetry').createMeasured(influx),
});

module.exports = { createArchive };
