/**
 * The staff of the building file as a table.
 * @typedef {{id: string, pointer: string, staff_id: string, name: string, tags: string[], faults: number}} Row id: of the row, unique
 *   even where two people have the same id
 */

/**
 * @param {import('./things.js').BuildingFile} file
 * @param {import('./faults.js').Placed[]} placed
 * @returns {Row[]}
 */
export function peopleRows(file, placed) {
  /** @type {Map<string, number>} */
  const faults = new Map();
  for (const { thing } of placed) faults.set(thing, (faults.get(thing) ?? 0) + 1);
  const seen = new Set();
  return file.staff.map(({ id = '', name = '', tags = [] }, i) => {
    const pointer = `/staff/${i}`;
    const own = id !== '' && !seen.has(id);
    seen.add(id);
    return { id: own ? id : pointer, pointer, staff_id: id, name, tags, faults: faults.get(pointer) ?? 0 };
  });
}

/** @type {import('../table.js').Column<Row>[]} */
export const PEOPLE_COLUMNS = [
  { key: 'id', title: 'Id', value: ({ staff_id }) => staff_id },
  { key: 'name', title: 'Name', value: ({ name }) => name || null },
  { key: 'tags', title: 'Tags', value: ({ tags }) => tags[0] ?? null },
];
