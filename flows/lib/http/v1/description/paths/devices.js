// @ts-check
'use strict';

const { ID, limit, query, use, window } = require('../parameters');
const { answers } = require('../responses');

const BEACONS = ['Beacons'];
const GATEWAYS = ['Gateways'];
const TYPES = ['enter', 'leave', 'lost', 'crowded', 'gateway_down', 'gateway_up', 'battery_low', 'battery_ok'];

module.exports = {
  '/api/v1/beacons': {
    get: {
      operationId: 'listBeacons', tags: BEACONS, 'x-right': 'presence', summary: 'The beacons and tags, with what they last measured',
      parameters: [limit(1000, 10_000), use('cursor')],
      responses: answers('The beacons, by id.', 'BeaconList'),
    },
  },
  '/api/v1/beacons/{beacon}': {
    get: {
      operationId: 'getBeacon', tags: BEACONS, 'x-right': 'presence', summary: 'One beacon or tag, with what it last measured',
      parameters: [use('beacon')],
      responses: answers('The beacon.', 'Beacon', { known: true }),
    },
  },
  '/api/v1/beacons/{beacon}/telemetry': {
    get: {
      operationId: 'listTelemetry', tags: BEACONS, 'x-right': 'presence', summary: 'Battery, temperature and humidity over a time',
      description: 'Raw values are kept for 7 days, those of each minute for 400. A minute is the mean of what each receiver heard in it (its '
        + 'own mean), an hour the mean of its minutes; both are there when they are over, if their beginning lies in the window. What '
        + 'arrives late moves a minute: within a quarter of an hour for the last two hours, within a day for the last seven days.',
      parameters: [use('beacon'), ...window,
        query('every', 'One point for each reading, minute or hour.', { type: 'string', enum: ['raw', 'minute', 'hour'], default: 'minute' }),
        limit(1000, 50_000), use('cursor')],
      responses: answers('The points.', 'Telemetry', { known: true }),
    },
  },
  '/api/v1/gateways': {
    get: {
      operationId: 'listGateways', tags: GATEWAYS, 'x-right': 'presence', summary: 'The gateways, with their state and newest figures',
      description: 'Those of the building file and others from which something came, by id.',
      parameters: [limit(1000, 10_000), use('cursor')],
      responses: answers('The gateways.', 'GatewayList'),
    },
  },
  '/api/v1/gateways/{gateway}': {
    get: {
      operationId: 'getGateway', tags: GATEWAYS, 'x-right': 'presence', summary: 'One gateway, with its state and newest figures',
      parameters: [use('gateway')],
      responses: answers('The gateway.', 'Gateway', { known: true }),
    },
  },
  '/api/v1/gateways/{gateway}/health': {
    get: {
      operationId: 'listGatewayHealth', tags: GATEWAYS, 'x-right': 'presence', summary: 'The figures of a gateway over a time',
      description: 'Oldest first.',
      parameters: [use('gateway'), ...window, limit(1000, 10_000), use('cursor')],
      responses: answers('The figures.', 'HealthPoints', { known: true }),
    },
  },
  '/api/v1/gateways/{gateway}/status': {
    get: {
      operationId: 'listGatewayStatus', tags: GATEWAYS, 'x-right': 'presence', summary: 'When a gateway came and went',
      description: 'Oldest first.',
      parameters: [use('gateway'), ...window, limit(1000, 10_000), use('cursor')],
      responses: answers('What it, or its last will, said.', 'Statuses', { known: true }),
    },
  },
  '/api/v1/events': {
    get: {
      operationId: 'listEvents', tags: ['Events'], 'x-right': 'history', summary: 'What happened',
      description: 'Newest first.',
      parameters: [...window, query('type', 'Only of this type.', { type: 'string', enum: TYPES }),
        query('subject', 'Only about this staff member, room, gateway or beacon.', { type: 'string', pattern: ID.source }),
        limit(25, 1000), use('cursor')],
      responses: answers('The events.', 'Events'),
    },
  },
};
