// @ts-check
'use strict';

const { isIP } = require('node:net');
const { ApiError, errorHandler } = require('../shared/api-error');

/**
 * Which host names are answered: addresses, `localhost`, and the names of HTTP_NAMES. With DNS rebinding a page of another site
 * has its own name lead to this machine; the browser then takes us for that site, and only the Host header shows it.
 * @typedef {ReturnType<typeof createHosts>} Hosts
 */

/** The final dot of a name that is written as a whole names the same host. */
const HOST = /^(?:\[([^\]]*)\]|([^:[\]]*?)\.?)(?::\d*)?$/;
const MISDIRECTED = 421;

/** @param {readonly string[]} names in lower case @param {string} [setting] where they are listed */
function createHosts(names, setting = 'HTTP_NAMES') {
  const known = new Set(['localhost', ...names]);
  const refuse = errorHandler(() => {}, { location: [] });
  let refused = 0;

  /** @param {string|undefined} header of the request; browsers always send one */
  function isAnswered(header) {
    if (header === undefined) return true;
    const [, ipv6, host = ''] = HOST.exec(header.trim().toLowerCase()) ?? [];
    return ipv6 === undefined ? isIP(host) === 4 || known.has(host) : isIP(ipv6) === 6;
  }

  /** @param {import('node:http').IncomingMessage} request @returns {ApiError|null} */
  function fault({ headers: { host } }) {
    if (isAnswered(host)) return null;
    refused += 1;
    return new ApiError(MISDIRECTED, `the name ${JSON.stringify(host)} is not answered here: use an IP address or localhost, `
      + `or list the name in ${setting}`);
  }

  return {
    isAnswered,
    /** Express middleware, before all that answers. @type {import('express').RequestHandler} */
    guard(request, response, next) {
      const error = fault(request);
      if (error) refuse(error, request, response, next);
      else next();
    },
    /** Middleware of socket.io. @param {any} socket @param {(error?: Error) => void} next */
    guardSocket: (socket, next) => next(fault(socket.request) ?? undefined),
    /** How many requests were refused. */
    refused: () => refused,
  };
}

module.exports = { createHosts };
