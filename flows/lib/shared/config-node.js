// @ts-check
'use strict';

/** Such a node has this property once it has started. */
const PROOF = { site: 'app', broker: 'broker' };

/**
 * A config node that another node needs.
 * @param {{nodes: {getNode: (id: string) => any}}} RED @param {string} id @param {'site'|'broker'} what
 * @throws {Error} there is none
 */
function configNode(RED, id, what) {
  const node = RED.nodes.getNode(id);
  if (!node?.[PROOF[what]]) throw new Error(`no ${what} is chosen, or it could not start: look at its own message, and choose one in this node`);
  return node;
}

module.exports = { configNode };
