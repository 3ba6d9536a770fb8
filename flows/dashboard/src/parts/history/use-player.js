import { onBeforeUnmount, reactive, ref, watch } from 'vue';
import { setQuery } from '../../io/route.js';
import { instant, momentOf } from '../../lib/choice.js';
import { SPEEDS, advance, clamp, usualSpeed } from '../../lib/playback.js';
import { state } from '../../state.js';

/** Shortest frame interval: every second frame of a usual screen, thirty a second. */
const FRAME_MS = 30;
/** Largest step: a page continues where it was before it went to the background. */
const LONGEST_FRAME_MS = 250;
/** Shortest interval of the list, for readers. */
const READABLE_MS = 500;

/**
 * The shown instant and its playback. The address keeps it while it is paused.
 * @param {{fromMs: number, toMs: number}} window
 */
export function usePlayer(window) {
  const fromQuery = () => clamp(momentOf(state.query.at) ?? window.fromMs, window);
  const speedOf = () => SPEEDS.find((speed) => String(speed) === state.query.speed) ?? usualSpeed(window);
  const player = reactive({ atMs: fromQuery(), playing: false, speed: speedOf() });
  let frame = 0;
  let lastMs = 0;
  const listedMs = ref(player.atMs);
  let listedWhenMs = 0;
  /** own changes of the address under way */
  let writing = 0;

  /** @param {number} nowMs */
  function step(nowMs) {
    frame = requestAnimationFrame(step);
    if (nowMs - lastMs < FRAME_MS) return;
    const { atMs, ended } = advance(player.atMs, Math.min(nowMs - lastMs, LONGEST_FRAME_MS), player.speed, window);
    lastMs = nowMs;
    player.atMs = atMs;
    if (ended) pause();
  }

  function play() {
    if (player.atMs >= window.toMs) player.atMs = window.fromMs; // start again
    player.playing = true;
    lastMs = performance.now();
    frame = requestAnimationFrame(step);
  }

  function pause() {
    cancelAnimationFrame(frame);
    player.playing = false;
    remember();
  }

  /** Writes the instant to the address. Such a change may arrive after the next input, which it must not undo. */
  async function remember() {
    writing += 1;
    try {
      await setQuery({ at: player.atMs === window.fromMs ? null : instant(Math.round(player.atMs)) });
    } finally {
      writing -= 1;
    }
  }

  /** @param {number} ms */
  const seek = (ms) => { player.atMs = clamp(ms, window); };

  watch(() => [player.atMs, player.playing], () => {
    if (player.playing && performance.now() - listedWhenMs < READABLE_MS) return;
    listedWhenMs = performance.now();
    listedMs.value = player.atMs;
  });
  watch(() => state.query.at, () => { if (!player.playing && !writing) player.atMs = fromQuery(); }, { flush: 'sync' });
  watch(() => state.query.speed, () => { player.speed = speedOf(); });
  onBeforeUnmount(() => cancelAnimationFrame(frame));
  return {
    player,
    /** The instant for lists, which changes slowly enough to read during playback. */
    listedMs,
    toggle: () => (player.playing ? pause() : play()),
    seek,
    /** Keeps the instant of the slider. */
    settle: () => { if (!player.playing) remember(); },
  };
}
