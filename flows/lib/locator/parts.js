// @ts-check
'use strict';

const { createBeliefs } = require('./beliefs');
const { createCorrections } = require('./corrections');
const { createFollowing } = require('./follow');
const { createHearing } = require('./hearing');
const { createLookahead } = require('./lookahead');
const { createLearnedStrengths } = require('./learned-strengths');
const { createReceivers } = require('./receivers');
const { createSourceLiveness } = require('./source-liveness');

/**
 * All that a locator works with in one building.
 * @typedef {ReturnType<typeof createParts>} Parts
 * @typedef {{up: boolean, ms: number}} Said of a gateway, and when, epoch ms
 * @typedef {{said: Map<string, Said>, versions: readonly import('../locator').OffsetVersion[],
 *   watch: import('./follow').Watch}} Shared by the parts of all buildings; said: by gateway id; versions: of the learned offsets
 * @param {import('../building').Building} building
 * @param {import('./model').Model} model
 * @param {Shared} shared
 * @param {import('./receivers').Receivers} [learned] of the building before
 */
function createParts(building, model, { said, versions, watch }, learned) {
  const { radio, settings } = model;
  const liveness = createSourceLiveness(radio, settings);
  for (const [id, { up }] of said) liveness.status(radio.gateways.get(id), up);
  const beliefs = createBeliefs(model, liveness.isAlive);
  const windowsS = radio.sources.map(({ device }) => (device.window_ms ?? settings.windowMs) / 1000);
  const hearing = createHearing(settings, radio.beacons.size, windowsS);
  const learnedStrengths = createLearnedStrengths(settings);
  const lookahead = createLookahead(settings);
  const receivers = createReceivers(radio, settings, learned);
  const corrections = createCorrections(radio, building.file.learned_offsets === false ? [] : versions);
  const following = createFollowing(model, beliefs, hearing, learnedStrengths, lookahead, receivers, { watch, corrections });

  /**
   * A slot for somebody.
   * @param {import('./learned-strengths').Strength} [strength] of their tag or phone @param {number} [room] where history says they are
   * @param {number} [sinceMs]
   */
  function open(strength, room, sinceMs) {
    const slot = beliefs.open();
    hearing.open(slot);
    learnedStrengths.open(slot, strength);
    lookahead.open(slot, room, sinceMs);
    return slot;
  }

  return { building, settings, model, liveness, beliefs, hearing, learnedStrengths, lookahead, receivers, corrections, following, open };
}

module.exports = { createParts };
