// @ts-check
'use strict';

const { PROBABLE_BELOW } = require('../../../shared/probable');
const {
  ID, answers, count, id, limit, list, ms, next, number, object, orNull, past, query, ref, seconds, text, use, whole, window, yes,
} = require('./parts');

const TAG = ['Staff'];
const EACH = ID.source.slice(1, -1);
const SEVERAL = query('staff_id', 'Only of these: one id, or up to 200 with commas between them.',
  { type: 'string', pattern: `^${EACH}(?:,${EACH}){0,199}$` });

const DOUBTFUL = query('doubtful', '`1`: only those of which the room is `probably` theirs, or was `corrected`.',
  { type: 'string', enum: ['0', '1', 'true', 'false'] });

/** So long an answer may wait for somebody new, ms. */
const LONGEST_WAIT_MS = 1000;

const staffPaths = {
  '/api/v1/people/known': {
    get: {
      operationId: 'listKnownPeople', tags: TAG, 'x-right': 'history', 'x-audited': false, summary: 'Who has a past here, or is about to',
      description: 'For an entry to several sites, which asks no more of this one. Whoever any answer about the past may be about is among them before '
        + 'that answer can be given; none of them is taken out while the part of `version` before the dot stays. With `after` only who came since, and '
        + 'the answer waits for them for `wait_ms` at most. 503 while it cannot be said: after a start, and while a time is being located in which '
        + 'somebody new may be found. It has no times and no places, and is not written to the audit log.',
      parameters: [query('after', 'The `version` of the answer before.', { type: 'string', pattern: '^[0-9a-f]{1,64}\\.[0-9]{1,12}$' }),
        query('wait_ms', 'How long to wait for somebody new.', { type: 'integer', minimum: 0, maximum: LONGEST_WAIT_MS, default: 0 })],
      responses: answers('The staff ids.', 'KnownPeople'),
    },
  },
  '/api/v1/staff': {
    get: {
      operationId: 'listStaff', tags: TAG, 'x-right': 'presence', summary: 'Everybody, with where they are now',
      description: 'Who is listed in the building file or was heard within the last quarter of an hour, by id.',
      parameters: [limit(1000, 10_000), use('cursor')],
      responses: answers('The staff members.', 'StaffList'),
    },
  },
  '/api/v1/staff/{staff_id}': {
    get: {
      operationId: 'getStaff', tags: TAG, 'x-right': 'presence', summary: 'One staff member, with where they are now',
      parameters: [use('staff_id')],
      responses: answers('The staff member.', 'Staff', { known: true }),
    },
  },
  '/api/v1/staff/{staff_id}/trace': {
    get: {
      operationId: 'getTrace', tags: TAG, 'x-right': 'admin', 'x-audited': true, summary: 'Why somebody is said to be where they are',
      description: 'The belief by room, what is remembered of each receiver that heard them against what should be heard there, and what a change of '
        + 'the room still lacks. Of who was not heard within the last quarter of an hour: `ts` null and empty lists. Each look-up is written to the audit log.',
      parameters: [use('staff_id')],
      responses: answers('What the locator goes by.', 'Trace', { known: true }),
    },
  },
  '/api/v1/staff/{staff_id}/locations': {
    get: {
      operationId: 'listLocations', tags: TAG, 'x-right': 'history', summary: 'Where somebody was, moment by moment',
      description: 'Oldest first. A room of history is `corrected` where it replaced, some seconds later, what was said of that second live.',
      parameters: [use('staff_id'), DOUBTFUL, ...window, limit(1000, 10_000), use('cursor')],
      responses: answers('The locations.', 'Locations', { known: true }),
    },
  },
  '/api/v1/staff/{staff_id}/stays': {
    get: {
      operationId: 'listStays', tags: TAG, 'x-right': 'history', summary: 'The stays of somebody that touch a time',
      description: 'Oldest first, whole: a stay that began before the window has its true beginning.',
      parameters: [use('staff_id'), ...window, limit(1000, 10_000), use('cursor')],
      responses: answers('The stays.', 'Stays', { known: true }),
    },
  },
  '/api/v1/stays': {
    get: {
      operationId: 'searchStays', tags: TAG, 'x-right': 'history', summary: 'The stays of several people, or on a level, that touch a time',
      description: 'By the time of entering, then staff member; whole, as those of one staff member are. Without `staff_id` and `level`: all of them.',
      parameters: [SEVERAL, use('level'), ...window, limit(1000, 10_000), use('cursor')],
      responses: answers('The stays.', 'StaysOfSeveral'),
    },
  },
  '/api/v1/staff/{staff_id}/contacts': {
    get: {
      operationId: 'listContacts', tags: TAG, 'x-right': 'history', summary: 'Who was in the same room at the same time',
      description: 'Longest time together first. A meeting is an unbroken time together in one room, cut to the window.',
      parameters: [use('staff_id'), ...window, use('least_s'), limit(100, 1000)],
      responses: answers('The contacts.', 'Contacts', { known: true }),
    },
  },
};

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

const peopleSchemas = {
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

module.exports = { staffPaths, peopleSchemas };
