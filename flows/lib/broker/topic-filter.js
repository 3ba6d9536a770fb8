// @ts-check
'use strict';

/**
 * Whether a topic matches the filter of a subscription (MQTT 3.1.1, 4.7). Pure.
 * @param {string} filter with `+` for one level and `#` for all further ones
 * @returns {(topic: string) => boolean}
 */
function createTopicFilter(filter) {
  const pattern = filter.split('/').map((level) => (level === '+' ? '[^/]*' : level === '#' ? '.*' : level.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
    .join('/').replace(/\/\.\*$/, '(?:/.*)?');
  const matching = new RegExp(`^${pattern}$`, 's');
  return (topic) => matching.test(topic);
}

module.exports = { createTopicFilter };
