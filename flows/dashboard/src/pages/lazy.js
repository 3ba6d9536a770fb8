import { defineAsyncComponent, h } from 'vue';

const loadingComponent = () => h('p', { class: 'wait' }, 'Loading …');

/** The server is away, or has other pages by now. */
const errorComponent = () => h('p', { class: 'wait', role: 'alert' }, [
  'This page could not be loaded. ', h('button', { type: 'button', onClick: () => location.reload() }, 'Load again'),
]);

/** A page whose code is fetched when it is shown first. @param {() => Promise<object>} loader */
export const lazy = (loader) => defineAsyncComponent({ loader, loadingComponent, errorComponent });
