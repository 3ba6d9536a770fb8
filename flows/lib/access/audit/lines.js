// @ts-check
'use strict';

const { createHash } = require('node:crypto');
const { writtenName } = require('./gather');
const { compact } = require('./subjects');

/**
 * The lines of the audit log, JSON each. Many people are written once a day as a set, `{"set":…,"subjects":…}`, and named by it
 * in the lines after it: a poll of everybody asks for the same ones every minute.
 * @typedef {import('./gather').Gathered} Gathered
 */

/** So many entries stand in a line itself. */
const INLINE = 20;
/** Sets that are remembered to compare with; one more forgets the oldest, which is then written again. */
const SETS_MAX = 64;

function createLines() {
  /** @type {Map<string, {ids: Set<string>, name: string}>} by caller and route */
  let last = new Map();
  /** @type {Set<string>} written today */
  let written = new Set();

  /**
   * @param {Gathered} entry
   * @returns {{fields: object, set: string}} set: the line to be written before, if any
   */
  function fieldsOf({ who, route, subjects }) {
    if (subjects === null) return { fields: { subjects: '*' }, set: '' };
    const mark = `${writtenName(who)} ${route}`;
    const known = last.get(mark);
    if (known && same(known.ids, subjects)) return { fields: { subjects_set: known.name, subjects_count: subjects.size }, set: '' };
    const entries = compact(subjects);
    if (entries.length <= INLINE) return { fields: { subjects: entries }, set: '' };
    const text = JSON.stringify(entries);
    const name = createHash('sha256').update(text).digest('hex').slice(0, 16);
    last.delete(mark);
    last.set(mark, { ids: subjects, name });
    if (last.size > SETS_MAX) last.delete(/** @type {string} */ (last.keys().next().value));
    const fresh = !written.has(name);
    written.add(name);
    return { fields: { subjects_set: name, subjects_count: subjects.size }, set: fresh ? `{"set":"${name}","subjects":${text}}\n` : '' };
  }

  return {
    /** One look-up, or many that were gathered. @param {Gathered} entry @param {number} ts */
    lookup(entry, ts) {
      const { who, route, fromMs, toMs, count, sinceMs } = entry;
      const { fields, set } = fieldsOf(entry);
      return set + line({ ts, kind: 'lookup', who: writtenName(who), key: who.keyId, address: who.address, route, ...fields,
        from_ms: fromMs, to_ms: toMs, count, ...(count > 1 ? { since_ms: sinceMs } : {}) });
    },
    /**
     * Something an admin did.
     * @param {string} kind
     * @param {import('./gather').Who|null} who null: by hand, in a file
     * @param {string} about
     * @param {number} ts
     */
    adminAction(kind, who, about, ts) {
      const { keyId = null, address = null } = who ?? {};
      return line({ ts, kind, who: who && writtenName(who), key: keyId, address, about });
    },
    /** Another file begins: every set must be written again before it is named. */
    newFile() {
      last = new Map();
      written = new Set();
    },
  };
}

/** @param {Set<string>} a @param {Set<string>} b */
function same(a, b) {
  if (a.size !== b.size) return false;
  for (const id of a) if (!b.has(id)) return false;
  return true;
}

/** @param {object} data */
const line = (data) => `${JSON.stringify(data)}\n`;

module.exports = { createLines };
