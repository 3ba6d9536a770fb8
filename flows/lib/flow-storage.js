// @ts-check
'use strict';

const fs = require('node:fs/promises');
const path = require('node:path');
const { isDeepStrictEqual } = require('node:util');
const { replaceFile } = require('./shared/whole-file');

/**
 * Where Node-RED keeps flows: it is given ours with what users added, and of what is deployed only the difference is kept, in
 * `user-flows.json` of the data folder. Our own files are never written, so that an update replaces them and leaves users' tabs alone.
 * Everything else (settings of the editor, sessions, library) is kept by Node-RED's own storage.
 */

const FLOWS = 'user-flows.json';
const CREDENTIALS = 'user-flows_cred.json';

/**
 * @typedef {Record<string, Record<string, unknown>>} Credentials by node id
 * @param {object} deps
 * @param {string} deps.flowFile ours
 * @param {string} deps.credentialsFile ours
 * @param {string} deps.folder of the data
 * @param {object} deps.base Node-RED's storage
 * @param {(text: string) => void} deps.warn
 */
function createFlowStorage({ flowFile, credentialsFile, folder, base, warn }) {
  const changesFile = path.join(folder, FLOWS);
  const ownCredentialsFile = path.join(folder, CREDENTIALS);
  /** @type {Set<string>} */
  const damaged = new Set();

  /**
   * The flows that users made. A damaged file costs only them: our flows start without it, and it is set aside before it is written again.
   * @template T @param {string} file @param {T} nothing @param {(value: any) => boolean} isGood @returns {Promise<T>}
   */
  async function readTheirs(file, nothing, isGood) {
    try {
      const value = await readJson(file) ?? nothing;
      if (isGood(value)) return value;
      throw new Error(`${file} is not what the editor wrote`);
    } catch (error) {
      damaged.add(file);
      warn(`${error instanceof Error ? error.message : error}: the flows start without it; mend it and start again, or it becomes ` +
        `${file}.damaged at the next deploy`);
      return nothing;
    }
  }

  const readChanges = () => readTheirs(changesFile, noUserChanges(), isUserChanges);

  /** @param {string} file @param {unknown} value */
  async function keep(file, value) {
    if (damaged.delete(file)) await fs.rename(file, `${file}.damaged`);
    await fs.mkdir(path.dirname(file), { recursive: true });
    await replaceFile(file, `${JSON.stringify(value, null, 2)}\n`, 0o600);
  }

  return {
    ...base,
    getFlows: async () => applyUserChanges(await readJson(flowFile), await readChanges()),
    /** @param {Node[]} deployed */
    async saveFlows(deployed) {
      await keep(changesFile, diffUserChanges(await readJson(flowFile), deployed));
    },
    /** @returns {Promise<Credentials>} */
    getCredentials: async () => ({ ...await readJson(credentialsFile), ...await readTheirs(ownCredentialsFile, {}, isObject) }),
    /** @param {Credentials} credentials */
    async saveCredentials(credentials) {
      const ours = JSON.stringify(await readJson(credentialsFile) ?? {});
      const before = JSON.parse(ours);
      const own = Object.entries(credentials).filter(([id, one]) => JSON.stringify(one) !== JSON.stringify(before[id]));
      await keep(ownCredentialsFile, Object.fromEntries(own));
    },
  };
}

/** @param {any} value */
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
/** @param {any} changes */
const isUserChanges = (changes) => changes.v === 1 && [changes.nodes, changes.removed].every(Array.isArray) && isObject(changes.changed);

