import { state } from '../state.js';

let router = null;
let title = '';

/** Keeps the state in line with the address. @param {any} dashboardRouter */
export function follow(dashboardRouter) {
  router = dashboardRouter;
  router.afterEach((to) => {
    state.query = to.query;
    document.title = title; // the dashboard has set its own
  });
  state.query = router.currentRoute.value.query;
}

/** Sets the title of the browser tab. @param {string} text */
export function setTitle(text) {
  title = text;
  document.title = text;
}

/**
 * Goes to a page, or to other parameters of a page, as a new step of the browser's history.
 * @param {string} path
 * @param {Record<string, string>} [query]
 */
export const go = (path, query = {}) => router.push({ path, query });

/**
 * Changes parameters of the address without a new step of the browser's history; null removes one.
 * @param {Record<string, string|null>} changes
 */
export function setQuery(changes) {
  const query = { ...router.currentRoute.value.query, ...changes };
  for (const [key, value] of Object.entries(query)) if (value === null || value === '') delete query[key];
  return router.replace({ query });
}
