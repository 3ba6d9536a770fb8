'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createBodyCheck, createCheck } = require('../lib/http/checks');
const { createDescription, operationsOf } = require('../lib/http/v1/description');

// What a request asks is held to the description that is served.
const operations = operationsOf(createDescription('0'));
const bodyOf = (id) => createBodyCheck(operations.find((one) => one.id === id).body);
const refused = (work, message) => assert.throws(work, (error) => error.status === 400 && error.message.startsWith(message), message);
const none = new URLSearchParams();

test('every body of JSON that is described is checked, and what is missing is named', () => {
  const bodies = operations.filter(({ body }) => body?.required?.length > 0 && body.properties);
  assert.ok(bodies.length >= 5);
  for (const { id, body } of bodies) {
    if (['replaceBuilding', 'validateBuilding'].includes(id)) continue; // the building's own schema
    refused(() => createBodyCheck(body)(none, {}), `${body.required[0]} is missing`);
    refused(() => createBodyCheck(body)(none, [1]), 'the body must be a JSON object');
  }
});

test('query, form and JSON carry the same; text is a number where the description has one', () => {
  const check = bodyOf('newBeaconDetectByPost');
  const expected = { staff_id: '007', beacon_address: 'C2A628384B08', rssi: -20 };
  const { staff_id: staff, ...rest } = expected;
  assert.deepEqual({ ...check(new URLSearchParams({ ...expected }), undefined) }, expected);
  assert.deepEqual({ ...check(none, { ...expected, rssi: '-20' }) }, expected, 'of a staff id the zeros stay');
  assert.deepEqual({ ...check(new URLSearchParams({ staff_id: staff }), rest) }, expected);
  assert.deepEqual(check(none, { ...rest, user_address: '007' }).staff_id, '007');
  refused(() => check(none, { ...rest, user_address: 'a b' }), 'user_address must be 1 to 64 letters');
  refused(() => check(new URLSearchParams({ staff_id: staff }), expected), 'staff_id must be given once');
});

test('refused in words, with the name of the parameter', () => {
  const good = { staff_id: '7', start_time: 1, end_time: 2 };
  const extract = bodyOf('extractBeaconByPost');
  for (const [change, message] of [
    [{ start_time: true }, 'start_time is not a number'], [{ start_time: [1] }, 'start_time must be given once'],
    [{ start_time: -1 }, 'start_time must not be negative'], [{ end_time: 1e11 }, 'end_time looks like milliseconds'],
    [{ staff_id: `${'7,'.repeat(1000)}7` }, 'staff_id must be 1 to 64 letters, digits, "_", "." or "-", or the ids of 1000 staff members'],
    [{ staff_id: null }, 'staff_id is missing']]) refused(() => extract(none, { ...good, ...change }), message);
  const tap = bodyOf('addTap');
  assert.deepEqual({ ...tap(none, { room: '' }) }, { room: '', age_ms: 0 });
  for (const [body, message] of [[{ room: 'a b' }, 'room must be 1 to 64'], [{ room: 'a', age_ms: 'x' }, 'age_ms is not a number'],
    [{ room: 'a', age_ms: 1.5 }, 'age_ms must be a whole number from 0 to 3600000'], [{ room: 'a', tap: 5 }, 'tap must be 1 to 64']]) {
    refused(() => tap(none, body), message);
  }
  const list = createCheck(operations.find(({ id }) => id === 'listEvents').parameters);
  refused(() => list({}, new URLSearchParams('limit=1&limit=2')), 'limit must be given once');
});
