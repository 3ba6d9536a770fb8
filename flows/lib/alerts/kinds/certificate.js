// @ts-check
'use strict';

const DAY_MS = 86_400_000;
/** It is renewed 30 days before its end, or tried to be, every day. */
const OVERDUE_MS = 21 * DAY_MS;

/** @type {import('./index').Kind} */
const certificateEnding = {
  kind: 'certificate_ending',
  severity: 'critical',
  raiseMs: 0,
  endMs: 0,
  amiss({ certificateEndsMs: ends }, _active, nowMs) {
    if (ends === null || ends - nowMs >= OVERDUE_MS) return [];
    const left = ends > nowMs ? `ends in ${Math.floor((ends - nowMs) / DAY_MS)} days` : 'has ended';
    return [{ subject: 'broker', text: `The broker's certificate ${left} and was not renewed. Without it no gateway and no phone is let in.`,
      todo: 'Look at the log of certificates for the reason, then `make up`, which renews it too. If its authority is what ends, give all '
        + 'receivers a new one (docs/operations.md).' }];
  },
  well: ({ certificateEndsMs: ends }, _alert, nowMs) => ends !== null && ends - nowMs >= OVERDUE_MS,
};

module.exports = { certificateEnding };
