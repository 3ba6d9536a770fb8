// @ts-check
'use strict';

const tls = require('node:tls');

/**
 * Until when the broker's certificate is good: looked at as receivers see it, on the broker's TLS listener. That tells a
 * renewal that was not made and one that the broker has not taken alike.
 * @typedef {import('./figures').Figure} Figure
 */

/** A renewal shows within that. */
const LOOK_MS = 600_000;
/** As long as nothing is known. */
const RETRY_MS = 15_000;
const PATIENT_MS = 5000;

/**
 * @param {{host: string, port: number, secure?: Pick<import('../../http/secure').Secure, 'figures'|'life'>|null,
 *   clock: () => number}} means
 *   secure: HTTPS, whose certificate is known here; null: there is none
 */
function createCertificate({ host, port, secure = null, clock }) {
  /** @type {number|null} */
  let endsMs = null;
  let nextMs = 0;

  /** Look at it, when it is time to; every few seconds. @returns {Promise<void>} */
  async function look() {
    if (clock() < nextMs) return;
    nextMs = clock() + RETRY_MS;
    const ends = await shownEnd(host, port);
    if (ends === null) return; // the broker is away or full, which other figures say
    endsMs = ends;
    nextMs = clock() + LOOK_MS;
  }

  /** @type {Figure[]} */
  const figures = [{ name: 'broker_certificate_expiry_timestamp_s', kind: 'gauge',
    help: 'Until when the certificate is good that the broker shows to receivers, epoch seconds',
    read: () => (endsMs === null ? null : endsMs / 1000) }, ...(secure?.figures ?? [])];
  return {
    look,
    figures,
    /** All that are shown to others. @returns {import('../../alerts/kinds/certificate').Certificate[]} */
    shown: () => [{ subject: 'broker', startsMs: null, endsMs },
      ...(secure ? [{ subject: /** @type {const} */ ('https'), ...(secure.life() ?? { startsMs: null, endsMs: null }) }] : [])],
  };
}

/** @param {string} host @param {number} port @returns {Promise<number|null>} epoch ms; null: nobody shows one */
function shownEnd(host, port) {
  return new Promise((resolve) => {
    // it is looked at, not relied on: an end that is past must be seen too
    const socket = tls.connect({ host, port, rejectUnauthorized: false, timeout: PATIENT_MS });
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
