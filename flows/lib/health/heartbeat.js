// @ts-check
'use strict';

/**
 * A probe of database and ingest: the heartbeat that the flows publish every few seconds is read back from InfluxDB.
 */

const HEARTBEAT_MS = 5000;
/** A heartbeat comes back within a second. With more than this the next one is missing, too. */
const OVERDUE_MS = 8000;
/** The first one comes back a second or two after a start. */
const START_MS = 10_000;
/** With more than this it is late. */
const LATE_MS = 6000;
/** While Telegraf or the broker is started again: three heartbeats, since a restart may lose one, and one is always on its way. */
const OVERDUE_RESTART_MS = 15_000;
const LOOK_BACK_MS = 60_000;
const NOTHING_WAITS = { waiting_lines: 0, oldest_ms: null, fault: '' };
/** @type {{stored: Record<string, number>, fault: string, queues: Record<'messages'|'writes', Outlet>,
 *   outlets?: Record<string, Outlet>}} */
const UNKNOWN = { stored: {}, fault: '', queues: { messages: NOTHING_WAITS, writes: NOTHING_WAITS } };
/** The spool answers within milliseconds; a start takes it a second or two. */
const SILENT_MS = 5000;

/**
 * @typedef {ReturnType<typeof createProbe>} Probe
 * @typedef {import('./index').Part} Part
 * @typedef {Pick<import('./other-figures').Spool, 'status'|'waitedMs'> & Partial<Pick<import('./other-figures').Spool, 'silentMs'>>} Source
 * @param {{newestHeartbeat: (fromMs: number) => Promise<number|null>}} store
 * @param {number} startedMs
 * @param {object} [flow] what comes in and what waits
 * @param {() => Source|null} [flow.spool]
 * @param {() => number|null} [flow.received] messages that the broker has received, a counter
 * @param {(nowMs: number) => boolean} [flow.isRestarting] whether Telegraf or the broker is started again on purpose, for a change
 */
