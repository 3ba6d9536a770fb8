import { shallowReactive } from 'vue';

/**
 * Lists of beacons as they are typed; they survive a visit to another page. answer: of the dry run, null: not known.
 */

/** A list to import into the building. */
export const beaconList = shallowReactive({ text: '', answer: null, fault: '' });

/** A list to make a building of. how: 'new', 'add', or '' to let the server decide. */
export const buildingList = shallowReactive({ text: '', name: '', how: '', answer: null, fault: '' });

/** Query parameters for the list to make a building of. */
export const buildingOptions = () => ({ name: buildingList.name.trim() || undefined, how: buildingList.how || undefined });
