import { computed, ref, watch } from 'vue';
import { busiest, countLevels } from '../../lib/playback.js';
import { state } from '../../state.js';

/**
 * The shown level: the chosen one; for chosen staff the one of the address, or else the level with most of them.
 * @param {() => import('../../lib/choice.js').Choice} choice
 * @param {() => {level: string}[]} people people at the instant, or stays of the whole time
 */
export function useLevels(choice, people) {
  const ids = computed(() => state.building.levels.map(({ id }) => id));
  const counts = computed(() => countLevels(people()));
  const followed = ref('');
  watch(counts, () => { followed.value = busiest(counts.value, ids.value, followed.value); }, { immediate: true });
  const pinned = computed(() => (ids.value.includes(state.query.plan) ? state.query.plan : ''));
  const level = computed(() => {
    const wanted = choice().level || pinned.value || followed.value;
    return state.building.levels.find(({ id }) => id === wanted) ?? state.building.levels[0];
  });
  return { level, counts, pinned };
}
