import { onBeforeUnmount, shallowReactive, watch } from 'vue';
import { pages } from '../../io/api.js';
import { bySecond } from '../../lib/doubts.js';

const PAGE = 10_000;
/** Of more people the marks would say nothing, and each costs a request. */
export const PEOPLE_MAX = 20;
/** So many seconds of one person. */
const SECONDS_MAX = 50_000;

/**
 * The seconds in which a room was only probable or was corrected, of few people; loaded after their stays, one person after the other.
 * @param {() => string[]} people ids @param {{fromMs: number, toMs: number}} window
 */
export function useDoubts(people, { fromMs, toMs }) {
  const data = shallowReactive({ fault: '', tooMany: false, doubts: new Map() });
  let aborter = new AbortController();

  async function load() {
    aborter.abort();
    aborter = new AbortController();
    const { signal } = aborter;
    const ids = people();
    Object.assign(data, { fault: '', tooMany: ids.length > PEOPLE_MAX, doubts: new Map() });
    if (data.tooMany) return;
    try {
      for (const id of ids) {
        const found = [];
        const query = { doubtful: 1, start: fromMs / 1000, end: toMs / 1000, limit: PAGE };
        for await (const { locations } of pages(`/staff/${encodeURIComponent(id)}/locations`, query, { signal })) {
          found.push(...locations);
          if (found.length >= SECONDS_MAX) break;
        }
        if (found.length > 0) data.doubts = new Map(data.doubts).set(id, bySecond(found));
      }
    } catch (error) {
      if (error.name !== 'AbortError') data.fault = error.message;
    }
  }

  watch(() => people().join(), load, { immediate: true });
  onBeforeUnmount(() => aborter.abort());
  return data;
}
