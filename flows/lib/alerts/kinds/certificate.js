// @ts-check
'use strict';

const DAY_MS = 86_400_000;
/** Renewal is tried daily from 30 days before the end on; with fewer days left it has failed for a while. */
const OVERDUE_MS = 21 * DAY_MS;
/** Short-lived certificates are renewed later; this share of the lifetime is left when one is overdue. */
const OVERDUE_SHARE = 0.25;

/**
 * A certificate of one of our servers.
 * @typedef {{subject: 'broker'|'https', startsMs: number|null, endsMs: number|null}} Certificate epoch ms; null: not known
 */

const TEXTS = Object.freeze({
  broker: {
    text: (/** @type {string} */ left) => `The broker's certificate ${left} and was not renewed. Without it no gateway and no phone is let in.`,
    todo: 'Look at the log of certificates for the reason, then `make up`, which renews it too. If its authority is what ends, give all '
      + 'receivers a new one (docs/operations.md).',
  },
  https: {
    text: (/** @type {string} */ left) => `The certificate of HTTPS ${left} and was not renewed. Without it browsers and callers refuse to connect.`,
    todo: 'With the installation\'s own one as for the broker: the log of certificates, then `make up`. With one of your own (HTTPS_CERT): '
      + 'renew it into the same files, which are then taken over by themselves.',
  },
});

/** @param {Certificate} certificate @param {number} nowMs */
function isOverdue({ startsMs, endsMs }, nowMs) {
  if (endsMs === null) return false;
  return endsMs - nowMs < (startsMs === null ? OVERDUE_MS : Math.min(OVERDUE_MS, OVERDUE_SHARE * (endsMs - startsMs)));
}

/** @type {import('./index').Kind} */
const certificateEnding = {
  kind: 'certificate_ending',
  severity: 'critical',
  raiseMs: 0,
  endMs: 0,
  conditions: ({ certificates }, _active, nowMs) => certificates.filter((one) => isOverdue(one, nowMs)).map(({ subject, endsMs }) => {
    const leftMs = Number(endsMs) - nowMs;
    const left = leftMs > 0 ? `ends in ${Math.floor(leftMs / DAY_MS)} days` : 'has ended';
    return { subject, text: TEXTS[subject].text(left), todo: TEXTS[subject].todo };
  }),
  isResolved({ certificates }, { subject }, nowMs) {
    const one = certificates.find((certificate) => certificate.subject === subject);
    return one === undefined || (one.endsMs !== null && !isOverdue(one, nowMs));
  },
};

module.exports = { certificateEnding };
