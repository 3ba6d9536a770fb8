'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('../support/fast-check');
const { createBrokerDrops, BEFORE_MS, REPORTED_MS, STALL_MS } = require('../../lib/past/lost-readings');
const { createIntervals, WAITING } = require('../../lib/past/intervals');

const T = 1_700_000_000_000;
const [STEP_MS, POLL_MS, SYS_MS, SNAPSHOT_MS] = [500, 2000, 10_000, 30_000];
/** Messages are counted in thousands: what is queued for the flows at most, and what they read in a second. */
const [BOUND, READS] = [260, 15];
/** What is lost in the last seconds before a break of the connection is located once more anyway (`coverage/repeats.js`). */
const BREAK_MS = 15_000;

/** A broker with a queue for the flows, which is read as fast as a phase says, and the flows behind it. */
class Played {
  constructor() {
    Object.assign(this, { now: T, queue: [], waiting: 0, startedMs: T - 3_600_000, dropped: 0, reports: [], missed: [] });
    Object.assign(this, { lost: createIntervals(), isConnected: true, calls: 0, forgotten: 0, subscribedMs: T });
    this.drops = createBrokerDrops({ startedMs: T, connected: () => this.isConnected,
      sendProbe: (ms) => this.put({ probe: ms, count: 0, ms }),
      forgetQueue: () => this.forget(), lost: (fromMs, toMs) => { this.calls += 1; this.lost.mark(fromMs, toMs, WAITING); } });
    this.report();
  }

  /** The flows' session begins anew; they subscribe again a second later. */
  forget() {
    this.forgotten += 1;
    this.missed.push(...this.queue.filter(({ probe }) => probe === undefined).map(({ ms }) => ms));
    Object.assign(this, { queue: [], waiting: 0, subscribedMs: this.now + 1000 });
  }

  put(message) {
    if (this.now < this.subscribedMs) {
      if (message.probe === undefined) this.missed.push(message.ms);
    } else if (this.waiting + message.count > BOUND) {
      this.dropped += Math.max(message.count, 0.001);
      if (message.probe === undefined) this.missed.push(message.ms);
    } else {
      this.queue.push(message);
      this.waiting += message.count;
    }
  }

  report() {
    const one = { uptimeS: Math.floor((this.now - this.startedMs) / 1000), dropped: Math.ceil(this.dropped) };
    this.reports = this.isConnected ? [...this.reports, one] : [one]; // retained
  }

  /** SIGKILL: what is not in the last snapshot is gone. Once: of one while they are away, or soon after another, the flows know nothing. */
  kill() {
    if (!this.isConnected || this.startedMs >= T) return;
    const snapshotMs = Math.floor(this.now / SNAPSHOT_MS) * SNAPSHOT_MS;
    const isGone = ({ ms }) => ms > snapshotMs;
    const gone = this.queue.filter((one) => isGone(one) && one.probe === undefined && one.ms < this.now - BREAK_MS);
    this.missed.push(...gone.map(({ ms }) => ms));
    this.queue = this.queue.filter((one) => !isGone(one));
    this.waiting = this.queue.reduce((sum, { count }) => sum + count, 0);
    Object.assign(this, { startedMs: this.now, dropped: 0, isConnected: false, reports: [] });
    this.drops.tick(this.now);
    this.isConnected = true;
    this.report();
  }

  read(thousands) {
    for (let left = thousands; left > 0 && this.queue.length > 0;) {
      const [first] = this.queue;
      const some = Math.min(first.count, left);
      [first.count, left, this.waiting] = [first.count - some, left - some, this.waiting - some];
      if (first.count > 0) return;
      this.queue.shift();
      if (first.probe !== undefined) this.drops.probed(first.probe, this.now);
    }
  }

  hear() {
    for (const { uptimeS, dropped } of this.reports.splice(0)) {
      this.drops.uptime(uptimeS, this.now);
      if (dropped > 0) this.drops.dropped(dropped, this.now);
    }
  }

