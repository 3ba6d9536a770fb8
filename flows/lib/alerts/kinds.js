// @ts-check
'use strict';

const { LOW_MV } = require('../devices/battery');

/**
 * The kinds of alerts. Each finds its conditions, and says of an alert without a condition whether it is resolved or just not known.
 * @typedef {import('../building').Building} Building
 * @typedef {object} Facts
 * @property {Building} building
 * @property {import('../devices/gateways').Gateways} gateways
 * @property {ReturnType<typeof import('../devices/beacons').createBeacons>} beacons
 * @property {import('../live/readings').Refusals} refusals
 * @property {Pick<import('../devices/takeovers').Takeovers, 'list'>} takeovers
 * @property {Pick<import('../clocks').Clocks, 'wrong'>} [clocks] of receivers
 * @property {{staff_id: string, level: string, room: string, ts: number, state: string}[]} presences
 * @property {Facts['presences']} [published] as they were published last; without: `presences`
 * @property {(staffId: string) => boolean} [isGone] whether somebody has left the building file, and nothing is told of them any more
 * @property {boolean} connected to the broker; silence means nothing without it
 * @property {number} watchedMs epoch ms since when messages are received without a pause
 * @property {import('../health').Part} ingest
 * @property {import('../health').Part} live
 * @property {import('../health').Part} clock
 * @property {import('../health').Part} losses
 * @property {Certificate[]} certificates those of our servers
 * @typedef {{subject: string, since?: number|null, text: string, todo: string, level?: string|null, room?: string|null}} Condition
 *   since: epoch ms, where it is known
 * @typedef {object} Kind
 * @property {string} kind
 * @property {'critical'|'warning'} severity
 * @property {number} raiseMs how long the condition must last before the alert is raised
 * @property {number} endMs how long it must be resolved before the alert ends
 * @property {string} [todoMany] what to do where there are many at once, when that differs
 * @property {(facts: Facts, active: (subject: string) => object|null, nowMs: number) => Condition[]} conditions
 *   active: the alert of a subject if it is raised
 * @property {(facts: Facts, alert: {subject: string, since: number, acknowledged?: object|null}, nowMs: number) => boolean} isResolved
 */

/** @type {Kind} */
const gatewayDown = {
  kind: 'gateway_down',
  severity: 'critical',
  raiseMs: 20_000, // agents reconnect within 15 s after a restart of the broker
  endMs: 30_000,
  todoMany: 'So many at once are hardly their own power: look at the network between them and the broker, its switches and access points '
    + 'first. Until then people are located by what is left, or not at all.',
  conditions: ({ building, gateways, connected }, _, nowMs) => checkable(building.gateways, connected).flatMap(({ id, room, level }) => {
    const { state, since } = gateways.of(id, nowMs) ?? {};
    if (state !== 'offline' && state !== 'silent') return [];
    const how = state === 'offline' ? 'is offline' : 'says that it is online, but nothing comes from it';
    return [{ subject: id, since, level, room, text: `Gateway ${id} in ${placeName(building, room, level)} ${how}.`,
      todo: 'Look at its power and its network; on it, "gateway-agent doctor" says what is wrong. Until then people near it are located by '
        + 'its neighbours, less exactly.' }];
  }),
  isResolved: ({ building, gateways, connected }, { subject: id }, nowMs) => connected
    && (!building.gateways.has(id) || gateways.of(id, nowMs)?.state === 'online'),
};

/**
 * Devices to check: none while the broker is away, since nothing can arrive.
 * @template T @param {Map<string, T>} devices @param {boolean} connected @returns {T[]}
 */
const checkable = (devices, connected) => (connected ? [...devices.values()] : []);

/** In phone mode a beacon is received when somebody passes. A full day without a reading means an empty battery, not a pause. */
const SILENT_MS = 24 * 3_600_000;

/** @type {Kind} */
const beaconSilent = {
  kind: 'beacon_silent',
  severity: 'warning',
  raiseMs: 0,
  endMs: 0,
  conditions: ({ building, beacons: states, connected, watchedMs }, _, nowMs) => checkable(building.beacons, connected).flatMap((one) => {
    const { id, room, level } = one;
    const heardMs = aliveMs(states.of(id)) || null;
    if (nowMs - (heardMs ?? watchedMs) < SILENT_MS) return [];
    return [{ subject: id, since: heardMs, level, room,
      text: `Beacon ${id} in ${placeName(building, room, level)} has not been heard ${heardMs === null ? 'at all yet' : 'for a day'}.`,
      todo: 'See whether it still hangs there, and change its battery. If it is gone for good, take it out of the building file.' }];
  }),
  isResolved: ({ building, beacons }, { subject: id }, nowMs) => !building.beacons.has(id)
    || nowMs - aliveMs(beacons.of(id)) < SILENT_MS,
};

/** When a beacon sent something last: its RSSI may not be known. @param {ReturnType<Facts['beacons']['of']>} known */
const aliveMs = (known) => Math.max(known?.heard_ms ?? 0, known?.measured_ms ?? 0);

/** Only a fresh battery reaches this voltage: cold and load move a weak one by 0.1 V. */
const OK_MV = 2700;

