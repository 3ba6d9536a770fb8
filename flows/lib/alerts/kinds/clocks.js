// @ts-check
'use strict';

const { placeName, staffName } = require('./names');

/** @typedef {import('./index').Kind} Kind */

/** @type {Kind} */
const clockWrong = {
  kind: 'clock_wrong',
  severity: 'warning',
  raiseMs: 10_000, // a single odd stamp is no wrong clock
  endMs: 30_000,
  todoMany: 'So many at once are hardly their own clocks: look at the clock of this machine first. While it is wrong all times are.',
  conditions: ({ building, clocks }, _active, nowMs) => (clocks?.wrong(nowMs) ?? []).map((one) => {
    const { kind, receiver, ahead_ms: aheadMs, since, corrected } = one;
    const { room, level } = (kind === 'gateway' && building.gateways.get(receiver)) || {};
    const whose = kind === 'phone' ? `the phone of ${staffName(building, receiver)}`
      : `gateway ${receiver} in ${placeName(building, room, level)}`;
    return { subject: receiver, since, level, room,
      text: `The clock of ${whose} is ${offText(aheadMs)}${corrected ? '; its readings are located at the time that it should say.'
        : ', too far to be corrected: its readings are located by its own time, in the past.'}`,
      todo: 'Set it, or see that it reaches a time server.' };
  }),
  isResolved: ({ clocks }, { subject }, nowMs) => !clocks?.wrong(nowMs).some(({ receiver }) => receiver === subject),
};

/** @param {number} aheadMs */
function offText(aheadMs) {
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const text = seconds < 600 ? `${seconds} s` : seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
  return `${text} ${aheadMs > 0 ? 'ahead' : 'behind'}`;
}

module.exports = { clockWrong };
