// @ts-check
'use strict';

const { BlockList, isIP } = require('node:net');

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

module.exports = { createTrust, isLoopback, unmap };
