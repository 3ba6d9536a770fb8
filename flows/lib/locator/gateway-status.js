// @ts-check
'use strict';

/** A gateway's clock may be ahead, and readings in flight come after its end. */
const OUT_MS = 3000;

/**
 * What the broker says of gateways. Silence of one that is out means nothing.
 * @typedef {{up: boolean, ms: number}} Said and when, epoch ms
 */
class GatewayStatus {
  constructor() {
    /** By id. @type {Map<string, Said>} */
    this.said = new Map();
    /** @type {Set<string>} */
    this.out = new Set();
  }

  /** @param {string} id @param {boolean} up @param {number} ms */
  set(id, up, ms) {
    this.said.set(id, { up, ms });
    if (up) this.out.delete(id);
    else this.out.add(id);
  }

  /**
   * Something that a gateway heard: where it was called out and goes on, its last will came late. A will has no time of its own; a
   * cluster of brokers may deliver it when the gateway has long been connected to another node.
   * @param {string} id @param {number} ts of what it heard
   */
  heard(id, ts) {
    if (this.out.size === 0 || !this.out.has(id) || ts <= Number(this.said.get(id)?.ms) + OUT_MS) return;
    this.said.delete(id);
    this.out.delete(id);
  }

  /** @param {import('./model').Source|undefined} source */
  isOut(source) { return this.out.size > 0 && source?.kind === 'gateway' && this.out.has(source.id); }
}

module.exports = { GatewayStatus };
