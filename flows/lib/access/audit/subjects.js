// @ts-check
'use strict';

/**
 * Many staff ids in few words. Ids that end in numbers which follow each other become one range: `["0","2","3","4"]` is
 * written `["0",["2","4"]]`. Numbers with a leading zero range among those of the same width, `["007","012"]`, the others
 * among themselves. Everybody is `"*"`.
 * @typedef {string | [string, string]} Entry an id, or the first and last of a range
 * @typedef {'*' | Entry[]} Subjects whose history was looked up
 */

/** Up to fifteen digits, which a number holds exactly. */
const NUMBERED = /^(.*?)(\d{1,15})$/;

/** @param {string} id @returns {{group: string, number: number, width: number}|null} */
function numbered(id) {
  const match = NUMBERED.exec(id);
  if (!match) return null;
  const [, prefix = '', digits = ''] = match;
  const width = digits.length > 1 && digits.startsWith('0') ? digits.length : 0;
  return { group: `${width} ${prefix}`, number: Number(digits), width };
}

/**
 * @param {Iterable<string>} ids
 * @returns {Entry[]} in a fixed order, whatever the order of the ids
 */
function compact(ids) {
  /** @type {Map<string, {number: number, id: string}[]>} */
  const groups = new Map();
  /** @type {Entry[]} */
  const entries = [];
  for (const id of new Set(ids)) {
    const found = numbered(id);
    if (!found) {
      entries.push(id);
      continue;
    }
    const group = groups.get(found.group);
    if (group) group.push({ number: found.number, id });
    else groups.set(found.group, [{ number: found.number, id }]);
  }
  entries.sort();
  for (const name of [...groups.keys()].sort()) entries.push(...ranges(groups.get(name) ?? []));
  return entries;
}

/** @param {{number: number, id: string}[]} members @returns {Entry[]} */
function ranges(members) {
  members.sort((a, b) => a.number - b.number);
  /** @type {Entry[]} */
  const entries = [];
  for (let first = 0; first < members.length;) {
    let last = first;
    while (last + 1 < members.length && at(members, last + 1).number === at(members, last).number + 1) last += 1;
    if (last - first < 2) entries.push(...members.slice(first, last + 1).map(({ id }) => id));
    else entries.push([at(members, first).id, at(members, last).id]);
    first = last + 1;
  }
  return entries;
}

/** @template T @param {T[]} list @param {number} i @returns {T} */
const at = (list, i) => /** @type {T} */ (list[i]);

/** Whether somebody is among them. @param {Subjects} subjects @param {string} id */
function covers(subjects, id) {
  if (subjects === '*') return true;
  const wanted = numbered(id);
  return subjects.some((entry) => {
    if (typeof entry === 'string') return entry === id;
    const [first, last] = entry.map(numbered);
    return wanted !== null && first?.group === wanted.group && first.number <= wanted.number && wanted.number <= (last?.number ?? -1);
  });
}

/** How many people; null is everybody. @param {Subjects} subjects */
const size = (subjects) => (subjects === '*' ? null : subjects.reduce((sum, entry) => {
  if (typeof entry === 'string') return sum + 1;
  const [first, last] = entry.map(numbered);
  return sum + (last?.number ?? 0) - (first?.number ?? 0) + 1;
}, 0));

module.exports = { compact, covers, size };
