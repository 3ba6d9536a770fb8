// @ts-check
'use strict';

const { connect } = require('mqtt');

/**
 * Let the broker forget what it keeps for the flows: a client of the same name begins its session anew. The flows' own client connects
 * again and subscribes again, within about a second.
 * @param {{brokerurl: string, options: import('mqtt').IClientOptions}} broker config node of Node-RED
 */
function forgetQueue({ brokerurl, options }) {
  const other = connect(brokerurl, { ...options, clean: true, reconnectPeriod: 0 });
  const end = () => { other.end(true); };
  other.on('connect', end).on('error', end);
}

module.exports = { forgetQueue };
