// @ts-check
'use strict';

/**
 * Figures of each site, as the entry sees it.
 * @typedef {import('./sites').Member} Member
 * @param {Member[]} members
 * @returns {import('./core').Figure[]}
 */
function memberFigures(members) {
  /** @param {(member: Member) => number|null} read @returns {Record<string, number>} by name of the site */
  const each = (read) => Object.fromEntries(members.flatMap((member) => {
    const value = read(member);
    return value === null ? [] : [[member.site.name, value]];
  }));
  return [
    { name: 'campus_site_up', kind: 'gauge', label: 'site', help: '1: the site answers, 0: it is away; /health says why',
      read: () => each(({ state }) => Number(state.status !== 'away')) },
    { name: 'campus_site_questions', kind: 'counter', label: 'site', help: 'Questions to a site',
      read: () => each(({ counters }) => counters.asked) },
    { name: 'campus_site_failures', kind: 'counter', label: 'site', help: 'Questions that a site did not answer',
      read: () => each(({ counters }) => counters.failed) },
    { name: 'campus_site_spared', kind: 'counter', label: 'site', help: 'Questions that did not go to a site, since it knows nobody of those asked about',
      read: () => each(({ counters }) => counters.spared) },
    { name: 'campus_site_people', kind: 'gauge', label: 'site', help: 'People with a past at a site, as it said last',
      read: () => each(({ knowledge }) => knowledge.count()) },
    { name: 'campus_site_followed', kind: 'gauge', label: 'site', help: '1: who has a past there is known just now, 0: it is not, and every question goes there',
      read: () => each(({ knowledge }) => Number(knowledge.isFresh(performance.now()))) },
    { name: 'campus_site_p99_ms', kind: 'gauge', label: 'site', help: 'Until an answer of a site began, 99th percentile of the last interval',
      read: () => each(({ latency }) => latency.read().p99_ms) },
  ];
}

module.exports = { memberFigures };
