// @ts-check
'use strict';

const { isIP } = require('node:net');
const proxyaddr = require('proxy-addr');
const { isLoopback, unmap } = require('./trust');

/**
 * From which address a request comes. X-Forwarded-For counts where a configured proxy has sent it: anybody can write that header.
 * @typedef {{address: string, credible: boolean}} Client credible: whether the address may earn trust. That of a proxy does not, since
 *   anybody may be behind it, nor does loopback once a request was forwarded
 * @typedef {ReturnType<typeof createClients>} Clients
 */

const FORWARDED = /^(?:x-forwarded-.+|forwarded|x-real-ip|via)$/;

/**
 * @param {{trustedProxies: readonly string[], httpBind?: string, bridgeAddress?: string|null}} config where the port is published on
 *   loopback, a proxy on the host of a container appears under the address of the bridge
 * @param {string} [setting] where they are listed
 * @throws {Error} naming the entry of it that is no network
 */
function createClients({ trustedProxies, httpBind = '', bridgeAddress = null }, setting = 'SDA_TRUSTED_PROXIES') {
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

  return {
    /** Express asks it whose X-Forwarded-Proto counts. */
    isProxy,
    /** @param {import('node:http').IncomingMessage} request @returns {Client} */
    clientOf(request) {
      const peer = request.socket?.remoteAddress ?? '';
      // HTTPS is published for others too, who may appear under the bridge's address
      const outside = Boolean(/** @type {import('node:tls').TLSSocket|undefined} */ (request.socket)?.encrypted) && isBridge(peer);
      if (!Object.keys(request.headers).some((name) => FORWARDED.test(name))) return { address: peer, credible: !outside };
      if (outside || !isProxy(peer)) return { address: peer, credible: false };
      const address = proxyaddr(request, isProxy);
      if (isIP(unmap(address)) === 0) return { address: peer, credible: false };
      return { address, credible: !isProxy(address) && !isBridge(address) && !isLoopback(unmap(address)) };
    },
  };
}

/** Where no proxy is configured. */
const DIRECT = createClients({ trustedProxies: [] });

module.exports = { createClients, DIRECT };
