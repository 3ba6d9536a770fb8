import { computed, shallowRef } from 'vue';
import { api } from '../io/api.js';

/** Who is logged in; asked once, since another login loads the page anew. */
const me = shallowRef(null);
let asked = false;

/** @returns {{mayChange: import('vue').ComputedRef<boolean>, known: import('vue').ComputedRef<boolean>}} false until it is known */
export function useMe() {
  if (!asked) {
    asked = true;
    api('/me').then((one) => { me.value = one; }, () => { asked = false; });
  }
  return {
    known: computed(() => me.value !== null),
    mayChange: computed(() => me.value?.rights.includes('admin') === true && !me.value.read_only),
  };
}
