import { defineAsyncComponent, h } from 'vue';

const loadingComponent = () => h('p', { class: 'wait' }, 'Loading …');

/** Shown when the server is away, or has newer pages. */
const errorComponent = () => h('p', { class: 'wait', role: 'alert' }, [
  'This page could not be loaded. ', h('button', { type: 'button', onClick: () => location.reload() }, 'Load again'),
]);

const TRIES = 3;
const RETRY_MS = 1000;

/** A page whose code is loaded when it is first shown. @param {() => Promise<object>} loader */
export const lazy = (loader) => defineAsyncComponent({
  loader,
  loadingComponent,
  errorComponent,
  onError: (_error, retry, fail, tries) => {
    if (tries < TRIES) setTimeout(retry, RETRY_MS);
    else fail();
  },
});
