import { createApp } from 'vue';
import App from './app.vue';
import { followOwnPages } from './io/own-pages.js';
import { keepConnected, receiveFrom } from './io/socket.js';
import { follow } from './io/route.js';
import { state } from './state.js';
import './style.css';
import './floor.css';
import './staff.css';
import './devices.css';
import './history.css';
import './setup.css';
import './system.css';
import './record.css';

/**
 * The bridge to FlowFuse Dashboard. The dashboard makes its widgets again after each reconnect. Our pages are in an element of
 * their own, so that typed text and zoom survive. The dashboard's own elements are below ours, and hidden from keyboards and screen
 * readers.
 */
const host = document.createElement('div');
host.className = 'sda';
let mounted = false;

const SdaPage = {
  name: 'SdaPage',
  inject: ['$socket'],
  props: { id: { type: String, required: true }, props: { type: Object, required: true }, state: { type: Object, default: null } },
  mounted() {
    if (!mounted) {
      mounted = true;
      addStyles();
      document.body.append(host);
      hideDashboard();
      new MutationObserver(hideDashboard).observe(document.body, { childList: true });
      receiveFrom(this.$socket);
      keepConnected(this.$socket);
      follow(this.$router);
      followOwnPages(this.$store, this.$router, show);
      createApp(App).mount(host);
    }
    state.view = this.props.view;
  },
  render: () => window.Vue.h('div'),
};

/** Whether our pages are shown, or one that a user has added, which the dashboard draws. */
let isShown = true;

/** @param {boolean} ours */
function show(ours) {
  isShown = ours;
  host.style.display = ours ? '' : 'none';
  hideDashboard();
}

function hideDashboard() {
  for (const other of document.body.children) {
    if (other === host || other.inert === isShown) continue;
    other.inert = isShown;
    other.ariaHidden = isShown ? 'true' : null;
  }
}

function addStyles() {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = `${import.meta.url.slice(0, import.meta.url.lastIndexOf('/') + 1)}style.css`; // beside this file
  host.hidden = true; // hidden until its styles are loaded
  link.onload = () => { host.hidden = false; };
  link.onerror = link.onload;
  document.head.append(link);
  document.documentElement.lang = 'en';
}

window['sda-page'] = { SdaPage }; // the dashboard reads it from here
