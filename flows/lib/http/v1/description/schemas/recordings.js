// @ts-check
'use strict';

const { count, id, list, ms, number, object, orNull, ref, text, yes } = require('./build');

const summary = {
  id, name: text, staff_id: id, by: { ...text, description: 'Who started it.' }, started_ms: ms,
  stopped_ms: { ...orNull(ms), description: 'null: it runs.' },
  stopped_because: { type: ['string', 'null'], enum: ['asked', 'time', 'full', null] },
  gateway_readings: { ...count, description: "Of the person's tags, by gateways." }, phone_readings: { ...count, description: "By the person's phone." },
  last_reading_ms: { ...orNull(ms), description: 'When the newest one arrived.' },
  lost_readings: { ...count, description: 'That the disk did not take.' },
  outside_readings: { ...count, description: 'With a time outside the recording: a wrong clock, or a backlog.' },
  bytes: count, taps_count: count, expires_ms: { ...ms, description: 'When it is deleted by itself.' },
};
const tap = object({ tap: id, ts: ms, room: { ...orNull(id), description: 'null: in no room.' } });

const proposal = object({
  kind: { type: 'string', enum: ['gateway', 'beacon', 'staff'] }, id, field: { type: 'string', enum: ['rssi_offset', 'tx', 'tag_tx'] },
  from: { ...orNull(number), description: 'What the building file says; null: nothing.' },
  was: { ...number, description: 'What counted until now.' }, to: number, readings: count, visits: count,
});
const roomScore = object({ room: id, seconds: count, before: count, after: { ...count, description: 'As `left_out`.' } });

module.exports = {
  Calibration: object({
    verdict: { type: 'string', enum: ['better', 'no_gain', 'too_little'] }, reason: text,
    visits: { ...count, description: 'Of rooms.' }, seconds: { ...count, description: 'In them, which are scored.' },
    before: { ...count, description: 'Seconds in the right room, with the building file of the walk.' },
    left_out: { ...count, description: 'The same for each visit with what the others taught: what to expect of another walk.' },
    same_walk: { ...count, description: 'The same with all that is proposed, on the walk that taught it.' },
    with_plan: { ...orNull(count), description: 'Seconds in the right room without proposals, where the measured plan advises; null: no position is measured.' },
    rooms: list(roomScore), proposals: list(proposal),
    is_as_walked: { ...yes, description: 'Whether the building is as it was when the walk began; else nothing is taken over.' },
  }),
  Recording: object({ ...summary, taps: list(tap) }),
  RecordingSummary: object(summary),
  RecordingList: object({ recordings: list(ref('RecordingSummary')) }),
  RecordingFiles: object({ name: text, files: { type: 'object', additionalProperties: text } }),
};
