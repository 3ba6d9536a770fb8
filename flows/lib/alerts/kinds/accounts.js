// @ts-check
'use strict';

const { placeName } = require('./names');

/** @typedef {import('./index').Kind} Kind */

/** @type {Kind} */
const accountShared = {
  kind: 'account_shared',
  severity: 'critical',
  raiseMs: 0,
  endMs: 0, // ten minutes without a takeover
  conditions: ({ building, takeovers }, active, nowMs) => takeovers.list(nowMs).flatMap((one) => {
    const { id, since, count, addresses, thrown_out: out, connected: now } = one;
    if (!one.shared && !active(id)) return [];
    const { room, level } = building.gateways.get(id) ?? {};
    const often = `${count} ${count === 1 ? 'time' : 'times'} within ten minutes`;
    const [first = '', second] = addresses;
    const text = second === undefined
      ? `Two devices at ${first} use the account ${id}, or its one device loses its connection: its session was taken over ${often}`
        + `${out.port ? `, the last time from port ${out.port} by port ${now.port}` : ''}.`
      : `Two devices use the account ${id} and throw each other out: ${[first, second, ...addresses.slice(2, 4)].join(' and ')}, ${often}.`;
    return [{ subject: id, since, level, room, text: room === undefined ? text : `${text} It is the gateway in ${placeName(building, room, level)}.`,
      todo: 'Give each device an account of its own (`make account`), and the password of this one to none but its own device: '
        + `\`make account ARGS='rotate ${id}'\` shuts all others out. Until then what both send counts as one device's, so people may be `
        + 'located in a wrong room.' }];
  }),
  isResolved: ({ takeovers }, { subject }, nowMs) => !takeovers.list(nowMs).some(({ id }) => id === subject),
};

module.exports = { accountShared };
