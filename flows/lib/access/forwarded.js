// @ts-check
'use strict';

const { isIP } = require('node:net');
const { ID } = require('../building/ids');
const { ApiError, badRequest } = require('../http/errors');

/**
 * Whose question a caller passes on, as an entry for several sites does for its own callers. The name is a claim: it is written to the
 * audit log behind the name of the key that makes it (`entry/hacs`), never in its place, and limits go on counting the key. Only a key
 * with the right `forward` may make one, so that no other caller fills the log with names.
 */
const HEADER = 'X-On-Behalf-Of';
const NAME = HEADER.toLowerCase();

/**
 * @param {import('./callers').Caller|ApiError} caller
 * @param {import('node:http').IncomingHttpHeaders} headers
 * @returns {import('./callers').Caller|ApiError}
 */
function asForwarded(caller, headers) {
  const claimed = headers[NAME];
  if (claimed === undefined || caller instanceof ApiError) return caller;
  if (caller.kind !== 'key' || !caller.rights.has('forward')) {
    return new ApiError(403, `${caller.name} does not have the right "forward", which ${HEADER} needs`);
  }
  const name = String(claimed);
  if (!ID.test(name) && isIP(name) === 0) return badRequest(`${HEADER} must be the name of a key, or an address`);
  return { ...caller, onBehalfOf: name };
}

module.exports = { asForwarded, ON_BEHALF_OF: HEADER };