function createProbe(store, startedMs, { spool = () => null, received = () => null, isRestarting = () => false } = {}) {
  const backlog = createBacklog();
  const outlets = createOutlets();
  let storeFault = 'InfluxDB was not queried yet';
  let lastSentMs = 0;
  let readBackMs = 0;
  let lagMs = /** @type {number|null} */ (null);

  /** @param {number} nowMs @returns {Part} */
  function ofHeartbeat(nowMs) {
    if (storeFault !== '') {
      return { status: 'degraded', store_lag_ms: null, reason: 'unknown while InfluxDB does not answer', remedy: 'see influxdb' };
    }
    if (nowMs - readBackMs <= (isRestarting(nowMs) ? OVERDUE_RESTART_MS : OVERDUE_MS)) return { status: 'up', store_lag_ms: lagMs };
    const since = readBackMs === 0 ? nowMs - startedMs : nowMs - readBackMs;
    return {
      status: 'degraded',
      store_lag_ms: since,
      reason: noHeartbeat(since),
      remedy: 'look at `make status` and at the logs of the broker, telegraf and influxd: they carry what is published into InfluxDB',
    };
  }

  /** No heartbeat has come back yet, and that is no fault. @param {number} nowMs */
  const isStarting = (nowMs) => readBackMs === 0 && nowMs - startedMs < START_MS;

  /** Looks at each outlet; called every second or two. @param {number} nowMs */
  function look(nowMs) {
    const status = spool()?.status();
    if (status) outlets.see({ messages: status.queues.messages, ...status.outlets }, nowMs);
  }

  /**
   * Looks for what waits in each outlet: heartbeats do not wait with readings.
   * @param {Part} part @param {number} nowMs @returns {Part}
   */
  function withOutlets(part, nowMs) {
    /** @type {Part} */
    const whole = { ...part, outlets: outlets.waiting(), ...(isStarting(nowMs) ? { starting: true } : {}) };
    const silentMs = spool()?.silentMs?.() ?? 0;
    if (silentMs > SILENT_MS) {
      return { ...whole, status: 'degraded', reason: `the spool has not answered for ${Math.round(silentMs / 1000)} s`,
        remedy: 'look at `make status` and at the log of spool; what it does not take waits in the broker and in Telegraf' };
    }
    const isBusy = whole.backlog === 'overloaded' || whole.backlog === 'catching_up';
    const standing = outlets.standing(nowMs).filter(({ name, slow, since_ms: since }) => !(slow && isBusy)
      && (name !== 'messages' || !isRestarting(nowMs) || nowMs - since >= OVERDUE_RESTART_MS));
    if (standing.length === 0) return whole;
    const messages = standing.find(({ name }) => name === 'messages');
    const others = standing.filter(({ name }) => name !== 'messages');
    const reasons = [...(messages ? [`readings are not taken in: ${messages.reason}`] : []),
      ...(others.length > 0 ? [`InfluxDB does not get ${inWords(others, nowMs)}`] : []),
      ...(readBackMs > 0 && nowMs - readBackMs > LATE_MS ? [noHeartbeat(nowMs - readBackMs)] : [])];
    return { ...whole, status: 'degraded', backlog: 'away', reason: reasons.join('; '),
      remedy: 'look at `make status` and at the logs of spool, telegraf, influxd and the broker; nothing is lost meanwhile, it waits on disk' };
  }

  return {
    /** Records a published heartbeat. @param {number} ts epoch ms */
    sent: (ts) => { lastSentMs = ts; },
    /** Whether the newest heartbeat is still to be read back. */
    pending: () => readBackMs < lastSentMs,
    /** Queries the newest stored heartbeat. @param {() => number} clock */
    async poll(clock) {
      try {
        const newest = await store.newestHeartbeat(Math.min(clock() - LOOK_BACK_MS, readBackMs || Infinity));
        storeFault = '';
        if (newest !== null && newest > readBackMs) {
          readBackMs = newest;
          lagMs = clock() - newest;
        }
      } catch (error) {
        storeFault = error instanceof Error ? error.message : String(error);
      }
    },
    /** Compares what comes in with what is stored; called with each heartbeat. @param {number} nowMs */
    tick(nowMs) {
      look(nowMs);
      const queue = spool();
      const { stored, fault, queues, outlets: buckets = { readings: queues.writes } } = queue?.status() ?? UNKNOWN;
      const standing = new Set(outlets.standing(nowMs).map(({ name }) => name));
      const oldest = Object.entries(buckets).flatMap(([name, one]) => (name !== 'readings' && standing.has(name) ? [] : one.oldest_ms ?? []));
      backlog.add({ // of what is passed on; what stands still is told of by itself
        ts: nowMs, offered: received(), stored: stored.readings ?? null,
        away: storeFault !== '' || (buckets.readings?.fault ?? fault) !== '',
        queueMs: Math.max(nowMs - Math.min(nowMs, ...oldest), 0),
        messagesMs: queue?.waitedMs('messages') ?? 0,
        // one is always on its way, and all of them go by the outlet of locations
        unreadMs: readBackMs === 0 || standing.has('locations') ? 0 : Math.max(nowMs - readBackMs - HEARTBEAT_MS, 0),
      });
    },
    look,
    /** Time of the newest stored heartbeat, epoch ms; 0: none yet. All locations that were published before are stored, too. */
    readBackMs: () => readBackMs,
    /** @returns {Part} */
    influxdb: () => (storeFault === ''
      ? { status: 'up' }
      : { status: 'degraded', reason: storeFault, remedy: 'look at `make status` and at the log of influxd' }),
    /** @param {number} nowMs @returns {Part} */
    ingest: (nowMs) => withOutlets(withBacklog(ofHeartbeat(nowMs), backlog.state()), nowMs),
  };
}

/** @param {number} ms */
const noHeartbeat = (ms) => `no heartbeat of the flows has reached InfluxDB for ${Math.round(ms / 1000)} s`;

