// @ts-check
'use strict';

/**
 * Figures of keys, limits, host names and the audit log.
 * @param {{audit: Pick<import('../../access/audit').Audit, 'counters'>, limits: {refused: () => number}, hosts: {refused: () => number},
 *   keys: Pick<import('../../access/keys').Keys, 'records'>}} deps
 * @returns {import('./figures').Figure[]}
 */
const accessFigures = ({ audit, limits, keys, hosts }) => [
  { name: 'audit_lookups', kind: 'counter', help: 'Look-ups of history', read: () => audit.counters().lookups },
  { name: 'audit_lines', kind: 'counter', help: 'Lines in the audit log', read: () => audit.counters().lines },
  { name: 'audit_dropped', kind: 'counter', help: 'Lines that the audit log has lost', read: () => audit.counters().dropped },
  { name: 'audit_waiting_bytes', kind: 'gauge', help: 'Lines that wait for the disk', read: () => audit.counters().waiting_bytes },
  { name: 'http_limited', kind: 'counter', help: 'Requests above the limit of their caller', read: limits.refused },
  { name: 'http_misdirected', kind: 'counter', help: 'Requests under a host name that is not answered', read: hosts.refused },
  { name: 'keys', kind: 'gauge', help: 'Named keys', read: () => keys.records().length },
  { name: 'key_expiry_timestamp_s', kind: 'gauge', label: 'key', flat: 'none', help: 'When a key expires, epoch seconds; without those that never do',
    read: () => expiries(keys.records()) },
];

/** @param {import('../../access/keys/ring').KeyRecord[]} records */
const expiries = (records) => Object.fromEntries(records.flatMap(({ name, expires_ms: ms }) => (ms === null ? [] : [[name, ms / 1000]])));

module.exports = { accessFigures };
