// @ts-check
'use strict';

const { STATES } = require('../../../../alerts/alert-list');
const { count, id, list, ms, next, number, object, orNull, ref, text } = require('./build');

const severity = { type: 'string', enum: ['critical', 'warning'] };
const since = { ...number, description: 'When it began, as far as is known, epoch ms.' };

module.exports = {
  Alert: object({ id: text, kind: text, subject: id, severity, since, raised_ms: ms, ended_ms: orNull(ms),
    changed_ms: { ...ms, description: 'When it was raised, or its end was noticed.' },
    text, todo: text, level: orNull(id), room: orNull(id), acknowledged: orNull(object({ by: text, ts: ms })) }),
  Alerts: object({ alerts: list(ref('Alert')), open: count, dropped: count, next }),
  AlertGroup: object({ kind: text, severity, state: { type: 'string', enum: STATES }, count,
    since: { ...number, description: 'When the first of them began, epoch ms.' },
    changed_ms: { ...ms, description: 'When the last of them was raised, or its end was noticed: the `until` of an acknowledgement.' },
    todo: { ...orNull(text), description: 'What to do about all of them; null: it differs.' },
    levels_count: count, levels: { ...list(object({ level: id, count })), description: 'Those with most.' },
    rooms_count: count, rooms: { ...list(object({ level: orNull(id), room: id, count })), description: 'Those with most.' },
    alerts: { ...list(ref('Alert')), description: 'The newest five.' } }),
  AlertGroups: object({ groups: list(ref('AlertGroup')), open: count, dropped: count }),
  AlertsAcknowledged: object({ acknowledged: count }),
};
