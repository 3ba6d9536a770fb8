// @ts-check
'use strict';

const { count, id, list, ms, next, number, object, orNull, ref, past, span, text, whole, yes } = require('./build');

const values = { battery_mv: orNull(number), temperature_c: orNull(number), humidity_pct: orNull(number) };
const place = { level: orNull(id), room: orNull(id), x_m: orNull(number), y_m: orNull(number) };

module.exports = {
  Beacon: object({
    beacon: id,
    kind: { type: 'string', enum: ['fixed', 'tag'] },
    ...place,
    staff_id: { ...orNull(id), description: 'Who carries it, of a tag.' },
    heard: { ...orNull(ref('Heard')), description: 'When it was heard last, within a day.' },
    measured: { ...orNull(ref('Measured')), description: 'What it measured last, since the start of the flows.' },
    rssi_bias_db: { ...orNull(number), description: 'How much stronger (negative: weaker) than expected phones hear it, dB, a mean over some ten minutes of readings; null: fewer than 300 of them.' },
    learned_offset: { ...orNull(ref('LearnedOffset')), description: 'What is subtracted from its readings; null: nothing.' },
  }),
  LearnedOffset: object({ db: { ...whole, description: 'How much stronger (negative: weaker) than others it is.' },
    since: { ...ms, description: 'Time of the first reading from which it was subtracted.' } }),
  BeaconList: object({ beacons: list(ref('Beacon')), next }),
  Heard: object({ ts: ms, receiver: id, rssi: { ...whole, description: 'dBm' } }),
  Measured: object({ ts: ms, ...values }),
  Telemetry: object({
    beacon: id,
    every: { type: 'string', enum: ['raw', 'minute', 'hour'] },
    ...span,
    columns: { ...list({ type: 'string' }), description: 'What stands where in a point: ts (epoch ms; the beginning of a minute or hour), '
      + 'of raw points the receiver, then battery_mv, temperature_c, humidity_pct.' },
    points: { ...list({ type: 'array', items: { type: ['number', 'string', 'null'] } }), description: 'Oldest first; null: not measured.' },
    next,
  }),
  Gateway: object({
    gateway: id,
    listed: { ...yes, description: 'Whether the building file lists it.' },
    ...place,
    state: { type: 'string', enum: ['online', 'offline', 'silent', 'unknown'],
      description: 'silent: nothing came for a minute, although it did not say goodbye; unknown: nothing has come yet.' },
    since: { ...orNull(ms), description: 'Since when it is in this state, as far as is known.' },
    version: orNull(text),
    health: { ...orNull(ref('Health')), description: 'Its newest figures.' },
    reading_ms: { ...orNull(ms), description: 'When readings of it came last.' },
    readings_per_s: { ...number, minimum: 0 },
    rssi_bias_db: { ...orNull(number), description: 'How much stronger (negative: weaker) than expected it hears people, dB, a mean over some ten minutes of readings; null: fewer than 300 of them.' },
    learned_offset: { ...orNull(ref('LearnedOffset')), description: 'What is subtracted from its readings; null: nothing.' },
  }),
  GatewayList: object({ gateways: list(ref('Gateway')), next }),
  Health: { type: 'object', properties: { ts: ms, version: text }, required: ['ts'], additionalProperties: { type: 'number' },
    description: 'Counters and gauges, as the gateway sends them.' },
  HealthPoints: object({ gateway: id, ...span, points: list(ref('Health')), next }),
  Status: object({ ts: ms, state: { type: 'string', enum: ['online', 'offline', 'removed'] }, version: orNull(text) }),
  Statuses: object({ gateway: id, ...span, statuses: list(ref('Status')), next }),
  Event: object({
    ts: ms,
    type: { type: 'string', enum: ['enter', 'leave', 'lost', 'crowded', 'gateway_down', 'gateway_up', 'battery_low', 'battery_ok'] },
    subject: { ...id, description: 'What it is about: a staff member, room, gateway or beacon.' },
    staff_id: id, gateway: id, beacon: id, level: id, room: id, count, limit: count, reason: text, battery_mv: whole,
  }, ['staff_id', 'gateway', 'beacon', 'level', 'room', 'count', 'limit', 'reason', 'battery_mv']),
  Events: object({ ...past, events: list(ref('Event')), next }),
};
