import { computed, shallowReactive } from 'vue';
import { layout } from '../../../../lib/building/import/layout.js';
import { setQuery } from '../../io/route.js';
import { differences } from '../../lib/setup/differences.js';
import { placeFaults } from '../../lib/setup/faults.js';
import { begin, redo, step, undo } from '../../lib/setup/steps.js';
import { everything } from '../../lib/setup/things.js';
import { mayChange } from '../../state.js';

/**
 * The building as somebody is changing it. It outlives a visit to another page. What is replaced is replaced as a whole.
 */
export const draft = shallowReactive({
  /** the building that it is a change of, as the server gave it, and its ETag */
  base: null,
  etag: null,
  /** undo and redo, lib/setup/steps.js; null: not loaded yet */
  steps: null,
  /** the JSON as it was typed, {text, file}; file: what it says, null while it is not good: then it is not in the draft */
  typed: null,
  /** on which lines of it: [{line, reason}] */
  lines: [],
  /** of the draft, as the server tells them */
  faults: [],
  /** somebody else has changed the building: {text, file, etag} */
  conflict: null,
  /** what both have changed, in words */
  clashes: [],
  /** whether a click on the plan places what is chosen */
  placing: false,
  /** the points between which the scale is set, [[x, y], …] in metres east and north; null: it is not being set */
  scaling: null,
  busy: false,
  /** what was done, what went wrong */
  said: '',
  fault: '',
});

export const file = computed(() => draft.steps?.now.file ?? null);
export const chosen = computed(() => draft.steps?.now.chosen ?? '');
export const changes = computed(() => (file.value ? differences(draft.base, file.value) : []));
/** What was typed is not good, or not checked yet. */
export const pending = computed(() => draft.typed !== null && draft.typed.file === null);
export const dirty = computed(() => pending.value || changes.value.length > 0);
/** By the forms: not beside a text that says something else. */
export const editable = computed(() => mayChange.value && !pending.value);
export const placed = computed(() => (file.value && changes.value.length > 0 ? placeFaults(file.value, draft.faults) : []));
/** The draft as JSON: as it was typed, or as the server writes it. */
export const text = computed(() => {
  const { typed } = draft;
  return typed !== null && (typed.file === null || typed.file === file.value) ? typed.text : `${layout(file.value)}\n`;
});

/** Another building, with nothing changed in it. @param {object} building @param {string} etag */
export function take(building, etag) {
  Object.assign(draft, { base: building, etag, steps: begin(building), typed: null, lines: [], faults: [], conflict: null, clashes: [],
    placing: false, scaling: null, fault: '' });
}

/** A step. @param {object} next the file @param {string} [pointer] what is chosen then */
export function edit(next, pointer) {
  if (pointer !== undefined && pointer !== chosen.value) Object.assign(draft, { placing: false, scaling: null });
  Object.assign(draft, { steps: step(draft.steps, next, pointer), said: '' });
}

/** @param {string} pointer of a thing, '' of none */
export const choose = (pointer) => edit(file.value, pointer);

export const back = () => Object.assign(draft, { steps: undo(draft.steps), said: '', placing: false, scaling: null });
export const forth = () => Object.assign(draft, { steps: redo(draft.steps), said: '', placing: false, scaling: null });
/** All of it, which can be undone; unless somebody else has changed the building meanwhile. */
export function discard() {
  if (draft.conflict) {
    take(draft.conflict.file, draft.conflict.etag);
    return;
  }
  Object.assign(draft, { typed: null, lines: [], clashes: [] });
  edit(draft.base, '');
}
/** What was typed and is not good. */
export const dropText = () => Object.assign(draft, { typed: null, lines: [] });

/** Choose a thing and show it where it is. @param {string} pointer */
export function show(pointer) {
  const found = everything(file.value).find((one) => one.pointer === pointer);
  if (!found) return;
  choose(pointer);
  const { kind, level } = found;
  if (kind === 'staff') setQuery({ tab: 'staff', tag: null, add: null, id: null });
  else setQuery({ tab: null, add: null, id: null, q: null, sort: null, ...(level === undefined ? {} : { level }) });
}
