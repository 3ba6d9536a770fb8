import { state } from '../state.js';

let router = null;
let title = '';

/** Keep the state on what the address says. @param {any} its the dashboard's router */
export function follow(its) {
  router = its;
  router.afterEach((to) => {
    state.query = to.query;
    document.title = title; // the dashboard has put its own there
  });
  state.query = router.currentRoute.value.query;
}

/** What stands in the browser's tab. @param {string} text */
export function setTitle(text) {
  title = text;
  document.title = text;
}

/**
 * Another page, or the same one with other parameters; the browser's back button leads back.
 * @param {string} path
 * @param {Record<string, string>} [query]
 */
export const go = (path, query = {}) => router.push({ path, query });

/**
 * Change parameters of the address without a new step in the browser's history; null takes one away.
 * @param {Record<string, string|null>} changes
 */
export function setQuery(changes) {
  const query = { ...router.currentRoute.value.query, ...changes };
  for (const [key, value] of Object.entries(query)) if (value === null || value === '') delete query[key];
  return router.replace({ query });
}
