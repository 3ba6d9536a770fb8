import { onUnmounted, reactive, watch } from 'vue';
import { api } from '../../io/api.js';
import { isTemporary, requestOf, undone, withChanges } from '../../lib/recording.js';
import { mayChange } from '../../state.js';

/** Recordings and taps. Taps that cannot be sent now wait in this browser, in order and with their times. */

const LOOK_MS = 2000;
const AGAIN_MS = 1500;
const KEY = 'sda-taps';

/** @returns {import('../../lib/recording.js').Change[]} changes stored before a reload */
function storedChanges() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '[]');
  } catch {
    return [];
  }
}

export function useRecording() {
  const data = reactive({ list: null, running: null, waiting: storedChanges(), fault: '', away: '', unsent: '' });
  let sending = false;
  let changes = 0;
  let timer = 0;
  watch(() => data.waiting, (waiting) => localStorage.setItem(KEY, JSON.stringify(waiting)));

  /** Loads the recordings; an answer from before a change is ignored. */
  async function load() {
    const before = changes;
    try {
      const { recordings } = await api('/recordings');
      const running = recordings.find(({ stopped_ms: stopped }) => stopped === null);
      const whole = running ? await api(`/recordings/${running.id}`) : null;
      data.away = '';
      if (before !== changes) return;
      data.list = recordings;
      data.running = whole?.stopped_ms === null ? whole : null;
    } catch (error) {
      data.away = error.message;
    }
  }

  async function again() {
    if (mayChange.value) await Promise.all([load(), send()]);
    if (timer !== null) timer = setTimeout(again, data.waiting.length > 0 ? AGAIN_MS : LOOK_MS);
  }
  again();
  onUnmounted(() => {
    clearTimeout(timer);
    timer = null;
  });

  /** Sends changes one after the other. */
  async function send() {
    if (sending) return;
    sending = true;
    try {
      while (data.waiting.length > 0) await sendFirst();
      data.unsent = '';
    } catch (error) {
      data.unsent = error.message;
    } finally {
      sending = false;
    }
  }

  /** @throws {import('../../io/api.js').ApiFault} when a retry may succeed */
  async function sendFirst() {
    const [first] = data.waiting;
    const { path, ...options } = requestOf(first, Date.now());
    try {
      const recording = await api(path, {}, options);
      changes += 1;
      if (data.running?.id === recording.id && recording.stopped_ms === null) data.running = recording;
    } catch (error) {
      if (isTemporary(error.status)) throw error;
      data.fault = `A tap was not taken: ${error.message}`;
    }
    data.waiting = data.waiting.slice(1);
  }

  /** @template T @param {() => Promise<T>} work of a button */
  async function ask(work) {
    data.fault = '';
    try {
      const done = await work();
      changes += 1;
      await load();
      return done;
    } catch (error) {
      data.fault = error.message;
      return null;
    }
  }

  return {
    data,
    /** Taps with waiting changes applied. */
    taps: () => withChanges(data.running?.taps ?? [], data.waiting.filter(({ recording }) => recording === data.running?.id)),
    /** @param {string|null} room null: in none */
    tap(room) {
      const id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 10)}`; // randomUUID needs https
      data.waiting = [...data.waiting, { kind: 'tap', recording: data.running.id, tap: id, room, atMs: Date.now() }];
      send();
    },
    /** @param {string} tap */
    undo(tap) {
      data.waiting = undone(data.waiting, data.running.id, tap, sending);
      send();
    },
    start: (staffId, name) => ask(() => api('/recordings', {}, { method: 'POST', body: { staff_id: staffId, ...(name ? { name } : {}) } })),
    stop: (id) => ask(() => api(`/recordings/${id}/stop`, {}, { method: 'POST' })),
    remove: (id) => ask(() => api(`/recordings/${id}`, {}, { method: 'DELETE' })),
    files: (id) => ask(() => api(`/recordings/${id}/files`)),
    calibration: (id) => ask(() => api(`/recordings/${id}/calibration`)),
    calibrate: (id) => ask(() => api(`/recordings/${id}/calibration`, {}, { method: 'POST' })),
  };
}
