import { computed, shallowReactive } from 'vue';
import { layout } from '../../../../lib/building/import/layout.js';
import { setQuery } from '../../io/route.js';
import { differences } from '../../lib/setup/differences.js';
import { placeFaults } from '../../lib/setup/faults.js';
import { begin, redo, step, undo } from '../../lib/setup/steps.js';
import { everything } from '../../lib/setup/things.js';
import { mayChange } from '../../state.js';

/**
 * The draft of the building. It survives a visit to another page. Values are replaced as a whole.
 */
export const draft = shallowReactive({
  /** the building that the draft started from, with its ETag */
  base: null,
  etag: null,
  /** undo history, lib/setup/steps.js; null: not loaded yet */
  steps: null,
  /** typed JSON, {text, file}; file null: the text has faults and is not in the draft */
  typed: null,
  /** faults of the typed JSON: [{line, reason}] */
  lines: [],
  /** faults of the draft, from the server */
  faults: [],
  /** somebody else has changed the building: {text, file, etag} */
  conflict: null,
  /** texts of values that both have changed */
  clashes: [],
  /** whether a click on the plan places the chosen thing */
  placing: false,
  /** points of the scale, [[x, y], …] in metres east and north; null: the scale is not being set */
  scaling: null,
  busy: false,
  /** message of the last action, and its error */
  message: '',
  fault: '',
});

export const file = computed(() => draft.steps?.now.file ?? null);
export const chosen = computed(() => draft.steps?.now.chosen ?? '');
export const changes = computed(() => (file.value ? differences(draft.base, file.value) : []));
/** Whether the typed JSON has faults or is not checked yet. */
export const pending = computed(() => draft.typed !== null && draft.typed.file === null);
export const dirty = computed(() => pending.value || changes.value.length > 0);
/** Whether forms may edit; not while the typed JSON differs. */
export const editable = computed(() => mayChange.value && !pending.value);
export const placed = computed(() => (file.value && changes.value.length > 0 ? placeFaults(file.value, draft.faults) : []));
/** The draft as JSON text. */
export const text = computed(() => {
  const { typed } = draft;
  return typed !== null && (typed.file === null || typed.file === file.value) ? typed.text : `${layout(file.value)}\n`;
});

/** Starts a draft of a building. @param {object} building @param {string} etag */
export function take(building, etag) {
  Object.assign(draft, { base: building, etag, steps: begin(building), typed: null, lines: [], faults: [], conflict: null, clashes: [],
    placing: false, scaling: null, fault: '' });
}

/** Adds a step. @param {object} next the file @param {string} [pointer] of the chosen thing */
export function edit(next, pointer) {
  if (pointer !== undefined && pointer !== chosen.value) Object.assign(draft, { placing: false, scaling: null });
  Object.assign(draft, { steps: step(draft.steps, next, pointer), message: '' });
}

/** @param {string} pointer of a thing; '': none */
export const choose = (pointer) => edit(file.value, pointer);

export const back = () => Object.assign(draft, { steps: undo(draft.steps), message: '', placing: false, scaling: null });
export const forth = () => Object.assign(draft, { steps: redo(draft.steps), message: '', placing: false, scaling: null });
/** Discards all changes, which can be undone unless somebody else has changed the building meanwhile. */
export function discard() {
  if (draft.conflict) {
    take(draft.conflict.file, draft.conflict.etag);
    return;
  }
  Object.assign(draft, { typed: null, lines: [], clashes: [] });
  edit(draft.base, '');
}
/** Discards typed JSON with faults. */
export const dropText = () => Object.assign(draft, { typed: null, lines: [] });

/** Chooses a thing and shows it. @param {string} pointer */
export function show(pointer) {
  const found = everything(file.value).find((one) => one.pointer === pointer);
  if (!found) return;
  choose(pointer);
  const { kind, level } = found;
  if (kind === 'staff') setQuery({ tab: 'staff', tag: null, add: null, id: null });
  else setQuery({ tab: null, add: null, id: null, q: null, sort: null, ...(level === undefined ? {} : { level }) });
}
