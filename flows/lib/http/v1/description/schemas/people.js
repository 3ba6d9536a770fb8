// @ts-check
'use strict';

const { count, id, list, ms, next, number, object, orNull, ref, seconds, past, text, whole, yes } = require('./build');

const { PROBABLE_BELOW } = require('../../../../shared/probable');

const state = { type: 'string', enum: ['present', 'stale', 'lost'] };
const share = { ...number, minimum: 0, maximum: 1 };
const sureness = {
  probability: { ...orNull(share), description: 'That they are in this room, two decimals; null: not known, of what an earlier version located.' },
  probably: { ...yes, description: `Whether to say that they are *probably* there: the probability is below ${PROBABLE_BELOW}.` },
  runner_up: { ...orNull(id), description: 'The likeliest other room; null: none, or not known.' },
};
const here = { staff_id: id, ...sureness, since: ms, ts: ms, state };
const stay = { level: id, room: id, enter_ms: ms, leave_ms: { ...ms, description: 'While it goes on: when last heard.' },
  duration_s: seconds, ongoing: yes };
const levelDb = { ...orNull(number), description: 'How much stronger (negative: weaker) than calibrated their tag or phone is, dB, as it was learned.' };
const levelSdDb = { ...orNull(number), description: 'Standard deviation of that, dB.' };

module.exports = {
  Presence: object({ level: id, room: id, ...sureness, since: ms, ts: { ...ms, description: 'When last heard, epoch ms.' }, state }),
  Here: object(here),
  Staff: object({
    staff_id: id,
    name: orNull(text),
    listed: { ...yes, description: 'Whether the building file lists this person.' },
    tags: list(id),
    presence: { ...orNull(ref('Presence')), description: 'null: not heard within the last quarter of an hour.' },
    level_db: levelDb,
    level_sd_db: levelSdDb,
  }),
  KnownPeople: object({
    version: { ...text, description: 'The next `after`.' },
    whole: { ...yes, description: 'Whether `staff` is all of them; else who came since `after`.' },
    staff: { ...list(id), description: 'In no order.' },
    known_until_ms: { ...ms, description: 'Up to here there is nothing of anybody who is not among them.' },
  }),
  StaffList: object({ staff: list(ref('Staff')), next }),
  Trace: object({
    staff_id: id,
    ts: { ...orNull(ms), description: 'Of the newest reading; null: not heard within the last quarter of an hour.' },
    room: { ...orNull(id), description: 'Where they are said to be.' },
    rooms: { ...list(object({ room: id, level: id, probability: share })), description: 'The likeliest, at most five, the likeliest first.' },
    heard: { ...list(ref('TraceHeard')), description: 'What is remembered of each gateway or beacon, the strongest first.' },
    level_db: levelDb,
    level_sd_db: levelSdDb,
    change: { ...orNull(object({ room: id, lead_nats: { ...number, description: 'By how much it is likelier (negative: less likely), natural log of the odds.' },
      needed_nats: { ...number, description: 'Above this they are said to be there: 0.' } })),
      description: 'The likeliest other room; null: there is none.' },
  }),
  TraceHeard: object({
    id: { ...id, description: 'A gateway that hears their tag, or a beacon that their phone hears.' },
    room: { ...id, description: 'Where it stands.' },
    rssi: { ...number, description: 'Mean level, corrected by `tx` and `rssi_offset`, dBm.' },
    readings: { ...number, minimum: 0, description: 'Of how many readings; older ones count less.' },
    age_s: { ...seconds, description: 'Age of its newest reading at `ts`, seconds.' },
    expected: { ...list(orNull(number)), description: 'How strong it should be at the best place of each of `rooms` by the measured plan, dBm, in their order; null: the plan does not say.' },
  }),
  Location: object({ ts: ms, level: id, room: id, ...sureness,
    corrected: { ...orNull(yes), description: 'Whether history replaced the room that was said of this second live; null: not known.' }, beacon: { ...text, description: 'The one heard best of the room.' },
    rssi: { ...whole, description: 'dBm' } }),
  Locations: object({ staff_id: id, ...past, locations: list(ref('Location')), next }),
  Stay: object(stay),
  Stays: object({ staff_id: id, ...past, stays: list(ref('Stay')), next }),
  StayOf: object({ staff_id: id, ...stay }),
  StaysOfSeveral: object({ ...past, stays: list(ref('StayOf')), next }),
  Meeting: object({ level: id, room: id, start_ms: ms, end_ms: ms, duration_s: seconds }),
  Contact: object({ staff_id: id, name: orNull(text), total_s: { ...seconds, description: 'Sum of all meetings, seconds.' },
    longest_s: { ...seconds, description: 'The longest meeting, seconds.' }, meetings: list(ref('Meeting')) }),
  Contacts: object({ staff_id: id, ...past, count: { ...count, description: 'How many there are, listed or not.' }, contacts: list(ref('Contact')) }),
  StaffRank: object({ staff_id: id, name: orNull(text), visits: count, time_s: seconds, rooms: { ...count, description: 'Different rooms.' } }),
  StaffRanking: object({ ...past, staff: list(ref('StaffRank')) }),
};