/** @type {Kind} */
const batteryLow = {
  kind: 'battery_low',
  severity: 'warning',
  raiseMs: 60_000, // a single odd value does not count
  endMs: 60_000,
  conditions: ({ building, beacons }, active) => registered(building).flatMap(({ id, level, room, staffId }) => {
    const { battery_mv: mv = null, measured_ms: since } = beacons.of(id) ?? {};
    if (mv === null || mv >= (active(id) ? OK_MV : LOW_MV)) return [];
    const what = staffId === undefined ? `beacon ${id} in ${placeName(building, room, level)}` : `tag ${id} of ${staffName(building, staffId)}`;
    return [{ subject: id, since, level, room, text: `The battery of ${what} is low: ${(mv / 1000).toFixed(2)} V.`,
      todo: 'Change it within days: beacons stop between 2.2 and 1.8 V.' }];
  }),
  isResolved: ({ building, beacons }, { subject: id }) => !building.isRegistered(id) || (beacons.of(id)?.battery_mv ?? 0) >= OK_MV
    || beacons.isWithoutBattery(id), // what it said is forgotten: it may be another device under its id by now
};

/** @param {import('../building').Building} building @returns {{id: string, level?: string, room?: string, staffId?: string}[]} */
const registered = ({ beacons, tagOwner }) => [...beacons.values(), ...[...tagOwner].map(([id, staffId]) => ({ id, staffId }))];

/** @type {WeakMap<Facts['presences'], Map<string, number>>} */
const counted = new WeakMap();

/**
 * People per room, without lost ones, found once for all alerts of an evaluation.
 * @param {Facts} facts @returns {Map<string, number>} by room id
 */
function headcount({ presences }) {
  const known = counted.get(presences);
  if (known) return known;
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { room, state } of presences) if (state !== 'lost') counts.set(room, (counts.get(room) ?? 0) + 1);
  counted.set(presences, counts);
  return counts;
}

/** @type {Kind} */
const roomCrowded = {
  kind: 'room_crowded',
  severity: 'warning',
  raiseMs: 0, // locations are smoothed already
  endMs: 30_000, // same as for the event: people step out and back in
  conditions(facts) {
    const { building } = facts;
    return [...headcount(facts)].flatMap(([room, count]) => {
      const { limit, level } = building.rooms.get(room) ?? {};
      if (limit === undefined || count <= limit) return [];
      return [{ subject: room, level, room, text: `${count} people are in ${placeName(building, room, level)}, whose limit is ${limit}.`,
        todo: 'Send somebody there. If the limit is wrong, change it in the set-up.' }];
    });
  },
  isResolved(facts, { subject: room }) {
    const { limit } = facts.building.rooms.get(room) ?? {};
    return limit === undefined || (headcount(facts).get(room) ?? 0) <= limit;
  },
};

/** A shift is over by then. */
const SHIFT_MS = 12 * 3_600_000;

/** @type {Kind} */
const staffLost = {
  kind: 'sda_lost',
  severity: 'warning',
  raiseMs: 0, // "lost" already means a minute without a reading
  endMs: 0,
  todoMany: 'So many at once are hardly their own phones: look at the network, the gateways and the page System. If the shift is over, '
    + 'acknowledge.',
  // who was told to be here, and not who is in a batch of days ago
  conditions: ({ building, presences, published = presences }) => lostOnes(building, published),
  // the locator drops people after a quarter of an hour, which does not resolve the alert
  isResolved: ({ presences, isGone }, { subject, since }, nowMs) => nowMs - since > SHIFT_MS || receivedOf(presences).has(subject)
    || isGone?.(subject) === true,
};

/** @type {WeakMap<Facts['presences'], Set<string>>} */
const received = new WeakMap();

/** People who are heard, found once for all alerts of an evaluation. @param {Facts['presences']} presences */
function receivedOf(presences) {
  const ids = received.get(presences) ?? new Set(presences.filter(({ state }) => state !== 'lost').map(({ staff_id: id }) => id));
  received.set(presences, ids);
  return ids;
}

/** Of everybody who is lost in a building: nothing changes for most of them. @type {WeakMap<object, Map<string, Condition>>} */
const lastLost = new WeakMap();

/** @param {import('../building').Building} building @param {Facts['presences']} presences @returns {Condition[]} */
function lostOnes(building, presences) {
  const before = lastLost.get(building);
  const found = presences.filter(({ state }) => state === 'lost').map((presence) => {
    const known = before?.get(presence.staff_id);
    return known && known.since === presence.ts && known.room === presence.room ? known : oneLost(building, presence);
  });
  lastLost.set(building, new Map(found.map((condition) => [condition.subject, condition])));
  return found;
}

/** @param {import('../building').Building} building @param {Facts['presences'][number]} presence */
const oneLost = (building, { staff_id: id, level, room, ts }) => /** @type {Condition} */ ({
  subject: id, since: ts, level, room,
  text: `${staffName(building, id)} is not heard any more; last in ${placeName(building, room, level)}.`,
  todo: 'Call. See whether the phone or tag is on and charged. If the shift is over, acknowledge.',
});

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

/** @param {Building} building @param {string|undefined} room id @param {string|undefined} [level] id */
function placeName(building, room, level = building.rooms.get(room ?? '')?.level) {
  if (room === undefined) return 'an unknown place';
  const name = building.levels.find(({ id }) => id === level)?.name ?? level;
  return name === undefined ? building.roomName(room) : `${building.roomName(room)} (${name})`;
}

/** @param {Building} building @param {string} id */
function staffName(building, id) {
  const name = building.staff.get(id)?.name;
  return name === undefined ? `SDA ${id}` : `${name} (SDA ${id})`;
}

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
 * @param {Facts['refusals']} refusals @param {number} nowMs
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

/** @type {Kind} */
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

/** @type {Kind[]} */
const KINDS = [messagesLost, gatewayDown, accountShared, clockBehind, overloaded, ingestBehind, certificateEnding, messagesRefused,
  clockWrong, beaconSilent, batteryLow, roomCrowded, staffLost];

module.exports = { KINDS, accountShared, clockWrong };
