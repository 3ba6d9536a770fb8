// @ts-check
'use strict';

/**
 * Locations of several sites as one list, page by page.
 * @typedef {{site: string, items: any[], isWhole: boolean}} Part items: as the site answered them, oldest first; isWhole: there are no more
 */

/** @param {number} ms */
const secondOf = (ms) => Math.floor(ms / 1000);

/**
 * Locations of one person: one a second, the first site's where several have one. A site whose page ended may have more behind it, so
 * what comes after that page is left for the next one.
 * @param {Part[]} parts in the order of campus.toml
 * @param {number} limit
 * @returns {{items: any[], nextMs: number|null}} oldest first; nextMs: where the next page begins; null: that was all
 */
function locationsPage(parts, limit) {
  const knownUntil = Math.min(...parts.map(({ items, isWhole }) => (isWhole ? Infinity : secondOf(items.at(-1)?.ts ?? 0))));
  /** @type {Map<number, any>} by second */
  const found = new Map();
  for (const { site, items } of parts) {
    for (const item of items) {
      const second = secondOf(item.ts);
      if (second <= knownUntil && !found.has(second)) found.set(second, { ...item, site });
    }
  }
  const all = [...found].sort(([a], [b]) => a - b);
  const page = all.slice(0, limit);
  const last = page.at(-1);
  const isAll = all.length <= limit && knownUntil === Infinity;
  return { items: page.map(([, item]) => item), nextMs: isAll || !last ? null : (last[0] + 1) * 1000 };
}

module.exports = { locationsPage };