/** @param {string} file @returns {Promise<any>} null: there is none */
async function readJson(file) {
  let text;
  try {
    text = await fs.readFile(file, 'utf8');
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null;
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${file} is no JSON`, { cause: error });
  }
}

/**
 * The changes that users made in the editor: nodes of their own, and changes of ours property by property. Wires and other lists of
 * ids are kept as what was added and taken away, so that an update of ours may change the rest of such a list. Pure.
 * @typedef {{id: string, [key: string]: any}} Node as in a flow file
 * @typedef {{add: string[], remove: string[]}} ListChange
 * @typedef {{set?: Record<string, any>, unset?: string[], wires?: ListChange[], lists?: Record<string, ListChange>}} NodeChange
 * @typedef {{v: 1, nodes: Node[], changed: Record<string, NodeChange>, removed: string[]}} UserChanges removed: ids of nodes of ours
 */

/** Lists of ids of other nodes, beside wires: what a group holds, what a complete, catch or status node watches, where a link leads. */
const ID_LISTS = ['nodes', 'scope', 'links'];

/** @returns {UserChanges} */
const noUserChanges = () => ({ v: 1, nodes: [], changed: {}, removed: [] });

/**
 * The differences between our flows and those that were deployed.
 * @param {Node[]} ours @param {Node[]} deployed
 * @returns {UserChanges}
 */
function diffUserChanges(ours, deployed) {
  const changes = noUserChanges();
  const known = new Map(ours.map((node) => [node.id, node]));
  const left = new Set(known.keys());
  for (const node of deployed) {
    const before = known.get(node.id);
    left.delete(node.id);
    if (!before) changes.nodes.push(node);
    else {
      const change = changeOf(before, node);
      if (Object.keys(change).length > 0) changes.changed[node.id] = change;
    }
  }
  changes.removed = [...left];
  return changes;
}

/** @param {Node} before @param {Node} after @returns {NodeChange} */
function changeOf(before, after) {
  /** @type {NodeChange} */
  const change = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [from, to] = [before[key], after[key]];
    if (isDeepStrictEqual(from, to)) continue;
    if (key === 'wires' && Array.isArray(from) && Array.isArray(to)) {
      const outputs = Array.from({ length: Math.max(from.length, to.length) }, (_, i) => listChange(from[i] ?? [], to[i] ?? []));
      if (outputs.some(isChange)) change.wires = outputs;
    } else if (ID_LISTS.includes(key) && Array.isArray(from) && Array.isArray(to)) {
      const changed = listChange(from, to);
      if (isChange(changed)) change.lists = { ...change.lists, [key]: changed };
    } else if (to === undefined) change.unset = [...(change.unset ?? []), key];
    else change.set = { ...change.set, [key]: to };
  }
  return change;
}

/** @param {string[]} from @param {string[]} to @returns {ListChange} */
const listChange = (from, to) => ({ add: to.filter((id) => !from.includes(id)), remove: from.filter((id) => !to.includes(id)) });
/** @param {ListChange} change */
const isChange = ({ add, remove }) => add.length + remove.length > 0;

/**
 * Our flows, as they are now, with what users made of them. What they changed of a node that is gone is left out; wires to nodes that
 * are gone, too.
 * @param {Node[]} ours @param {UserChanges} changes
 * @returns {Node[]}
 */
function applyUserChanges(ours, changes) {
  const removed = new Set(changes.removed);
  const kept = ours.filter(({ id }) => !removed.has(id));
  const taken = new Set(ours.map(({ id }) => id));
  const added = changes.nodes.filter(({ id }) => !taken.has(id)); // an id that became one of ours is ours
  const there = new Set([...kept, ...added].map(({ id }) => id));
  const result = kept.map((node) => (
    Object.hasOwn(changes.changed, node.id) ? changedNode(node, changes.changed[node.id] ?? {}, there) : node));
  return [...result, ...added];
}

/** @param {Node} node @param {NodeChange} change @param {Set<string>} there @returns {Node} */
function changedNode(node, { set = {}, unset = [], wires, lists = {} }, there) {
  /** @type {Node} */
  const result = { ...structuredClone(node), ...structuredClone(set), id: node.id };
  for (const key of unset) if (key !== 'id') delete result[key];
  if (wires) {
    const before = /** @type {string[][]} */ (node.wires ?? []);
    result.wires = Array.from({ length: Math.max(before.length, wires.length) }, (_, i) => changedList(before[i] ?? [], wires[i], there));
  }
  for (const [key, change] of Object.entries(lists)) result[key] = changedList(node[key] ?? [], change, there);
  return result;
}

/** @param {string[]} list @param {ListChange|undefined} change @param {Set<string>} there */
function changedList(list, { add, remove } = { add: [], remove: [] }, there) {
  const kept = list.filter((id) => !remove.includes(id));
  return [...kept, ...add.filter((id) => there.has(id) && !kept.includes(id))];
}

module.exports = { createFlowStorage, FLOWS, applyUserChanges, noUserChanges, diffUserChanges };
