// @ts-check
'use strict';

const { STATES } = require('../../../../alerts/alert-list');
const { ID, limit, query, TIME, use: shared } = require('../parameters');
const { answers, COMMON, use } = require('../responses');

const tags = ['Alerts'];
const LOOK = ['presence', 'admin'];
const KIND = { type: 'string', pattern: '^[a-z_]+$' };
const state = query('state', '`open`: active, and nobody has acknowledged it; `acknowledged`: active, and somebody has; `ended`: over, and nobody '
  + 'had acknowledged it.', { type: 'string', enum: STATES });

/** @param {string} description @param {string} schema */
const answered = (description, schema) => ({
  200: { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } }, ...COMMON, 404: use('NotFound'),
});

module.exports = {
  '/api/v1/alerts': {
    get: { operationId: 'listAlerts', tags, 'x-right': LOOK, summary: 'What is amiss, one by one',
      parameters: [query('kind', 'Only of this kind.', KIND), state, limit(1000, 10_000), shared('cursor')],
      responses: answers('What goes on first, then what is critical, then the newest.', 'Alerts') },
  },
  '/api/v1/alerts/kinds': {
    get: { operationId: 'listAlertKinds', tags, 'x-right': LOOK, summary: 'What is amiss, by kind',
      description: 'Short however many there are: each group has its number, its places, and the newest five alerts.',
      responses: answers('What is open first, then what is critical, then the newest.', 'AlertGroups') },
  },
  '/api/v1/alerts/{alert}/acknowledge': {
    post: { operationId: 'acknowledgeAlert', tags, 'x-right': 'admin', summary: 'Somebody has seen it',
      parameters: [{ name: 'alert', in: 'path', required: true, description: 'Its id, `<kind>:<subject>`.', schema: { type: 'string', pattern: `^[a-z_]+:${ID.source.slice(1)}` } }],
      responses: answered('The alert.', 'Alert') },
  },
  '/api/v1/alerts/kinds/{kind}/acknowledge': {
    post: { operationId: 'acknowledgeAlerts', tags, 'x-right': 'admin', summary: 'Somebody has seen all of a kind',
      description: 'As often as one likes: those that somebody has acknowledged stay as they are. It is written to the audit log.',
      parameters: [{ name: 'kind', in: 'path', required: true, description: 'Such as `sda_lost`.', schema: KIND }, state,
        query('until', 'Only what was raised, or noticed to have ended, until then (`changed_ms` of the group that was seen, included): RFC 3339, '
          + 'or epoch seconds. Without it: all.', TIME)],
      responses: answered('How many nobody had acknowledged before.', 'AlertsAcknowledged') },
  },
};
