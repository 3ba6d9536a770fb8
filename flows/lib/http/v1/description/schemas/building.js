// @ts-check
'use strict';

const { count, id, list, ms, object, orNull, ref, text, whole, yes } = require('./build');

const open = { type: 'object' };
const counted = object({ added: count, removed: count, changed: count });
const fault = object({ pointer: { ...text, description: 'JSON pointer into the file; empty: all of it.' }, reason: text });
const faults = { faults_count: count, faults: list(fault) };
const warnings = { warnings_count: count, warnings: { ...list(fault), description: 'What an earlier version took and a new edit may not bring.' } };
const version = { version: whole, ts: ms, by: orNull(text), how: { type: 'string', enum: ['start', 'file', 'edit', 'import', 'restore', 'calibration'] },
  of: orNull(whole), changes: ref('Changes') };
const written = { version: orNull(whole), in_use: orNull(yes), set_aside: { ...orNull(text), description: 'Where a file with faults, which was overwritten, is now.' } };
const row = object({ line: whole, text, kind: text, reason: text });
const taken = { added: list(id), unchanged: list(id), refused_count: count, refused: list(row) };
const fresh = { ...yes, description: 'Made by this list.' };
const madeLevel = object({ id, name: text, fresh, schematic: { ...yes, description: 'Its rooms are tiles.' },
  rooms: list(object({ id, name: text, fresh, beacons: count })) });

module.exports = {
  Building: { ...object({ building: text, levels: list(open), beacons: list(open), gateways: list(open), staff: list(open) }),
    additionalProperties: true, description: 'As `flows/building/building.schema.json` describes it.' },
  Changes: object({ levels: counted, rooms: counted, beacons: counted, gateways: counted, staff: counted,
    other: { ...yes, description: "The building's name, or the order of something." } }),
  BuildingChange: object({ ...written, changes: ref('Changes') }),
  BuildingCheck: object({ valid: yes, ...faults, ...warnings }, ['warnings_count', 'warnings']),
  BuildingFaults: object({ error: text, ...faults }, ['faults_count', 'faults']),
  BeaconImport: object({ ...taken, ...written }),
  BuildingFromList: object({ building: { ...text, description: 'Its name.' }, new: { ...yes, description: 'Nothing of before stays but staff.' },
    levels: { ...list(madeLevel), description: 'Lowest first.' }, ...taken,
    notes: { ...list(text), description: 'What looks odd and was taken as it stands.' }, ...written }),
  PlanPicture: object({ plan: text }),
  BuildingVersions: object({ current: orNull(whole), dropped: count, ...faults, ...warnings, versions: list(object(version)) },
    ['warnings_count', 'warnings']),
  BuildingVersion: object({ ...version, restoring: ref('Changes'), building: ref('Building') }),
  Me: object({ name: text, kind: { type: 'string', enum: ['key', 'login', 'trusted'] }, rights: list(text),
    read_only: { ...yes, description: 'A viewer, who changes nothing.' } }),
  Strangers: object({
    beacons: list(object({ beacon: id, first_ms: ms, heard_ms: ms, kind: { type: 'string', enum: ['gateway', 'phone'] }, receiver: id,
      rssi: whole, count })),
    gateways: list(object({ gateway: id, state: text, since: orNull(ms), reading_ms: orNull(ms) })),
  }),
};
