// @ts-check
'use strict';

const { count, id, list, ms, object, orNull, ref, text } = require('./build');

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

module.exports = {
  Recording: object({ ...summary, taps: list(tap) }),
  RecordingSummary: object(summary),
  RecordingList: object({ recordings: list(ref('RecordingSummary')) }),
  RecordingFiles: object({ name: text, files: { type: 'object', additionalProperties: text } }),
};
