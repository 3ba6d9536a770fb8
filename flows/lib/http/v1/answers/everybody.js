// @ts-check
'use strict';

const { allStays, createMerge, within } = require('../../../history/views/stays');
const { badRequest } = require('../../../shared/api-error');
const { fromStore } = require('./shared');

/**
 * Questions about the stays of everybody, taken in pieces, so that the live path keeps its pace.
 * @typedef {import('../../../history/views/stays').Stay} Stay
 * @typedef {import('../window').Window} Window
 */

/** What may lie in memory for one answer. */
const MAX_STAYS = 50_000;

/** @param {import('.').Context} context */
function createEverybody({ site, store, clock, refuseIncompleteStays = () => {} }) {
  /**
   * Every stay that touches a window, in no order.
   * @param {Window} window @param {(stay: Stay) => void} add
   */
  const each = ({ fromMs, toMs }, add) => fromStore(async () => {
    if (fromMs >= toMs) return;
    refuseIncompleteStays(fromMs, toMs, [], clock()); // whose backlog is late does not keep all the others waiting
    const merge = createMerge(site.openStays(), site.recentStays.list(({ enter_ms: ms }) => ms < toMs));
    const take = (/** @type {import('../../../history/views/stays').StoredStay} */ one) => {
      const stay = merge.take(one);
      if (stay) add(stay);
    };
    (await store.staysInto(null, fromMs)).forEach(take);
    for await (const stays of store.everyStay(null, fromMs, toMs)) stays.forEach(take);
    merge.rest().forEach((stay) => { if (within(stay, { fromMs, toMs })) add(stay); });
  });

  /**
   * The stays of somebody and of all who were in the same rooms.
   * @param {string} staffId @param {Window} window
   * @returns {Promise<Stay[]>}
   */
  const around = (staffId, { fromMs, toMs }) => fromStore(async () => {
    refuseIncompleteStays(fromMs, toMs, [staffId], clock());
    const presences = site.openStays();
    const recent = site.recentStays.list(({ enter_ms: ms }) => ms < toMs);
    const staff = [staffId];
    const found = [...await store.staysInto(staff, fromMs), ...await store.staysOf({ staff }, fromMs, toMs, MAX_STAYS)];
    const isTheirs = (/** @type {{staff_id: string}} */ one) => one.staff_id === staffId;
    const own = allStays(found, presences.filter(isTheirs), recent.filter(isTheirs)).filter((stay) => within(stay, { fromMs, toMs }));
    if (own.length === 0) return [];
    const rooms = new Set(own.map(({ room }) => room));
    const all = (await store.staysInto(null, fromMs)).filter(({ room }) => rooms.has(room));
    for await (const stays of store.everyStay([...rooms], fromMs, toMs)) {
      if (all.length + stays.length > MAX_STAYS) {
        throw badRequest(`more than ${MAX_STAYS} stays lie in these rooms in this time: ask for it in parts`);
      }
      all.push(...stays);
    }
    return allStays(all, presences.filter(({ room }) => rooms.has(room)), recent.filter(({ room }) => rooms.has(room)));
  });

  return { each, around };
}

module.exports = { createEverybody };
