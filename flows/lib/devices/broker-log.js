// @ts-check
'use strict';

/**
 * Lines of the broker's log about connections, which it publishes under `$SYS/broker/log/N`: what it tells nobody else. Pure.
 * @typedef {{address: string, port: number}} Endpoint
 * @typedef {{id: string, endpoint: Endpoint, user: string}} Connected id: the client id, which is the account's name for receivers
 * @typedef {{id: string, endpoint: Endpoint, reason: string}} Ended reason: `session taken over` and others; empty: without one
 */

const LOG_TOPIC = '$SYS/broker/log/N';
const LINE = 1000;
const ID = '[A-Za-z0-9][A-Za-z0-9_./-]{0,127}';
/** As `log_timestamp_format` of mosquitto.conf has it. */
const TIME = '(?:[0-9-]{10}T[0-9:]{8}: )?';
const ENDED = new RegExp(`^${TIME}Client (${ID}) \\[(\\S+):(\\d+)\\] disconnected(?:: ([^.]*))?\\.$`);
const CONNECTED = new RegExp(`^${TIME}New client connected from (\\S+):(\\d+) as (${ID}) \\(p\\d+, c\\d+, k\\d+, u'([^']*)'\\)\\.$`);

/** @param {string} line @returns {{connected?: Connected, ended?: Ended}} neither: another line, or a name that is none of ours */
function readLine(line) {
  if (line.length > LINE) return {};
  const [, gone, from = '', fromPort, reason = ''] = ENDED.exec(line) ?? [];
  if (gone !== undefined) return { ended: { id: gone, endpoint: { address: from, port: Number(fromPort) }, reason } };
  const [, address = '', port, id, user = ''] = CONNECTED.exec(line) ?? [];
  return id === undefined ? {} : { connected: { id, endpoint: { address, port: Number(port) }, user } };
}

module.exports = { LOG_TOPIC, readLine };
