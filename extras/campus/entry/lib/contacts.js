// @ts-check
'use strict';

const { compareIds } = require('./core');

/**
 * Who was together with somebody, at all sites: times at each of them count together, since exposure does.
 * @param {{site: string, items: any[]}[]} parts in the order of campus.toml, items as the site answered them, all of them
 * @param {number} leastS contacts of less time together at all sites are left out, seconds
 * @returns {any[]} longest time together first, then by id; meetings by time, with their site
 */
function contactsOf(parts, leastS) {
  /** @type {Map<string, any>} */
  const found = new Map();
  for (const { site, items } of parts) {
    for (const { staff_id: id, name, meetings } of items) {
      const known = found.get(id) ?? { staff_id: id, name: null, meetings: [] };
      known.name ??= name;
      known.meetings.push(...meetings.map((/** @type {any} */ one) => ({ ...one, site })));
      found.set(id, known);
    }
  }
  return [...found.values()].map(whole).filter(({ total_s: total }) => total >= leastS)
    .sort((a, b) => b.total_s - a.total_s || compareIds(a.staff_id, b.staff_id));
}

/** @param {{staff_id: string, name: string|null, meetings: any[]}} contact */
function whole({ staff_id, name, meetings }) {
  const totalMs = meetings.reduce((sum, { start_ms: start, end_ms: end }) => sum + end - start, 0);
  const longest = meetings.reduce((most, { duration_s: duration }) => Math.max(most, duration), 0);
  meetings.sort((a, b) => a.start_ms - b.start_ms || compareIds(a.site, b.site));
  return { staff_id, name, total_s: totalMs / 1000, longest_s: longest, meetings };
}

module.exports = { contactsOf };
