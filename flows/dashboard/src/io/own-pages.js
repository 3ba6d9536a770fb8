import { isOurs, ownPages } from '../lib/own-pages.js';
import { PAGES } from '../pages/index.js';
import { state } from '../state.js';

const OURS = PAGES.map(({ view }) => view);

/**
 * Keep the menu on the pages that users have added, and step aside while one of them is shown.
 * @param {any} store the dashboard's @param {any} router the dashboard's
 * @param {(isShown: boolean) => void} show ours, or what the dashboard draws
 */
export function followOwnPages(store, router, show) {
  store.watch(({ ui }) => [ui?.pages, ui?.dashboards], ([pages, bases]) => { state.ownPages = ownPages(pages, bases, OURS); },
    { immediate: true, deep: true });
  router.afterEach(({ path }) => show(isOurs(path, OURS)));
}
