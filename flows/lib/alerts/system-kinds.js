// @ts-check
'use strict';

/** @typedef {import('./kinds').Kind} Kind */

/** Backlogs with a database that works. @type {Set<unknown>} */
const IS_BUSY = new Set(['overloaded', 'catching_up']);

/** @type {Kind} */
const ingestBehind = {
  kind: 'ingest_behind',
  severity: 'critical',
  raiseMs: 0, // the part itself waits for what is started again
  endMs: 15_000,
  conditions: ({ ingest }) => (ingest.status === 'up' || ingest.starting === true || IS_BUSY.has(ingest.backlog) ? [] : [{
    subject: 'ingest',
    text: `What comes in is not being stored: ${ingest.reason ?? 'why is not known'}.`,
    todo: `${sentence(ingest.remedy ?? 'look at `make status`')} Meanwhile they wait on disk, or in the broker `
      + 'where the spool is away, for minutes of full load; the live view goes on.',
  }]),
  isResolved: ({ ingest }) => ingest.status === 'up' || ingest.backlog === 'overloaded',
};

/** @param {string} text */
const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** @param {string} subject @param {import('../health').Part} part */
const ofPart = (subject, { reason = '', remedy = '' }) => ({ subject, text: sentence(reason), todo: sentence(remedy) });

/** @type {Kind} */
const overloaded = {
  kind: 'overloaded',
  severity: 'critical',
  raiseMs: 10_000,
  endMs: 15_000,
  conditions: ({ ingest, live }) => [
    ...(ingest.backlog === 'overloaded' ? [ofPart('ingest', ingest)] : []),
    ...(live.overloaded === true ? [ofPart('live', live)] : []),
  ],
  isResolved: ({ ingest, live }, { subject }) => (subject === 'live' ? live.overloaded !== true : !IS_BUSY.has(ingest.backlog)),
};

/** @type {Kind} */
const clockBehind = {
  kind: 'clock_behind',
  severity: 'critical',
  raiseMs: 0,
  endMs: 0,
  conditions: ({ clock }) => (clock.status === 'up' ? [] : [{
    subject: 'clock',
    text: `Nothing is taken in: ${clock.reason}.`,
    todo: `${sentence(clock.remedy ?? '')} The broker keeps what comes, some minutes of full load; it goes on by itself.`,
  }]),
  isResolved: ({ clock }) => clock.status === 'up',
};

/** @type {Kind} */
const messagesLost = {
  kind: 'messages_lost',
  severity: 'critical',
  raiseMs: 0,
  endMs: 0,
  conditions: ({ losses }) => (losses.status === 'up' ? [] : [{
    subject: 'messages', since: /** @type {number} */ (losses.last_ms), text: `${sentence(losses.reason ?? '')}`,
    todo: `${sentence(losses.remedy ?? '')} What was lost does not come back; how much stands on the page System and in /health.`,
  }]),
  isResolved: ({ losses }, { acknowledged }) => losses.status === 'up' && Boolean(acknowledged), // stays until somebody acknowledges it
};

/** A sender of bad messages repeats them within this time. */
const RECENT_MS = 60_000;

/** @type {Kind} */
const messagesRefused = {
  kind: 'messages_refused',
  severity: 'warning',
  raiseMs: 0,
  endMs: 4 * 60_000,
  todoMany: 'So many at once mostly run the same program: see what one of them sends, under the topic sda/v1/rejected, and correct it.',
  conditions({ refusals }, _active, nowMs) {
    const refused = refusals.latest().filter(({ last_ms: last }) => nowMs - last < RECENT_MS);
    const subjects = new Set(refused.map(({ receiver }) => receiver));
    return [...refused, ...unmeasured(refusals, nowMs).filter(({ receiver }) => !subjects.has(receiver))].map(
      ({ receiver, kind, count, reason, detail }) => ({
        subject: receiver,
        text: `What ${kind === 'unknown' ? 'somebody' : `${kind} ${receiver}`} sends is refused: ${detail} (${reason}; ${count} since the start).`,
        todo: TODO[reason] ?? 'See what it sends, under the topic sda/v1/rejected or in the bucket "health", and correct its program.',
      }));
  },
  isResolved: ({ refusals }, { subject: receiver }, nowMs) => nowMs - (refusals.of(receiver)?.last_ms ?? 0) >= RECENT_MS
    && !unmeasured(refusals, nowMs).some(({ receiver: id }) => id === receiver),
};

/**
 * Receivers that have not measured one RSSI for a minute, though they receive. Others have unknown ones among good ones, as iOS does.
 * @param {import('./kinds').Facts['refusals']} refusals @param {number} nowMs
 */
const unmeasured = (refusals, nowMs) => refusals.unmeasured().filter(({ last_ms: last, since_ms: since }) => (
  since !== null && nowMs - last < RECENT_MS && last - since >= RECENT_MS));

/** @type {Record<string, string>} */
const TODO = {
  ts_ahead: 'Its clock is ahead: set it, or see that it reaches a time server.',
  rssi_unknown: 'It receives beacons but measures no signal strength, so nobody is located by it: restart it, then look at its Bluetooth '
    + 'adapter or at its program.',
  ts_too_old: 'Its clock is behind, or it sends what it has kept for more than a week. Set its clock.',
};

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

/** @type {import('./kinds').Kind} */
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

module.exports = { clockBehind, ingestBehind, messagesLost, messagesRefused, overloaded, certificateEnding };