/**
 * How far the database is behind what comes in, and whether that is an overload: more is offered than is taken. Pure.
 * @typedef {ReturnType<typeof createBacklog>} Backlog
 * @typedef {object} Sample
 * @property {number} ts epoch ms
 * @property {number|null} offered messages that the broker has received, a counter
 * @property {number|null} stored points of readings that InfluxDB has taken, a counter
 * @property {number} queueMs age of the oldest write that waits on disk for InfluxDB
 * @property {number} messagesMs age of the oldest message of readings that waits on disk for Telegraf
 * @property {number} unreadMs age of the oldest heartbeat that has not come back out of the database
 * @property {boolean} away whether InfluxDB takes nothing at all
 * @typedef {object} State
 * @property {'none'|'away'|'overloaded'|'catching_up'} kind
 * @property {number|null} offered_per_s
 * @property {number|null} taken_per_s
 * @property {number} behind_by_s
 */

/** Less is a busy second, a restart of Telegraf, or a garbage collection. */
const BEHIND_MS = 10_000;
/** Rates are of this time: the broker counts every 10 s. */
const WINDOW_MS = 30_000;
/** Catching up: the backlog gets shorter by this part of the time that passes. */
const SHRINKS = 0.1;

function createBacklog() {
  /** @type {Sample[]} */
  let samples = [];

  return {
    /** @param {Sample} sample to be added every few seconds */
    add(sample) {
      samples = [...samples.filter(({ ts }) => ts <= sample.ts && sample.ts - ts <= WINDOW_MS), sample];
    },
    /** @returns {State} */
    state() {
      const [first, last] = [samples[0], samples.at(-1)];
      if (!first || !last) return { kind: 'none', offered_per_s: null, taken_per_s: null, behind_by_s: 0 };
      const known = {
        offered_per_s: rate(samples, 'offered'), taken_per_s: rate(samples, 'stored'), behind_by_s: Math.round(behindMs(last) / 1000),
      };
      if (behindMs(last) < BEHIND_MS) return { kind: 'none', ...known };
      const before = samples.at(-2) ?? first;
      const goesOn = last.stored !== null && before.stored !== null && last.stored !== before.stored;
      if (last.away || (!goesOn && last.queueMs >= BEHIND_MS)) return { kind: 'away', ...known };
      if (!goesOn) return { kind: 'none', ...known }; // nothing gets as far as the disk: the heartbeat says so
      const shrunkMs = behindMs(first) - behindMs(last);
      return { kind: shrunkMs > SHRINKS * (last.ts - first.ts) && shrunkMs > 0 ? 'catching_up' : 'overloaded', ...known };
    },
  };
}

/** @param {Sample} sample */
const behindMs = ({ queueMs, messagesMs, unreadMs }) => Math.max(queueMs, messagesMs, unreadMs);

/** @param {Sample[]} samples @param {'offered'|'stored'} counter @returns {number|null} a second, whole */
function rate(samples, counter) {
  const known = samples.filter((sample) => sample[counter] !== null);
  const [first, last] = [known[0], known.at(-1)];
  if (!first || !last || last.ts <= first.ts) return null;
  const grown = Number(last[counter]) - Number(first[counter]);
  return grown < 0 ? null : Math.round(grown * 1000 / (last.ts - first.ts)); // its process was started again
}

/** @type {Record<Exclude<State['kind'], 'none'>, string>} */
const WORDS = { away: 'InfluxDB takes nothing', overloaded: 'overloaded', catching_up: 'catching up' };
/** @type {Record<Exclude<State['kind'], 'none'>, string>} */
const REMEDIES = {
  away: 'look at `make status` and at the log of influxd; nothing is lost meanwhile, it waits on disk',
  overloaded: 'more comes in than this machine can store: fewer messages, or a larger machine; nothing is lost meanwhile, it waits on disk',
  catching_up: 'nothing: what waits on disk gets into InfluxDB by itself',
};

