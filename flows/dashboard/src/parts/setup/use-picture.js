import { shallowReactive } from 'vue';
import { call } from '../../io/api.js';
import { openPlan } from '../../io/plan-picture.js';
import { withPicture } from '../../lib/setup/scale.js';
import { draft, edit, file } from './draft.js';

/** A PDF that waits for the choice of a page: {source, number of the level, name}. */
export const waiting = shallowReactive({ of: null, busy: false, fault: '' });

/**
 * Sets the picture of a level of the draft; a PDF with several pages needs a choice first.
 * @param {File} chosen @param {number} number of the level
 * @returns {Promise<boolean>} whether it is set
 */
export async function takePlan(chosen, number) {
  Object.assign(waiting, { of: null, busy: true, fault: '' });
  try {
    const source = await openPlan(chosen);
    if (source.pages === 1) return await put(source, 1, number);
    waiting.of = { source, number, name: chosen.name };
    return false;
  } catch (error) {
    waiting.fault = error.message;
    return false;
  } finally {
    waiting.busy = false;
  }
}

/** @param {number} page from 1 @returns {Promise<boolean>} */
export async function takePage(page) {
  const { source, number } = waiting.of;
  Object.assign(waiting, { busy: true, fault: '' });
  try {
    return await put(source, page, number);
  } catch (error) {
    waiting.fault = error.message;
    return false;
  } finally {
    Object.assign(waiting, { of: null, busy: false });
  }
}

/** @param {import('../../io/plan-picture.js').Source} source @param {number} page @param {number} number */
async function put(source, page, number) {
  const { blob, width, height } = await source.page(page);
  const { data } = await call('/building/pictures', {}, { method: 'POST', content: blob, type: blob.type });
  const { file: next, stretched } = withPicture(file.value, number, data.plan, { width, height });
  edit(next);
  draft.message = stretched ? 'The picture has another shape than the level and is stretched to it'
    : 'The picture is below the level: set its scale next, then save';
  return true;
}
