// @ts-check
'use strict';

const { count, id, list, ms, next, object, orNull, ref, seconds, span, text, whole, yes } = require('./build');

const state = { type: 'string', enum: ['present', 'stale', 'lost'] };
const here = { staff_id: id, since: ms, ts: ms, state };
const stay = { level: id, room: id, enter_ms: ms, leave_ms: { ...ms, description: 'While it goes on: when last heard.' },
  duration_s: seconds, ongoing: yes };

module.exports = {
  Presence: object({ level: id, room: id, since: ms, ts: { ...ms, description: 'When last heard, epoch ms.' }, state }),
  Here: object(here),
  Staff: object({
    staff_id: id,
    name: orNull(text),
    listed: { ...yes, description: 'Whether the building file lists this person.' },
    tags: list(id),
    presence: { ...orNull(ref('Presence')), description: 'null: not heard within the last quarter of an hour.' },
  }),
  StaffList: object({ staff: list(ref('Staff')), next }),
  Location: object({ ts: ms, level: id, room: id, beacon: { ...text, description: 'The one heard best of the room.' },
    rssi: { ...whole, description: 'dBm' } }),
  Locations: object({ staff_id: id, ...span, locations: list(ref('Location')), next }),
  Stay: object(stay),
  Stays: object({ staff_id: id, ...span, stays: list(ref('Stay')), next }),
  StayOf: object({ staff_id: id, ...stay }),
  StaysOfSeveral: object({ ...span, stays: list(ref('StayOf')), next }),
  Meeting: object({ level: id, room: id, start_ms: ms, end_ms: ms, duration_s: seconds }),
  Contact: object({ staff_id: id, name: orNull(text), total_s: { ...seconds, description: 'Sum of all meetings, seconds.' },
    longest_s: { ...seconds, description: 'The longest meeting, seconds.' }, meetings: list(ref('Meeting')) }),
  Contacts: object({ staff_id: id, ...span, count: { ...count, description: 'How many there are, told or not.' }, contacts: list(ref('Contact')) }),
  StaffRank: object({ staff_id: id, name: orNull(text), visits: count, time_s: seconds, rooms: { ...count, description: 'Different rooms.' } }),
  StaffRanking: object({ ...span, staff: list(ref('StaffRank')) }),
};
