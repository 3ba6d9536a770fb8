// @ts-check
'use strict';

const tls = require('node:tls');

/**
 * Expiry of the broker's certificate, read on the broker's TLS listener as receivers see it. So a renewal that was not made and
 * one that the broker has not loaded look the same.
 * @typedef {import('./figures').Figure} Figure
 */

/** A renewal shows within this time. */
const POLL_MS = 600_000;
/** While the expiry is not known. */
const RETRY_MS = 15_000;
const TIMEOUT_MS = 5000;

/**
 * @param {{host: string, port: number, httpsListener?: Pick<import('../../http/https-listener').HttpsListener, 'figures'|'life'>|null,
 *   clock: () => number}} options
 *   httpsListener: our HTTPS server; null: HTTPS is off
 */
function createCertificate({ host, port, httpsListener = null, clock }) {
  /** @type {number|null} */
  let endsMs = null;
  let nextMs = 0;

  /** Reads the certificate when it is due; called every few seconds. @returns {Promise<void>} */
  async function poll() {
    if (clock() < nextMs) return;
    nextMs = clock() + RETRY_MS;
    const ends = await shownEnd(host, port);
    if (ends === null) return; // the broker is away or full; other figures show that
    endsMs = ends;
    nextMs = clock() + POLL_MS;
  }

  /** @type {Figure[]} */
  const figures = [{ name: 'broker_certificate_expiry_timestamp_s', kind: 'gauge',
    help: 'Until when the certificate is good that the broker shows to receivers, epoch seconds',
    read: () => (endsMs === null ? null : endsMs / 1000) }, ...(httpsListener?.figures ?? [])];
  return {
    poll,
    figures,
    /** Certificates of our servers. @returns {import('../../alerts/kinds/certificate').Certificate[]} */
    shown: () => [{ subject: 'broker', startsMs: null, endsMs },
      ...(httpsListener ? [{ subject: /** @type {const} */ ('https'), ...(httpsListener.life() ?? { startsMs: null, endsMs: null }) }] : [])],
  };
}

/** @param {string} host @param {number} port @returns {Promise<number|null>} epoch ms; null: no TLS connection */
function shownEnd(host, port) {
  return new Promise((resolve) => {
    // the certificate is only read, not trusted: an expired one must be read too
    const socket = tls.connect({ host, port, rejectUnauthorized: false, timeout: TIMEOUT_MS });
    const end = (/** @type {number|null} */ ms) => {
      socket.destroy();
      resolve(ms);
    };
    socket.once('secureConnect', () => {
      const ms = Date.parse(socket.getPeerCertificate().valid_to);
      end(Number.isFinite(ms) ? ms : null);
    });
    socket.once('timeout', () => end(null));
    socket.once('error', () => end(null));
    socket.once('close', () => resolve(null));
  });
}

module.exports = { createCertificate };
