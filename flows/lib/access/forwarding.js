// @ts-check
'use strict';

const { isIP, SocketAddress } = require('node:net');
const parseForwarded = require('forwarded-parse');

/**
 * What the headers of proxies say of a request, in every form that proxies send: `Forwarded` (RFC 7239), `X-Forwarded-*`, and what
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

module.exports = { isForwarded, chainsOf, protocolOf, hostsOf };
