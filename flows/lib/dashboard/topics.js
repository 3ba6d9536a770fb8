// @ts-check
'use strict';

const { buildingView } = require('./building-view');
const { devices } = require('./devices');
const { floor } = require('./floor');
const { staff } = require('./staff');
const { createStatus } = require('./status');
const { system } = require('./system');

/**
 * What pages can watch, by name; a topic is the name, or `name:argument`. To add one: a file beside this one that
 * makes the data, and a line here. Every snapshot carries the status, so that a page needs one topic only.
 * @typedef {{site: import('../site').Site, alerts: Pick<import('../alerts').Alerts, 'list'|'open'|'dropped'>,
 *   trend: Pick<import('../health/metrics/trend').Trend, 'samples'>,
 *   keys?: {records: () => {rights: Iterable<string>, expires_ms: number|null}[]},
 *   losses?: Pick<import('../health/loss-ledger').LossLedger, 'byName'>,
 *   health: (nowMs: number) => {parts: Record<string, import('../health').Part>}}} Context
 * @typedef {{everyMs: number, data: (context: Context, argument: string, nowMs: number,
 *   presences: import('./people').Presence[]) => object}} Topic
 * @typedef {ReturnType<typeof createTopics>} Topics
 */

/** @type {Record<string, Topic>} everyMs: at most so often, in steps of the tick of 200 ms */
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
  const shown = { of: null, view: null };
  const now = { version: '', all: /** @type {import('./people').Presence[]} */ ([]) };

  /** Once for all topics of a tick. @param {number} nowMs */
  function presencesAt(nowMs) {
    const version = `${nowMs} ${site.version()} ${site.counters().messages}`;
    if (now.version !== version) Object.assign(now, { version, all: site.presences() });
    return now.all;
  }

  /** @param {string} topic @returns {[Topic, string]} what there is not is nothing but status */
  function find(topic) {
    const [name = '', argument = ''] = topic.split(':', 2);
    return [Object.hasOwn(TOPICS, name) ? /** @type {Topic} */ (TOPICS[name]) : /** @type {Topic} */ (TOPICS.status), argument];
  }

  return {
    /** The building as pages need it. */
    building() {
      const building = site.building();
      if (shown.of !== building) Object.assign(shown, { of: building, view: buildingView(building) });
      return /** @type {ReturnType<typeof buildingView>} */ (shown.view);
    },
    /** @param {string} topic */
    everyMs: (topic) => find(topic)[0].everyMs,
    /** As long as this stays the same there is nothing new to say. @param {string} _topic */
    stamp: (_topic) => `${site.version()} ${site.counters().messages} ${site.outbox.connected()}`,
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
