/**
 * Two changes of the same file brought together: what only one of them has changed is taken from that one, field by field. Things
 * in lists are known by their `id`.
 */

/** @param {any} a @param {any} b @returns {boolean} whether they say the same, in whatever order of keys */
export function same(a, b) {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object' || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

/**
 * @template T
 * @param {T} base what both have changed
 * @param {T} mine
 * @param {T} theirs
 * @returns {{file: T, clashes: string[][]}} clashes: where both have changed the same in different ways, and mine stands; each as
 *   the keys and ids that lead there
 */
export function merge(base, mine, theirs) {
  /** @type {string[][]} */
  const clashes = [];

  /** @param {any} was @param {any} own @param {any} other @param {string[]} way @returns {any} undefined: it is gone */
  function both(was, own, other, way) {
    if (same(own, was)) return other;
    if (same(other, was) || same(own, other)) return own;
    if ([was, own, other].every(isList)) return lists(was, own, other, way);
    if ([was, own, other].every((one) => isObject(one))) return objects(was, own, other, way);
    clashes.push(way);
    return own;
  }

  /** @param {any} was @param {any} own @param {any} other @param {string[]} way */
  const objects = (was, own, other, way) => Object.fromEntries([...new Set([...Object.keys(own), ...Object.keys(other)])]
    .map((key) => [key, both(was[key], own[key], other[key], [...way, key])]).filter(([, value]) => value !== undefined));

  /** In the order of who has changed it. @param {any[]} was @param {any[]} own @param {any[]} other @param {string[]} way */
  function lists(was, own, other, way) {
    const [before, here, there] = [was, own, other].map((list) => new Map(list.map((one) => [one.id, one])));
    const common = (/** @type {any[]} */ list) => list.map(({ id }) => id).filter((id) => before.has(id) && here.has(id));
    const first = same(common(own), common(was)) ? other : own;
    return [...new Set([...first, ...own, ...other].map(({ id }) => id))]
      .map((id) => both(before.get(id), here.get(id), there.get(id), [...way, id])).filter((one) => one !== undefined);
  }

  return { file: both(base, mine, theirs, []), clashes };
}

/** @param {any} one */
const isObject = (one) => one !== null && typeof one === 'object' && !Array.isArray(one);

/** Of things with an id, each its own. @param {any} list */
const isList = (list) => Array.isArray(list) && list.every((one) => isObject(one) && typeof one.id === 'string')
  && new Set(list.map(({ id }) => id)).size === list.length;