/** "overloaded: offered 9000/s, taken 6000/s, behind by 40 s". @param {State} state */
function reasonOf({ kind, offered_per_s: offered, taken_per_s: taken, behind_by_s: behind }) {
  if (kind === 'none') return '';
  const rates = kind === 'away' ? `offered ${offered ?? '?'}/s` : `offered ${offered ?? '?'}/s, taken ${taken ?? '?'}/s`;
  return `${WORDS[kind]}: ${rates}, behind by ${behind} s`;
}

/**
 * The part `ingest` of /health with the backlog in it.
 * @param {import('./index').Part} part by the heartbeat
 * @param {State} state
 * @returns {import('./index').Part}
 */
function withBacklog(part, state) {
  const { kind, ...figures } = state;
  const whole = { ...part, ...figures, backlog: kind };
  return kind === 'none' ? whole : { ...whole, status: 'degraded', reason: reasonOf(state), remedy: REMEDIES[kind] };
}

/**
 * Whether what waits on disk is passed on: to Telegraf, and by the spool into each bucket of InfluxDB. Each outlet is asked for itself:
 * that one works says nothing about another. Pure.
 * @typedef {{waiting_lines: number, oldest_ms: number|null, fault: string, fault_ms?: number|null}} Outlet as the spool reports it
 *   (`other-figures.js`); fault_ms: since when
 * @typedef {{name: string, reason: string, since_ms: number, waiting_lines: number, slow: boolean}} Standing an outlet that passes
 *   nothing on, or slowly
 * @typedef {ReturnType<typeof createOutlets>} Outlets
 */

/**
 * So long a fault lasts before it counts, and so old the oldest is, with nothing passed on, when the outlet stands still: what waits is
 * passed on within a second, and InfluxDB is started again in one or two. Telegraf takes some more: it connects to the broker, too.
 */
const LIMITS = { faultMs: 3000, stillMs: 5000 };
const LIMITS_OF_TELEGRAF = { faultMs: 6000, stillMs: 6000 };

/** @type {Record<string, string>} */
const WHAT = { messages: 'readings for Telegraf', readings: 'readings', locations: 'locations and events', health: 'figures of health' };

function createOutlets() {
  /** @type {Map<string, {outlet: Outlet, passedMs: number, faultMs: number|null}>} faultMs: since when there is a fault */
  const known = new Map();

  return {
    /** Takes a report of the spool, at least every two seconds. @param {Record<string, Outlet>} outlets by name @param {number} nowMs */
    see(outlets, nowMs) {
      for (const name of known.keys()) if (!(name in outlets)) known.delete(name);
      for (const [name, outlet] of Object.entries(outlets)) {
        const before = known.get(name);
        const passes = outlet.oldest_ms === null || outlet.oldest_ms !== before?.outlet.oldest_ms;
        known.set(name, { outlet, passedMs: passes || !before ? nowMs : before.passedMs,
          faultMs: outlet.fault === '' ? null : Math.min(outlet.fault_ms ?? nowMs, before?.faultMs ?? nowMs) });
      }
    },
    /** Outlets that stand still, the one that does so for longest first. @param {number} nowMs @returns {Standing[]} */
    standing: (nowMs) => [...known].flatMap(([name, { outlet, passedMs, faultMs }]) => {
      const waitsMs = nowMs - (outlet.oldest_ms ?? nowMs);
      const limits = name === 'messages' ? LIMITS_OF_TELEGRAF : LIMITS;
      const passes = nowMs - passedMs < limits.stillMs - 1000;
      const isStill = waitsMs >= limits.stillMs && !passes;
      if (!isStill && (faultMs === null || nowMs - faultMs < limits.faultMs)) return [];
      const sinceMs = Math.min(outlet.oldest_ms ?? nowMs, faultMs ?? nowMs);
      return [{ name, reason: outlet.fault || 'what waits is not passed on', since_ms: sinceMs, waiting_lines: outlet.waiting_lines,
        slow: !isStill && passes }];
    }).sort((a, b) => a.since_ms - b.since_ms),
    /** Lines that wait in each, and since when. @returns {Record<string, {waiting_lines: number, oldest_ms: number|null}>} */
    waiting: () => Object.fromEntries([...known].map(([name, { outlet: { waiting_lines: lines, oldest_ms: ms } }]) => (
      [name, { waiting_lines: lines, oldest_ms: ms }]))),
  };
}

