// @ts-check
'use strict';

const { connect } = require('mqtt');

/**
 * Let the broker forget what it keeps for the flows: a client of the same name begins its session anew. The flows' own client connects
 * again and subscribes again, within about a second.
 * @param {{brokerurl: string, options: import('mqtt').IClientOptions & {onread?: object}}} broker config node of Node-RED
 */
function forgetQueue({ brokerurl, options }) {
  const own = { ...options, onread: undefined, clean: true, reconnectPeriod: 0 }; // `onread` hands over to the flows' own client
  const other = connect(brokerurl, own);
  const end = () => { other.end(true); };
  other.on('connect', end).on('error', end);
}

module.exports = { forgetQueue };
