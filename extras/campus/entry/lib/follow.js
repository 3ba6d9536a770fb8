// @ts-check
'use strict';

const { setTimeout: wait } = require('node:timers/promises');

/**
 * Follows who has a past at a site: one question after the other, each answered as soon as there is somebody new.
 * @typedef {{site: Pick<import('./site').Site, 'ask'>, knowledge: import('./knowledge').Knowledge}} Followed
 */

const PATH = '/api/v1/people/known';
/** So long an answer waits for somebody new: twice that, with the way there and back, is less than knowledge stays fresh. */
const WAIT_MS = 500;
/** A site that takes longer to begin its answer counts as away. */
const SHARE_OF_TIMEOUT = 0.5;
const RETRY_MS = 1000;
/** A site of a version that has no such route may be updated. */
const WITHOUT_ROUTE_MS = 30_000;

/**
 * One question.
 * @param {Followed} followed @param {{waitMs: number, signal: AbortSignal}} options
 * @returns {Promise<number>} when to ask again, ms
 */
async function askOnce({ site, knowledge }, { waitMs, signal }) {
  const askedMs = performance.now();
  const version = knowledge.version();
  const query = new URLSearchParams({ wait_ms: String(waitMs), ...(version === null ? {} : { after: version }) });
  try {
    const answer = await site.ask({ method: 'GET', path: `${PATH}?${query}` }, signal);
    const text = await answer.text();
    if (answer.status === 200 && knowledge.take(JSON.parse(text), askedMs)) {
      const isNew = knowledge.version() !== version;
      return isNew ? 0 : Math.max(0, waitMs / 2 - (performance.now() - askedMs)); // one that does not wait is not asked all the time
    }
    knowledge.doubt();
    return answer.status === 404 ? WITHOUT_ROUTE_MS : RETRY_MS;
  } catch { // it did not answer, or with something else
    knowledge.doubt();
    return RETRY_MS;
  }
}

/**
 * @param {Followed} followed @param {{timeoutMs: number, signal: AbortSignal}} options signal: ends it
 * @returns {Promise<void>} when it has ended
 */
async function follow(followed, { timeoutMs, signal }) {
  const waitMs = Math.min(WAIT_MS, Math.floor(timeoutMs * SHARE_OF_TIMEOUT));
  while (!signal.aborted) {
    const againMs = await askOnce(followed, { waitMs, signal });
    if (againMs > 0) await wait(againMs, undefined, { signal, ref: false }).catch(() => {});
  }
}

module.exports = { follow, PATH };
