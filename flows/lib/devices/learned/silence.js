// @ts-check
'use strict';

/**
 * Devices that are silent though they should be heard: others that usually come with them are heard all the time. Such a device does not
 * say that nobody is near it. Pure.
 * @typedef {import('../../locator').Sample} Sample
 * @typedef {{moments: number, shares: Map<string, number>}} Company of the loudest device: how often each other one is heard with it
 */

const MOMENTS = 300; // of a company at most, so that it follows what changes
const KNOWN_MOMENTS = 30; // before, a company says nothing
const COMPANIONS = 12; // of each, those heard most often
const ALIKE = 10; // so many moments in a row say the same
const DEAD_NATS = 10; // chance alone would do this once in 20,000 times
const MISSES_AT_MOST = 0.99; // nobody is heard always

class Silence {
  constructor() {
    /** @type {Map<string, Company>} */
    this.companies = new Map();
    /** By device: how improbable its silence is, nats. @type {Map<string, number>} */
    this.missed = new Map();
  }

  /** @param {Sample} sample */
  note({ devices }) {
    const [loudest] = [...devices].sort((a, b) => b.rssi - a.rssi);
    if (!loudest) return;
    const heard = new Set(devices.map(({ kind, id }) => `${kind} ${id}`));
    for (const key of heard) this.missed.delete(key);
    const first = `${loudest.kind} ${loudest.id}`;
    let company = this.companies.get(first);
    if (!company) this.companies.set(first, company = { moments: 0, shares: new Map() });
    company.moments = Math.min(MOMENTS, company.moments + 1);
    for (const [key, share] of company.shares) {
      const isHeard = heard.has(key);
      const isDead = this.isDead(key);
      if (!isHeard && company.moments >= KNOWN_MOMENTS) {
        this.missed.set(key, (this.missed.get(key) ?? 0) - Math.log(1 - Math.min(MISSES_AT_MOST, share)) / ALIKE);
      }
      // what is known of a dead device is kept, so that it is known when it is back
      if (!isDead) company.shares.set(key, share + (Number(isHeard) - share) / company.moments);
    }
    for (const key of heard) {
      if (key === first || company.shares.has(key) || company.shares.size >= COMPANIONS) continue;
      company.shares.set(key, 1 / company.moments);
    }
  }

  /** @param {string} key */
  isDead(key) { return (this.missed.get(key) ?? 0) > DEAD_NATS; }

  /** Keys of the silent devices. @returns {string[]} */
  silent() { return [...this.missed.keys()].filter((key) => this.isDead(key)).sort(); }

  /** @param {(key: string) => boolean} isGone of a device */
  leave(isGone) {
    for (const map of [this.companies, this.missed, ...[...this.companies.values()].map(({ shares }) => shares)]) {
      for (const key of map.keys()) if (isGone(key)) map.delete(key);
    }
  }

  save() {
    return { companies: [...this.companies].map(([key, { moments, shares }]) => [key, moments, [...shares]]), missed: [...this.missed] };
  }

  /** @param {any} saved @throws {TypeError} where it is damaged */
  restore({ companies, missed }) {
    this.companies = new Map(companies.map((/** @type {any} */ [key, moments, shares]) => [key, { moments, shares: new Map(shares) }]));
    this.missed = new Map(missed);
    const companyNumbers = [...this.companies.values()].flatMap(({ moments, shares }) => [moments, ...shares.values()]);
    if (![...companyNumbers, ...this.missed.values()].every(Number.isFinite)) throw new TypeError('a company has no numbers');
  }
}

module.exports = { Silence };
