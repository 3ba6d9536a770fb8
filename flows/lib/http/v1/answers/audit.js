// @ts-check
'use strict';

const { readAudit, sizeOfSubjects: size } = require('../../../access');
const { badRequest } = require('../../../shared/api-error');

/**
 * `/api/v1/audit`: who looked up whose history, for admins. Reading it is written down too.
 * @typedef {import('../../../access/audit').Audit} Audit
 */

/** Of a look-up of many so many people are listed, with their number; the file has all of them. */
const LISTED = 100;

/**
 * @param {{audit: Pick<Audit, 'folder'|'settle'|'adminAction'>}} context
 * @returns {Record<string, import('.').Answer>}
 */
const createAuditAnswers = ({ audit }) => ({
  async listAudit({ params: { who, subject }, window, after, limit, caller, next }) {
    const place = after && placeOf(after.id);
    if (place) await audit.settle();
    else { // the pages of one question are one reading
      const asked = [['who', who], ['subject', subject]].filter(([, value]) => value !== undefined).map((pair) => pair.join(' '));
      const time = `${new Date(window.fromMs).toISOString()} to ${new Date(window.toMs).toISOString()}`;
      await audit.adminAction('audit_read', caller, [time, ...asked].join(', '));
    }
    const { entries, next: further } = await readAudit(audit.folder, { ...window, who, subject }, place, limit);
    return {
      start_ms: window.fromMs, end_ms: window.toMs, entries: entries.map(answerOf),
      next: next(further && { ts: 0, id: `${further.day} ${further.offset}`, same: 0 }),
    };
  },
});

/** @param {import('../../../access/audit-read').Entry} entry */
function answerOf({ subjects, subjects_count: _count, ...rest }) {
  if (subjects === undefined) return rest;
  return { ...rest, subjects: subjects === '*' ? subjects : subjects.slice(0, LISTED), subjects_count: size(subjects) };
}

/** @param {string} id of a cursor @returns {import('../../../access/audit-read').Place} */
function placeOf(id) {
  const match = /^(\d{4}-\d{2}-\d{2}) (\d{1,12})$/.exec(id);
  if (!match) throw badRequest('cursor is none of ours: take what the answer before gave as "next"');
  return { day: match[1] ?? '', offset: Number(match[2]) };
}

module.exports = { createAuditAnswers };
