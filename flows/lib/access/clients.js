// @ts-check
'use strict';

const { BlockList, SocketAddress, isIP } = require('node:net');
const parseForwarded = require('forwarded-parse');
const proxyaddr = require('proxy-addr');
const { ApiError, errorHandler } = require('../shared/api-error');

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

/**
 * Reads what headers of proxies say of a request, in every form that proxies send: `Forwarded` (RFC 7239), `X-Forwarded-*`, and what
 * stands for them. It says nothing of whether a proxy has sent them. The only file that reads these headers.
 * @typedef {import('node:http').IncomingHttpHeaders} Headers
 */

/** Headers that no caller but a proxy sends. Of some only their presence counts: it shows that the request was forwarded. */
const OF_A_PROXY = new RegExp(`^(?:${['x-forwarded(?:-.+)?', 'forwarded(?:-for)?', 'x-real-ip', 'via', 'x-client-ip', 'true-client-ip',
  'x-cluster-client-ip', 'x-original-.+', 'x-envoy-.+', 'cf-connecting-ipv?6?', 'fastly-client-ip', 'front-end-https', 'x-scheme',
  'x-url-scheme', 'x-proxyuser-ip'].join('|')})$`);
/** An address with a port, or IPv6 in brackets with or without one. */
const NODE = /^(?:\[([^\]]+)\](?::[\w.-]+)?|(\d+\.\d+\.\d+\.\d+):[\w.-]+)$/;
/** Not every proxy that forwards a WebSocket calls it HTTP. */
const PROTOCOLS = new Map([['http', 'http'], ['ws', 'http'], ['https', 'https'], ['wss', 'https'], ['on', 'https'], ['off', 'http']]);
/** In the order in which they count: of the first that is there. */
const PROTOCOL_HEADERS = ['x-forwarded-proto', 'x-forwarded-protocol', 'x-forwarded-scheme', 'x-scheme', 'x-url-scheme', 'x-forwarded-ssl', 'front-end-https'];

/** @param {Headers} headers whether a proxy has sent the request */
const isForwarded = (headers) => Object.keys(headers).some((name) => OF_A_PROXY.test(name));

/**
 * The addresses that a request has passed, one list for each form that there is: those that count before others come first.
 * @param {Headers} headers
 * @returns {string[][]} the caller's comes first; an address that is hidden, or is none, is `unknown`
 */
function chainsOf(headers) {
  const chains = [];
  const listed = listOf(headers['x-forwarded-for']);
  if (headers['x-forwarded-for'] !== undefined) chains.push(listed.map(addressOf));
  if (headers.forwarded !== undefined) chains.push(elementsOf(headers)?.map(({ for: node = '' }) => addressOf(node)) ?? ['unknown']);
  if (headers['x-real-ip'] !== undefined) chains.push([addressOf(String(headers['x-real-ip']))]);
  return chains;
}

/** Between the caller and its proxy. @param {Headers} headers @returns {'http'|'https'|null} */
function protocolOf(headers) {
  for (const name of PROTOCOL_HEADERS) {
    const [first] = listOf(headers[name]);
    if (first !== undefined) return named(first);
  }
  return named(elementsOf(headers)?.[0]?.proto ?? '');
}

/** The names under which the caller's request came. @param {Headers} headers @returns {string[]} with their ports, if any */
function hostsOf(headers) {
  const given = [...listOf(headers['x-forwarded-host']), ...(elementsOf(headers) ?? []).flatMap(({ host }) => host ?? [])];
  const [port] = listOf(headers['x-forwarded-port']);
  return port === undefined ? given : [...given, ...[headers.host ?? '', ...given].map((host) => `${host.replace(/:\d*$/, '')}:${port}`)];
}

/** @param {string} text @returns {'http'|'https'|null} */
const named = (text) => /** @type {'http'|'https'|undefined} */ (PROTOCOLS.get(text.toLowerCase())) ?? null;

/** @param {string|string[]|undefined} value of a header with commas between its items, as Node joins several of one name */
const listOf = (value) => (value === undefined ? [] : String(value).split(',').map((item) => item.trim()).filter(Boolean));

/** @param {Headers} headers @returns {Record<string, string>[]|null} null: it is no `Forwarded` */
function elementsOf({ forwarded }) {
  if (forwarded === undefined) return [];
  try {
    return parseForwarded(String(forwarded));
  } catch {
    return null;
  }
}

/** @param {string} node `192.0.2.7`, `192.0.2.7:4711`, `2001:db8::7`, `[2001:db8::7]`, `[2001:db8::7]:4711` */
function addressOf(node) {
  const text = node.trim().replace(/^"(.*)"$/, '$1');
  const [, ipv6, ipv4] = NODE.exec(text) ?? [];
  const address = ipv6 ?? ipv4 ?? text;
  const family = isIP(address);
  if (family === 0 || (ipv6 !== undefined && family !== 6)) return 'unknown';
  return family === 4 ? address : new SocketAddress({ address: address.split('%')[0], family: 'ipv6' }).address; // of several spellings one
}

/**
 * Who may call without a key, by address.
 *
 * Under Compose a caller on the host appears under the bridge's own address. That address counts as loopback
 * only while the port is published on loopback; published elsewhere, outside callers may appear under it too.
 * @param {{trustedNets: string[], httpBind: string, bridgeAddress: string|null}} config
 * @param {string} [setting] where they are listed
 * @returns {(address: string|undefined) => boolean}
 * @throws {Error} naming the entry of it that is no network
 */
function createTrust({ trustedNets, httpBind, bridgeAddress }, setting = 'SDA_TRUSTED_NETS') {
  const nets = new BlockList();
  for (const net of trustedNets) {
    const [address, bits] = net.split('/');
    const family = isIP(address ?? '');
    const width = family === 4 ? 32 : 128;
    const prefix = bits === undefined ? width : Number(bits);
    if (!family || bits === '' || !Number.isInteger(prefix) || prefix < 0 || prefix > width) {
      throw new Error(`${setting}: "${net}" is not a network like 192.0.2.0/24 or ::1/128`);
    }
    nets.addSubnet(/** @type {string} */ (address), prefix, family === 4 ? 'ipv4' : 'ipv6');
  }
  const inNets = (/** @type {string} */ address) => {
    const plain = unmap(address);
    const family = isIP(plain);
    return family !== 0 && nets.check(plain, family === 4 ? 'ipv4' : 'ipv6');
  };
  if (bridgeAddress && isLoopback(httpBind) && inNets('127.0.0.1')) {
    nets.addAddress(bridgeAddress, isIP(bridgeAddress) === 6 ? 'ipv6' : 'ipv4');
  }
  return (address) => address !== undefined && inNets(address);
}

/** `::ffff:192.0.2.1` is the IPv4 caller 192.0.2.1 on a socket that listens on both. @param {string} address */
function unmap(address) {
  const plain = address.split('%')[0] ?? '';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain);
  return mapped?.[1] ?? plain;
}

/** @param {string} address */
const isLoopback = (address) => address === 'localhost' || address === '::1' || address.startsWith('127.');

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

module.exports = { createClients, DIRECT, createTrust, isLoopback, unmap, createHosts };
