/**
 * Three-way merge of a building file, field by field. Things in lists are matched by their `id`.
 */

/** @param {any} a @param {any} b @returns {boolean} whether they are equal, in any order of keys */
export function same(a, b) {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object' || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

/**
 * @template T
 * @param {T} base common ancestor
 * @param {T} mine
 * @param {T} theirs
 * @returns {{file: T, clashes: string[][]}} clashes: values that both have changed in different ways, where mine is kept; each as
 *   its path of keys and ids
 */
export function merge(base, mine, theirs) {
  /** @type {string[][]} */
  const clashes = [];

  /** @param {any} was @param {any} own @param {any} other @param {string[]} path @returns {any} undefined: removed */
  function both(was, own, other, path) {
    if (same(own, was)) return other;
    if (same(other, was) || same(own, other)) return own;
    if ([was, own, other].every(isList)) return lists(was, own, other, path);
    if ([was, own, other].every((one) => isObject(one))) return objects(was, own, other, path);
    clashes.push(path);
    return own;
  }

  /** @param {any} was @param {any} own @param {any} other @param {string[]} path */
  const objects = (was, own, other, path) => Object.fromEntries([...new Set([...Object.keys(own), ...Object.keys(other)])]
    .map((key) => [key, both(was[key], own[key], other[key], [...path, key])]).filter(([, value]) => value !== undefined));

  /** The order is that of the side that changed it. @param {any[]} was @param {any[]} own @param {any[]} other @param {string[]} path */
  function lists(was, own, other, path) {
    const [before, here, there] = [was, own, other].map((list) => new Map(list.map((one) => [one.id, one])));
    const common = (/** @type {any[]} */ list) => list.map(({ id }) => id).filter((id) => before.has(id) && here.has(id));
    const first = same(common(own), common(was)) ? other : own;
    return [...new Set([...first, ...own, ...other].map(({ id }) => id))]
      .map((id) => both(before.get(id), here.get(id), there.get(id), [...path, id])).filter((one) => one !== undefined);
  }

  return { file: both(base, mine, theirs, []), clashes };
}

/** @param {any} one */
const isObject = (one) => one !== null && typeof one === 'object' && !Array.isArray(one);

/** Whether a list has things with unique ids. @param {any} list */
const isList = (list) => Array.isArray(list) && list.every((one) => isObject(one) && typeof one.id === 'string')
  && new Set(list.map(({ id }) => id)).size === list.length;
