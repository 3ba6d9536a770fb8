import { effectScope, watch } from 'vue';
import { ApiFault, api, call } from '../../io/api.js';
import { clashText } from '../../lib/setup/differences.js';
import { faultLines, readJson } from '../../lib/setup/lines.js';
import { merge, same } from '../../lib/setup/merge.js';
import { at, find, parts } from '../../lib/setup/things.js';
import { mayChange, state } from '../../state.js';
import { chosen, dirty, draft, edit, file, pending, take } from './draft.js';
import { buildingOptions } from './lists.js';

/**
 * Keeps the draft in sync with the server: loads, checks and saves it, and detects changes by others.
 */

/** Time from the last key to the check. */
const CHECK_MS = 300;
const JSON_TYPE = 'application/json';

let started = false;
let checking = new AbortController();

/** Loads the building, once, and keeps the draft in sync from then on. */
export function start() {
  if (started) return;
  started = true;
  reload();
  addEventListener('beforeunload', (event) => { if (dirty.value) event.preventDefault(); });
  effectScope(true).run(() => { // outlives the page that called it
    let timer;
    watch([file, () => draft.typed, mayChange], () => {
      checking.abort();
      clearTimeout(timer);
      timer = setTimeout(check, CHECK_MS);
    });
    watch([() => state.building?.digest, () => draft.busy], ([digest, busy]) => {
      if (digest && !busy && draft.etag !== null && draft.etag !== `"${digest.slice(0, 32)}"`) reload();
    });
  });
}

/** Loads the building; reports a conflict if it has changed and the draft has changes too. */
export async function reload() {
  try {
    const { data, etag } = await call('/building', {}, {});
    if (etag === draft.etag) return;
    if (!dirty.value) take(data, etag);
    else if (same(data, file.value)) Object.assign(draft, { base: data, etag, conflict: null, fault: '' }); // our change was saved, but the answer was lost
    else if (etag !== draft.conflict?.etag) draft.conflict = { text: await conflictText(), file: data, etag };
  } catch (error) {
    draft.fault = error.message;
  }
}

async function conflictText() {
  const [newest] = await api('/building/versions').then(({ versions }) => versions, () => []);
  const who = newest?.by ?? (newest?.how === 'file' ? 'Somebody, by hand,' : 'Somebody');
  return `${who} has changed the building meanwhile${newest ? ` (version ${newest.version})` : ''}`;
}

/** Merges the changes of somebody else into the draft; changes of the draft stay. */
export function settle() {
  const { file: theirs, etag } = draft.conflict;
  adopt(theirs, etag);
}

/** @param {object} theirs @param {string} etag */
function adopt(theirs, etag) {
  const merged = merge(draft.base, file.value, theirs);
  const next = same(merged.file, theirs) ? theirs : merged.file;
  Object.assign(draft, { base: theirs, etag, conflict: null, clashes: merged.clashes.map(clashText), fault: '' });
  edit(next, chosenIn(next));
}

/** Pointer of the chosen thing in another file, where it may differ. @param {object} next */
function chosenIn(next) {
  const kind = parts(chosen.value)?.kind;
  return (kind && find(next, kind, at(file.value, chosen.value).id)) ?? '';
}

/** Asks the server for the faults of the draft, or of the text that will become the draft. */
async function check() {
  if (!mayChange.value || !dirty.value) {
    Object.assign(draft, { faults: [], lines: [] });
    return;
  }
  checking.abort();
  checking = new AbortController();
  const { signal } = checking;
  const { typed } = draft;
  const data = pending.value ? textData(typed.text) : file.value;
  if (data === null) return;
  try {
    const { data: { faults } } = await call('/building/validate', {}, { method: 'POST', content: JSON.stringify(data), type: JSON_TYPE, signal });
    if (signal.aborted) return;
    draft.fault = '';
    if (typed === null || typed.file !== null) draft.faults = faults;
    else takeTyped(typed.text, data, faults);
  } catch (error) {
    if (error.name !== 'AbortError') draft.fault = `The draft cannot be checked: ${error.message}`;
  }
}

/** @param {string} typed @returns {any} null: not JSON */
function textData(typed) {
  const { data, fault } = readJson(typed);
  if (fault) draft.lines = [fault];
  return data;
}

/** @param {string} typed @param {any} data its content @param {{pointer: string, reason: string}[]} faults */
function takeTyped(typed, data, faults) {
  draft.lines = faultLines(typed, faults);
  if (faults.length > 0) return;
  Object.assign(draft, { faults: [], typed: { text: typed, file: data } });
  edit(data, '');
}

/** Saves the draft as the building. */
export function save() {
  const mine = file.value;
  return change('PUT', '', { content: JSON.stringify(mine), type: JSON_TYPE }, ({ version, in_use: used }, etag) => {
    Object.assign(draft, { base: mine, etag, clashes: [] });
    if (version === null) return 'Saved: nothing is different';
    return used ? `Saved as version ${version}, which is in use` : `Saved as version ${version}; it is not in use yet`;
  });
}

/** Restores an earlier building. @param {number} version */
export const restore = (version) => change('POST', `/versions/${version}/restore`, {}, async (data) => {
  await follow();
  return data.version === null ? `The building is that of version ${version} already` : `Gone back to version ${version}; that is version ${data.version}`;
});

/** Imports a list of beacons. @param {string} list */
export const importList = (list) => change('POST', '/import', { content: list, type: 'text/csv' }, async ({ added, version }) => {
  await follow();
  return `${added.length} beacon${added.length === 1 ? ' was' : 's were'} imported${version === null ? '' : ` as version ${version}`}`;
});

/** Makes a building of a list of beacons. @param {string} list */
export const makeFromList = (list) => change('POST', '/from-list', { content: list, type: 'text/csv' }, async ({ building, added, version }) => {
  await follow();
  return version === null ? 'All of it is in the building already'
    : `${building} is in use as version ${version}, with ${added.length} new beacon${added.length === 1 ? '' : 's'}`;
}, buildingOptions());

/** Loads the building after a change of ours that was not a save of the draft. */
async function follow() {
  const { data, etag } = await call('/building', {}, {});
  if (dirty.value) adopt(data, etag);
  else take(data, etag);
}

/**
 * @param {string} method @param {string} path below /building @param {{content?: string, type?: string}} what
 * @param {(data: any, etag: string) => string|Promise<string>} done returns the message to show
 * @param {Record<string, string|undefined>} [query]
 * @returns {Promise<boolean>} whether it succeeded
 */
async function change(method, path, what, done, query = {}) {
  if (draft.busy) return false;
  Object.assign(draft, { busy: true, message: '', fault: '' });
  try {
    const { data, etag } = await call(`/building${path}`, query, { method, ifMatch: draft.etag, ...what });
    draft.message = await done(data, etag);
    return true;
  } catch (error) {
    if (!(error instanceof ApiFault)) throw error;
    if (error.status === 412) await reload();
    if (!draft.conflict) draft.fault = [error.message, ...faultTexts(error)].join('; ');
    if (error.status === 422 && method === 'PUT') draft.faults = error.data.faults;
    return false;
  } finally {
    draft.busy = false;
  }
}

/** Texts of faults that are not shown beside a form. @param {ApiFault} error */
const faultTexts = ({ status, data }) => (status === 422 ? data.faults.slice(0, 3).map(({ pointer, reason }) => `${pointer} ${reason}`) : []);
