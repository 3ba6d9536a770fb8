// @ts-check
'use strict';

const { isIP } = require('node:net');
const proxyaddr = require('proxy-addr');
const { chainsOf, hostsOf, isForwarded, protocolOf } = require('./forwarding');
const { isLoopback, unmap } = require('./trust');

/**
 * From which address a request comes, and under which name. Headers of proxies count where a configured proxy has sent them: anybody
 * can write them. Of several forms `X-Forwarded-For` counts, then `Forwarded`, then `X-Real-IP`; where another one names somebody
 * else, the caller has written one of them, and earns no trust.
 * @typedef {{address: string, credible: boolean}} Client credible: whether the address may earn trust. That of a proxy does not, since
 *   anybody may be behind it, nor does loopback once a request was forwarded
 * @typedef {ReturnType<typeof createClients>} Clients
 */

/**
 * @param {{trustedProxies: readonly string[], httpBind?: string, bridgeAddress?: string|null,
 *   isAnswered?: (host: string) => boolean}} config httpBind: where the port is published on loopback, a proxy on the host of a
 *   container appears under the address of the bridge; isAnswered: of the names that a proxy reports only these count, since a caller
 *   may have written others
 * @param {string} [setting] where they are listed
 * @throws {Error} naming the entry of it that is no network
 */
function createClients({ trustedProxies, httpBind = '', bridgeAddress = null, isAnswered = () => false }, setting = 'SDA_TRUSTED_PROXIES') {
  for (const proxy of trustedProxies) {
    try {
      proxyaddr.compile(proxy);
    } catch {
      throw new Error(`${setting}: "${proxy}" is not an address or a network like 192.0.2.7 or 192.0.2.0/24`);
    }
  }
  const listed = proxyaddr.compile([...trustedProxies]);
  const isBridge = (/** @type {string} */ address) => isLoopback(httpBind) && unmap(address) === bridgeAddress;
  /** @param {string} address */
  const isProxy = (address) => listed(address, 0) || (isBridge(address) && listed('127.0.0.1', 0));

  /** HTTPS is published for others too, who may appear under the bridge's address. @param {import('node:http').IncomingMessage} request */
  const isOutside = ({ socket }) => Boolean(/** @type {import('node:tls').TLSSocket|undefined} */ (socket)?.encrypted)
    && isBridge(socket?.remoteAddress ?? '');
  /** @param {import('node:http').IncomingMessage} request whether a configured proxy has sent it */
  const isProxied = (request) => !isOutside(request) && isProxy(request.socket?.remoteAddress ?? '');

  return {
    /** Express asks it whose X-Forwarded-Proto counts. */
    isProxy,
    /**
     * Express middleware, before all that asks for `request.protocol`, which reads one header only.
     * @type {import('express').RequestHandler}
     */
    readProtocol(request, _response, next) {
      const protocol = isProxied(request) && protocolOf(request.headers);
      if (protocol) request.headers['x-forwarded-proto'] = protocol;
      next();
    },
    /** The names under which the caller has asked, with ports. @param {import('node:http').IncomingMessage} request */
    hostsOf: (request) => [request.headers.host ?? '', ...(isProxied(request) ? hostsOf(request.headers).filter(isAnswered) : [])],
    /** @param {import('node:http').IncomingMessage} request @returns {Client} */
    clientOf(request) {
      const peer = request.socket?.remoteAddress ?? '';
      if (!isForwarded(request.headers)) return { address: peer, credible: !isOutside(request) };
      if (!isProxied(request)) return { address: peer, credible: false };
      const [address = peer, ...others] = chainsOf(request.headers).map((chain) => callerOf(request.socket, chain, isProxy));
      if (isIP(address) === 0) return { address: peer, credible: false };
      const isSame = others.every((other) => other === address || isProxy(other));
      return { address, credible: isSame && !isProxy(address) && !isBridge(address) && !isLoopback(address) };
    },
  };
}

/**
 * The last address that is no proxy's; the first of all where they all are.
 * @param {import('node:net').Socket} socket @param {string[]} chain @param {(address: string) => boolean} isProxy
 */
const callerOf = (socket, chain, isProxy) => unmap(proxyaddr(
  /** @type {any} */ ({ socket, connection: socket, headers: { 'x-forwarded-for': chain.join(', ') } }), isProxy));

/** Where no proxy is configured. */
const DIRECT = createClients({ trustedProxies: [] });

module.exports = { createClients, DIRECT };