/** "readings for 12 s (InfluxDB answers 500), 2143 lines wait; …" @param {Standing[]} standing @param {number} nowMs */
const inWords = (standing, nowMs) => standing.map(({ name, reason, since_ms: since, waiting_lines: lines }) => (
  `${WHAT[name] ?? name} for ${Math.round((nowMs - since) / 1000)} s (${reason}; ${lines} lines wait)`)).join('; ');

/** Poll interval while no heartbeat is on its way, so that the absence of InfluxDB is noticed. */
const IDLE_MS = 1000;

/**
 * Reads the heartbeat back from the database, and tells those who wait for the proof that what was published before is stored.
 * @param {object} deps
 * @param {Pick<Probe, 'poll'|'pending'|'readBackMs'>} deps.probe
 * @param {{broker: {outbox: {proven: (ms: number, nowMs: number) => void}}}} deps.site
 * @param {{tick: (readBackMs: number, nowMs: number) => Promise<void>}} deps.coverage
 * @param {(error: unknown) => void} deps.onError
 * @param {() => number} deps.clock
 * @returns {() => Promise<void>} to be called several times a second
 */
function createReadBack({ probe, site, coverage, onError, clock }) {
  let polledMs = -Infinity;
  const read = inTurns(async () => {
    polledMs = clock();
    await probe.poll(clock);
    site.broker.outbox.proven(probe.readBackMs(), clock());
    await coverage.tick(probe.readBackMs(), clock());
  }, onError, { clock });

  return async () => {
    if (probe.pending() || clock() - polledMs >= IDLE_MS) await read();
  };
}

/**
 * When a part may be started again for a change: Telegraf after another building, the broker after a break of its connection. What it
 * lacks in these seconds is no fault. Pure.
 */

const RESTART_MS = 20_000;

/** @param {{live: {buildingSinceMs: () => number}, connected: () => boolean}} site */
function createRestarts(site) {
  let brokenMs = -Infinity;
  return {
    /** Called every second. @param {number} nowMs */
    look(nowMs) { if (!site.connected()) brokenMs = nowMs; },
    /** @param {number} nowMs */
    isRestarting: (nowMs) => nowMs - Math.max(site.live.buildingSinceMs(), brokenMs) < RESTART_MS,
  };
}

/** Nothing that is done again and again takes so long: what has not ended by then never will. */
const LIMIT_MS = 60_000;

/**
 * Work that a timer begins again and again, never twice at a time. An error ends that turn alone, and so does work that does not end.
 * @param {() => Promise<unknown>} work
 * @param {(error: unknown) => void} onError
 * @param {object} [deps]
 * @param {number} [deps.limitMs]
 * @param {() => number} [deps.clock]
 * @returns {() => Promise<void>} begins it, unless it is under way
 */
function inTurns(work, onError, { limitMs = LIMIT_MS, clock = Date.now } = {}) {
  /** @type {{begunMs: number}|null} */
  let turn = null;

  return async () => {
    if (turn !== null) {
      if (clock() - turn.begunMs < limitMs) return;
      onError(new Error(`this has not ended within ${limitMs / 1000} s, and is begun again`));
    }
    const own = { begunMs: clock() };
    turn = own;
    try {
      await work();
    } catch (error) {
      onError(error);
    } finally {
      if (turn === own) turn = null;
    }
  };
}

module.exports = { createProbe, HEARTBEAT_MS, createBacklog, withBacklog, createOutlets, createReadBack, createRestarts, inTurns };
