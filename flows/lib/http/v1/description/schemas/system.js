// @ts-check
'use strict';

const { RIGHTS } = require('../../../../access');
const { count, list, ms, next, number, object, orNull, ref, seconds, span, text, whole, yes } = require('./build');

const key = {
  id: text, name: text, rights: list({ type: 'string', enum: RIGHTS }), created_ms: ms, expires_ms: { ...orNull(ms), description: 'null: never.' },
  expired: yes, rate_per_s: { ...orNull(whole), description: 'Requests a second it may make; null: what the installation says.' },
};

const who = {
  who: { ...orNull(text), description: 'Name of the key, `login:…`, or the trusted address; null: by hand, on the machine.' },
  key: { ...orNull(text), description: "The key's id." }, address: orNull(text),
};

module.exports = {
  Audit: object({ ...span, entries: list({ anyOf: [ref('AuditedLookUp'), ref('AuditedDeed')] }), next }),
  AuditedLookUp: object({ ts: { ...ms, description: 'When it was written.' }, kind: { type: 'string', const: 'lookup' }, ...who,
    route: { ...text, description: 'As this description writes it.' },
    subjects: { anyOf: [{ type: 'string', const: '*' }, list({ anyOf: [text, { type: 'array', items: text, minItems: 2, maxItems: 2 }] })],
      description: 'The first hundred ids, or first and last of a range of numbers; `*`: everybody.' },
    subjects_count: { ...orNull(count), description: 'How many people; null: everybody.' }, from_ms: ms, to_ms: ms,
    count: { ...count, description: 'How many look-ups.' }, since_ms: { ...ms, description: 'When the first of them came.' } }, ['since_ms']),
  AuditedDeed: object({ ts: ms, kind: { type: 'string', enum: ['key_added', 'key_revoked', 'audit_read', 'recording_started', 'recording_stopped', 'recording_deleted',
    'alerts_acknowledged'] }, ...who, about: text }),
  Error: { ...object({ error: { ...text, description: 'What is wrong and, where it helps, why and what to do.' } }), additionalProperties: true },
  Rebuild: object({ id: whole, why: { type: 'string', enum: ['start', 'request', 'late'] }, from_ms: ms, to_ms: orNull(ms),
    state: { type: 'string', enum: ['waiting', 'running', 'done', 'failed'] }, at_ms: { ...orNull(ms), description: 'How far it is.' },
    readings: count, locations: count, stays: count, took_s: orNull(seconds), reason: text }),
  Key: object(key),
  KeyList: object({ keys: list(ref('Key')) }),
  NewKey: object({ ...key, key: { ...text, description: 'The key itself: keep it, it is shown only once.' } }),
  Rebuilds: object({ jobs: list(ref('Rebuild')) }),
  HacsRecord: object({ level: { ...text, description: "The level's id." }, location: { ...text, description: "The room's name." },
    timestamp: { ...whole, description: 'Epoch seconds.' }, staff_id: { ...text, description: 'Where several were asked for.' } }, ['staff_id']),
  HacsHistory: object({ location: list(ref('HacsRecord')) }),
  HacsError: object({ error: text, location: { type: 'array', maxItems: 0 } }),
  HacsLatest: object({ staff_id: text, level: text, location: text, timestamp: whole, rssi: whole, mac: text }),
  HacsMonitoring: object({ data: list(ref('HacsLatest')) }),
  SystemHealth: { ...object({ status: { type: 'string', enum: ['up', 'degraded'] }, version: text, uptime_s: number,
    parts: { type: 'object', additionalProperties: { type: 'object', required: ['status'],
      properties: { status: { type: 'string', enum: ['up', 'degraded'] }, reason: text, remedy: text }, additionalProperties: true } } }) },
};
