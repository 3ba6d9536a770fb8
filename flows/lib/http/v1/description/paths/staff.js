// @ts-check
'use strict';

const { ID, limit, query, use, window } = require('../parameters');
const { answers } = require('../responses');

const TAG = ['Staff'];
const EACH = ID.source.slice(1, -1);
const SEVERAL = query('staff_id', 'Only of these: one id, or up to 200 with commas between them.',
  { type: 'string', pattern: `^${EACH}(?:,${EACH}){0,199}$` });

const DOUBTFUL = query('doubtful', '`1`: only those of which the room is `probably` theirs, or was `corrected`.',
  { type: 'string', enum: ['0', '1', 'true', 'false'] });

/** So long an answer may wait for somebody new, ms. */
const LONGEST_WAIT_MS = 1000;

module.exports = {
  '/api/v1/people/known': {
    get: {
      operationId: 'listKnownPeople', tags: TAG, 'x-right': 'history', 'x-audited': false, summary: 'Who has a past here, or is about to',
      description: 'For an entry to several sites, which asks this one about nobody else. Whoever any answer about the past may be about is '
        + 'among them before that answer can be given; none of them is taken out while the part of `version` before the dot stays. With '
        + '`after` only who came since, and the answer waits for them for `wait_ms` at most. 503 while it cannot be said: after a start, and while a time is being located in which '
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