  /** @param phase offered and reads: thousands a second; foreign: whether the broker drops what waits for others */
  play({ seconds, offered = 1, reads = READS, foreign = false, isPaused = false, isAway = false, isKilled = false, timersFirst = false }) {
    if (isKilled) this.kill();
    for (const endMs = this.now + seconds * 1000; this.now < endMs;) {
      this.now += STEP_MS;
      this.isConnected = !isAway && (this.isConnected || !isPaused);
      this.put({ ms: this.now, count: offered * STEP_MS / 1000 });
      this.dropped += Number(foreign);
      if (this.now % SYS_MS === 0) this.report();
      if (!isPaused) this.work(isAway ? 0 : reads * STEP_MS / 1000, timersFirst);
    }
    return this;
  }

  /** A step of the flows, which read so many thousands; 0: they are not connected. */
  work(thousands, timersFirst) {
    if (timersFirst) this.tick();
    if (thousands > 0) {
      this.hear();
      this.read(thousands);
    }
    if (!timersFirst) this.tick();
  }

  tick() { if (this.now % POLL_MS === 0) this.drops.tick(this.now); }

  intervals() { return this.lost.everybody().map(({ fromMs, toMs }) => [(fromMs - T) / 1000, (toMs - T) / 1000]); }
}

const steady = { seconds: 60 };
const QUIET = { seconds: 120, offered: 1 };

test('while probes come back soon nothing that the broker drops was ours', () => {
  const played = new Played().play(steady).play({ seconds: 600, foreign: true });
  assert.deepEqual([played.intervals(), played.drops.reason()], [[], '']);
});

test('a long queue without a drop is no loss', () => {
  const played = new Played().play(steady).play({ seconds: 12, offered: 20, isPaused: true }).play(QUIET);
  assert.deepEqual([played.missed, played.intervals()], [[], []]);
});

test('a queue that is full for minutes is one time that grows, and is over when it is read', () => {
  const played = new Played().play(steady);
  played.play({ seconds: 600, offered: 30 });
  assert.ok(played.missed.length > 500, `${played.missed.length}`);
  assert.match(played.drops.reason(), /dropped messages .* since 2023-11-14T22:14/);
  const [[fromS, toS], ...others] = played.intervals();
  assert.ok(fromS < 60 && fromS >= 60 - BEFORE_MS / 1000 && toS > 645, `${fromS} ${toS}`);
  assert.deepEqual(others, []);
  played.play(QUIET);
  const [[sameS, endS], ...more] = played.intervals();
  assert.deepEqual([sameS, more, played.drops.reason()], [fromS, [], '']);
  assert.ok(endS > 650 && endS < 690, `${endS}`);
  const { calls } = played;
  assert.equal(played.play({ seconds: 60, foreign: true }).calls, calls, 'what is over does not grow');
});

test('a queue that is long after a loss is forgotten, so that the present is located; one that is long without a loss is read', () => {
  const played = new Played().play(steady).play({ seconds: 12, offered: 20, isPaused: true }).play({ seconds: 60 });
  assert.equal(played.forgotten, 0);
  const ages = [];
  const probed = played.drops.probed;
  played.drops.probed = (ms, nowMs) => { ages.push(nowMs - ms); probed(ms, nowMs); };
  played.play({ seconds: 60, offered: 30 });
  ages.length = 0;
  played.play({ seconds: 600, offered: 30 });
  assert.ok(ages.length > 60 && Math.max(...ages) < 10_000, `${ages.length} ${Math.max(...ages)}`);
  const { forgotten } = played;
  assert.ok(forgotten > 10, `${forgotten}`);
  assert.equal(played.play(QUIET).forgotten, forgotten);
  assert.deepEqual([played.intervals().length, played.drops.reason()], [1, '']);
});

test('a process that stood still asks what was dropped meanwhile', () => {
  for (const timersFirst of [true, false]) {
    const played = new Played().play(steady).play({ seconds: 90, offered: 10, isPaused: true }).play({ ...QUIET, timersFirst });
    const [[fromS, toS]] = played.intervals();
    assert.ok(played.missed.length > 0 && fromS < 60 && toS >= 150 && toS < 180, `${fromS} ${toS}`);
    assert.equal(played.drops.reason(), '');
  }
});

