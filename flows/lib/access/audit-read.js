// @ts-check
'use strict';

const fs = require('node:fs');
const { dayOf, daysOf, fileOf } = require('./audit-files');

/**
 * Reads the audit log back, oldest first, a page at a time.
 * @typedef {{day: string, offset: number}} Place behind the last line that was read
 * @typedef {Record<string, any> & {ts: number, kind: string}} Entry
 * @typedef {{fromMs: number, toMs: number, who?: string|undefined, subject?: string|undefined}} Question
 */

/** So much is looked through for one page: what is left is for the next, and nobody waits long. */
const SCAN_BYTES = 16 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

/**
 * The lines of a file.
 * @param {string} file
 * @param {number} from offset of a line's beginning
 * @returns {AsyncGenerator<{text: string, end: number}>} end: offset behind the line; a last line without an end is left out
 */
async function* linesOf(file, from) {
  let rest = Buffer.alloc(0);
  let end = from;
  for await (const chunk of fs.createReadStream(file, { start: from, highWaterMark: CHUNK_BYTES })) {
    const data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let begin = 0;
    for (let at = data.indexOf(10); at >= 0; at = data.indexOf(10, begin)) {
      end += at + 1 - begin;
      yield { text: data.toString('utf8', begin, at), end };
      begin = at + 1;
    }
    rest = data.subarray(begin);
  }
}

/** Keys of lines that earlier versions wrote, and what they are now. */
const EARLIER = new Map([['whom', 'subjects'], ['whom_set', 'subjects_set'], ['whom_count', 'subjects_count']]);

/** @param {string} text @returns {any} null: a line that a kill broke off */
function parse(text) {
  try {
    const data = JSON.parse(text);
    return text.includes('"whom') ? Object.fromEntries(Object.entries(data).map(([key, value]) => [EARLIER.get(key) ?? key, value])) : data;
  } catch {
    return null;
  }
}

/** The sets that are written before an offset. @param {string} file @param {number} to @returns {Promise<Map<string, any>>} */
async function setsBefore(file, to) {
  const sets = new Map();
  for await (const { text, end } of linesOf(file, 0)) {
    if (end > to) break;
    const data = text.startsWith('{"set"') ? parse(text) : null;
    if (data) sets.set(data.set, data.subjects);
  }
  return sets;
}

/** A line as an entry, its people in full. @param {any} data @param {Map<string, any>|null} sets @returns {Entry|null} */
function entryOf(data, sets) {
  if (typeof data?.ts !== 'number') return null;
  const { subjects_set: set, ...entry } = data;
  return set === undefined ? entry : { ...entry, subjects: sets?.get(set) ?? '*' }; // a set that is lost may have been anybody
}

/** @param {Entry} entry @param {Question} question */
function isAsked(entry, { fromMs, toMs, who, subject }) {
  if (entry.ts < fromMs || entry.ts >= toMs) return false;
  if (who !== undefined && entry.who !== who && !entry.who?.startsWith(`${who}/`)) return false;
  return subject === undefined || (entry.subjects !== undefined && covers(entry.subjects, subject));
}

/**
 * @param {string} folder
 * @param {Question} question [fromMs, toMs) of the time of writing
 * @param {Place|null} after
 * @param {number} limit
 * @returns {Promise<{entries: Entry[], next: Place|null}>} people in full; next null: that was all. A page may be shorter, even
 *   empty, and still have a next
 */
async function readAudit(folder, question, after, limit) {
  /** @type {Entry[]} */
  const entries = [];
  const [first, last] = [after?.day ?? dayOf(question.fromMs), dayOf(question.toMs)];
  let left = SCAN_BYTES;
  for (const day of (await daysOf(folder)).filter((one) => one >= first && one <= last)) {
    const from = after?.day === day ? after.offset : 0;
    const { at, all } = await readDay(fileOf(folder, day), from, question, entries, limit, left);
    if (!all) return { entries, next: { day, offset: at } };
    left -= at - from;
  }
  return { entries, next: null };
}

/**
 * @param {string} file @param {number} from offset @param {Question} question
 * @param {Entry[]} entries grows @param {number} limit @param {number} left bytes to look through
 * @returns {Promise<{at: number, all: boolean}>} behind the last line that was looked at; whether it was the file's last
 */
async function readDay(file, from, question, entries, limit, left) {
  let sets = from === 0 ? new Map() : null;
  let at = from;
  for await (const { text, end } of linesOf(file, from)) {
    if (entries.length >= limit || end - from > left) return { at, all: false };
    at = end;
    const data = parse(text);
    if (data?.set) sets?.set(data.set, data.subjects);
    if (data?.subjects_set) sets ??= await setsBefore(file, end);
    const entry = entryOf(data, sets);
    if (entry && isAsked(entry, question)) entries.push(entry);
  }
  return { at, all: true };
}

/**
 * Many staff ids in few words. Ids that end in numbers which follow each other become one range: `["0","2","3","4"]` is
 * written `["0",["2","4"]]`. Numbers with a leading zero range among those of the same width, `["007","012"]`, the others
 * among themselves. Everybody is `"*"`.
 * @typedef {string | [string, string]} Listed an id, or the first and last of a range
 * @typedef {'*' | Listed[]} Subjects whose history was looked up
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
 * @returns {Listed[]} in a fixed order, whatever the order of the ids
 */
function compact(ids) {
  /** @type {Map<string, {number: number, id: string}[]>} */
  const groups = new Map();
  /** @type {Listed[]} */
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

/** @param {{number: number, id: string}[]} members @returns {Listed[]} */
function ranges(members) {
  members.sort((a, b) => a.number - b.number);
  /** @type {Listed[]} */
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

module.exports = { readAudit, compact, covers, size };
