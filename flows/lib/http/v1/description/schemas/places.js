// @ts-check
'use strict';

const { count, id, list, ms, next, number, object, orNull, ref, seconds, past, text, yes } = require('./build');

const level = { level: id, name: text, width_m: number, height_m: number, count: { ...count, description: 'People there now.' } };
const room = {
  level: id, room: id, name: text, limit: { ...orNull(count), description: 'More people are crowded.' },
  count: { ...count, description: 'People there now.' }, crowded: yes, people: list(ref('Here')),
};

module.exports = {
  Level: object({ ...level, rooms: list(id) }),
  LevelList: object({ levels: list(ref('Level')) }),
  LevelNow: object({ ...level, rooms: list(ref('Room')) }),
  Room: object(room),
  RoomList: object({ rooms: list(ref('Room')), next }),
  RoomDetail: object({ ...room,
    listed: { ...yes, description: 'Whether the building file still has this room.' },
    polygon: { ...orNull(list(list(number))), description: 'Corners [x, y] in metres on its level.' } }),
  Visit: object({ staff_id: id, enter_ms: ms, leave_ms: ms, duration_s: seconds, ongoing: yes,
    in_window_s: { ...seconds, description: 'Of it within the window, seconds.' } }),
  Visits: object({ room: id, name: text, ...past, visits: list(ref('Visit')), next }),
  Patrol: object({ level: id, room: id, name: text, last_ms: orNull(ms), staff_id: orNull(id), ongoing: yes,
    age_s: { ...orNull(seconds), description: 'From then to the end of the window, seconds.' } }),
  Patrols: object({ ...past, patrols: list(ref('Patrol')) }),
  RoomRank: object({ level: id, room: id, name: text, visits: count, time_s: { ...seconds, description: 'Person-seconds.' },
    staff: { ...count, description: 'Different people.' } }),
  RoomRanking: object({ ...past, rooms: list(ref('RoomRank')) }),
};
