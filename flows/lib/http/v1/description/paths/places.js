// @ts-check
'use strict';

const { limit, use, window } = require('../parameters');
const { answers } = require('../responses');

const TAG = ['Rooms and levels'];

module.exports = {
  '/api/v1/levels': {
    get: {
      operationId: 'listLevels', tags: TAG, 'x-right': 'presence', summary: 'The levels, with how many people are there now',
      responses: answers('The levels, in the order of the building file.', 'LevelList'),
    },
  },
  '/api/v1/levels/{level}': {
    get: {
      operationId: 'getLevel', tags: TAG, 'x-right': 'presence', summary: 'One level, with who is in its rooms now',
      parameters: [use('level_id')],
      responses: answers('The level.', 'LevelNow', { known: true }),
    },
  },
  '/api/v1/rooms': {
    get: {
      operationId: 'listRooms', tags: TAG, 'x-right': 'presence', summary: 'The rooms, with who is in them now',
      description: 'By id. Who is stale still counts, who is lost does not.',
      parameters: [use('level'), limit(1000, 10_000), use('cursor')],
      responses: answers('The rooms.', 'RoomList'),
    },
  },
  '/api/v1/rooms/{room}': {
    get: {
      operationId: 'getRoom', tags: TAG, 'x-right': 'presence', summary: 'One room, with who is in it now',
      parameters: [use('room')],
      responses: answers('The room.', 'RoomDetail', { known: true }),
    },
  },
  '/api/v1/rooms/{room}/visits': {
    get: {
      operationId: 'listVisits', tags: TAG, 'x-right': 'history', summary: 'The visits of a room that touch a time',
      description: 'The latest to enter first. Who leaves and comes back has visited twice.',
      parameters: [use('room'), ...window, limit(1000, 10_000), use('cursor')],
      responses: answers('The visits.', 'Visits', { known: true }),
    },
  },
  '/api/v1/patrols': {
    get: {
      operationId: 'listPatrols', tags: TAG, 'x-right': 'history', summary: 'When each room was last patrolled, and who did',
      description: 'The latest moment of the window at which anybody was in the room who stayed for at least `least_s`; `null`: nobody.',
      parameters: [...window, use('level'), use('least_s')],
      responses: answers('Every room, in the order of the building file.', 'Patrols'),
    },
  },
  '/api/v1/rankings/rooms': {
    get: {
      operationId: 'rankRooms', tags: ['Rankings'], 'x-right': 'history', summary: 'The rooms with the most visits or the most time',
      parameters: [...window, use('by'), limit(10, 1000)],
      responses: answers('The rooms.', 'RoomRanking'),
    },
  },
  '/api/v1/rankings/staff': {
    get: {
      operationId: 'rankStaff', tags: ['Rankings'], 'x-right': 'history', summary: 'The staff members with the most visits or the most time',
      parameters: [...window, use('by'), limit(10, 1000)],
      responses: answers('The staff members.', 'StaffRanking'),
    },
  },
};