test('stalls that follow each other soon are one', () => {
  const played = new Played().play(steady);
  for (let n = 0; n < 10; n += 1) played.play({ seconds: 30, offered: 20, isPaused: true }).play({ seconds: 45 });
  assert.equal(played.play(QUIET).intervals().length, 1);
});

test('a broker that is killed while much waits loses it, and one where nothing waits does not', () => {
  const behind = new Played().play(steady).play({ seconds: 38, offered: 10, reads: 5 }).play({ ...QUIET, isKilled: true });
  assert.ok(behind.missed.length > 0);
  assert.equal(behind.intervals().length, 1);
  const inTime = new Played().play(steady).play({ ...QUIET, isKilled: true });
  assert.deepEqual(inTime.intervals(), []);
});

test('what was dropped before the start is no loss; what is dropped by the first broker that drops is', () => {
  const played = new Played();
  Object.assign(played, { dropped: 500 });
  played.reports = [];
  played.report();
  played.play({ seconds: 30, isPaused: true }).play(QUIET);
  assert.deepEqual(played.intervals(), []);
});

test('where no probe ever comes back nothing is said: the flows do not subscribe', () => {
  const lost = [];
  const drops = createBrokerDrops({ startedMs: T, connected: () => true, sendProbe() {}, forgetQueue() {},
    lost: (...time) => lost.push(time) });
  for (let ms = T; ms < T + 600_000; ms += 2000) {
    drops.tick(ms);
    drops.uptime((ms - T) / 1000, ms);
    drops.dropped((ms - T) / 1000, ms);
  }
  assert.deepEqual(lost, []);
  drops.probed(T + 1, T + 600_000);
  assert.deepEqual(lost, [[T - BEFORE_MS, T + 600_000]], 'the first one says that they do');
});

test('a clock that is set back neither stops the probes nor is a stall', () => {
  const sent = [];
  const drops = createBrokerDrops({ startedMs: T, connected: () => true, sendProbe: (ms) => { sent.push(ms); drops.probed(ms, ms); },
    forgetQueue() {}, lost: () => assert.fail('lost') });
  const run = (fromMs) => {
    for (let ms = fromMs; ms < fromMs + 2 * STALL_MS + REPORTED_MS; ms += 2000) {
      drops.uptime(ms, ms);
      drops.tick(ms);
    }
  };
  run(T);
  const before = sent.length;
  for (let ms = T - 3_600_000; ms < T - 3_500_000; ms += 2000) drops.tick(ms);
  assert.ok(sent.length > before + 10, `${sent.length}`);
});

const phase = fc.record({
  seconds: fc.integer({ min: 1, max: 90 }), offered: fc.integer({ min: 1, max: 21 }), reads: fc.integer({ min: 0, max: READS }),
  foreign: fc.boolean(), timersFirst: fc.boolean(), isPaused: fc.boolean(), isAway: fc.boolean(), isKilled: fc.boolean(),
});

test('whatever happens, all that was dropped of ours is to be located in the end', () => {
  fc.assert(fc.property(fc.array(phase, { minLength: 1, maxLength: 8 }), (phases) => {
    const played = new Played().play(steady);
    for (const one of phases) played.play(one);
    played.play({ ...QUIET, seconds: 180 });
    const [left] = played.missed.filter((ms) => played.lost.firstGap(ms, ms + 1, null) === null);
    assert.equal(left, undefined, `${(left - T) / 1000} s is in none of ${JSON.stringify(played.intervals())}`);
    assert.equal(played.drops.reason(), '');
  }));
});

test('as long as the queue is read fast enough nothing is to be located, whatever others lose', () => {
  const fast = fc.record({ seconds: fc.integer({ min: 1, max: 90 }), offered: fc.integer({ min: 1, max: 14 }), foreign: fc.boolean(),
    timersFirst: fc.boolean() });
  fc.assert(fc.property(fc.array(fast, { minLength: 1, maxLength: 6 }), (phases) => {
    const played = new Played().play(steady);
    for (const one of phases) played.play(one);
    assert.deepEqual(played.intervals(), []);
  }));
});
