// @ts-check
'use strict';

const { LATEST_MS } = require('../past/history');
const { buildingView } = require('./building-view');
const { devices } = require('./devices');
const { floor } = require('./floor');
const { staff } = require('./staff');
const { createStatus } = require('./status');
const { system } = require('./system');

/**
 * Topics that pages can watch: `name` or `name:argument`. A new topic needs a file beside this one that builds its data, and a
 * line here. Every snapshot has the status too, so that a page needs one topic only.
 * @typedef {{site: import('../site').Site, alerts: Pick<import('../alerts').Alerts, 'groups'|'open'|'dropped'|'version'>,
 *   trend: Pick<import('../health/metrics/trend').Trend, 'samples'>,
 *   keys?: {records: () => {rights: Iterable<string>, expires_ms: number|null}[]},
 *   losses?: Pick<import('../health/loss-ledger').LossLedger, 'byName'>,
 *   health: (nowMs: number) => {parts: Record<string, import('../health').Part>}}} Context
 * @typedef {{everyMs: number, data: (context: Context, argument: string, nowMs: number,
 *   presences: import('./people').Presence[]) => object}} Topic
 * @typedef {ReturnType<typeof createTopics>} Topics
 */

/** @type {Record<string, Topic>} everyMs: shortest interval, in steps of the tick of 200 ms */
const TOPICS = {
  status: { everyMs: 1000, data: () => ({}) },
  floor: { everyMs: 200, data: floor },
  staff: { everyMs: 1000, data: staff },
  devices: { everyMs: 1000, data: devices },
  system: { everyMs: 1000, data: system },
};

/** @param {Context} context */
function createTopics(context) {
  const { site } = context;
  const status = createStatus(context);
  /** @type {{of: import('../building').Building|null, view: ReturnType<typeof buildingView>|null}} */
  const cachedView = { of: null, view: null };
  const cachedPresences = { version: '', all: /** @type {import('./people').Presence[]} */ ([]) };

  /** Read once for all topics of a tick. @param {number} nowMs */
  function presencesAt(nowMs) {
    const version = `${nowMs} ${site.live.version()} ${site.live.counters().messages}`;
    if (cachedPresences.version !== version) {
      // a batch of days ago loses nobody now
      const all = site.live.presences().filter(({ state, ts }) => state !== 'lost' || nowMs - ts <= LATEST_MS);
      Object.assign(cachedPresences, { version, all });
    }
    return cachedPresences.all;
  }

  /** @param {string} topic @returns {[Topic, string]} an unknown topic has the status only */
  function find(topic) {
    const [name = '', argument = ''] = topic.split(':', 2);
    return [Object.hasOwn(TOPICS, name) ? /** @type {Topic} */ (TOPICS[name]) : /** @type {Topic} */ (TOPICS.status), argument];
  }

  return {
    /** The building as pages need it. */
    building() {
      const building = site.building();
      if (cachedView.of !== building) Object.assign(cachedView, { of: building, view: buildingView(building) });
      return /** @type {ReturnType<typeof buildingView>} */ (cachedView.view);
    },
    /** @param {string} topic */
    everyMs: (topic) => find(topic)[0].everyMs,
    /** The data of a topic is unchanged while its stamp is. @param {string} _topic */
    stamp: (_topic) => `${site.live.version()} ${site.live.counters().messages} ${site.connected()}`,
    /**
     * @param {string} topic
     * @param {number} nowMs
     * @returns {{stamp: string, snapshot: {topic: string, ts: number, status: object}}}
     */
    build(topic, nowMs) {
      const [{ data }, argument] = find(topic);
      const presences = presencesAt(nowMs);
      const snapshot = { topic, ts: nowMs, status: status(nowMs, presences), ...data(context, argument, nowMs, presences) };
      return { stamp: this.stamp(topic), snapshot };
    },
  };
}

module.exports = { createTopics };
