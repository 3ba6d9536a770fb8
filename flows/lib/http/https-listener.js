// @ts-check
'use strict';

const { X509Certificate } = require('node:crypto');
const fs = require('node:fs/promises');
const tls = require('node:tls');
const { oneAtATime } = require('../shared/deadline');

/**
 * HTTPS beside Node-RED's own HTTP: what comes over TLS is handed to the same server as a connection, so pages, API and sockets
 * are the same. The certificate's files are checked every few seconds; a new pair is shown to who connects from then on, and
 * nobody who is connected notices. A pair that cannot be used is refused: the pair of before stays, and `part` says why.
 * @typedef {ReturnType<typeof createHttpsListener>} HttpsListener
 * @typedef {{cert: string, key: string}} Pair PEM
 */

/** A renewal shows within that, and a port that was taken is tried again. */
const CHECK_MS = 5000;
/** A disk answers within milliseconds; a mount that hangs is a fault, and is read again when it is back. */
const READ_WITHIN_MS = 5000;
/** Who does not finish a handshake holds a connection no longer. */
const HANDSHAKE_MS = 10_000;
const REMEDIES = Object.freeze(/** @type {Record<string, string>} */ ({
  EADDRINUSE: 'something else listens there: stop it, or choose another HTTPS_PORT',
  EACCES: 'this user may not open it: take a port above 1023, or let it (sysctl net.ipv4.ip_unprivileged_port_start)',
  EADDRNOTAVAIL: 'this machine does not have the address of HTTPS_BIND',
}));

/** @param {{host: string, port: number, certFile: string, keyFile: string, clock: () => number}} deps */
function createHttpsListener({ host, port, certFile, keyFile, clock }) {
  /** @type {tls.Server|null} */
  let listener = null;
  /** @type {Pair|null} */
  let shown = null;
  /** @type {{startsMs: number, endsMs: number}|null} */
  let life = null;
  /** @type {string} */
  let fileFault = 'its certificate was not read yet';
  let portFault = '';
  let refused = 0;
  const readPair = oneAtATime(() => Promise.all([certFile, keyFile].map((file) => fs.readFile(file, 'utf8'))), READ_WITHIN_MS, 'reading them');

  /** Take over what the files hold, where that is new. @param {(text: string) => void} log */
  async function readFiles(log) {
    try {
      const [cert = '', key = ''] = await readPair();
      fileFault = '';
      if (shown?.cert === cert && shown.key === key) return;
      life = lifeOf({ cert, key });
      shown = { cert, key };
      listener?.setSecureContext(shown);
      if (listener) log(`HTTPS shows its new certificate, good until ${new Date(life.endsMs).toISOString()}`);
    } catch (error) {
      fileFault = `${certFile} and ${keyFile} cannot be used: ${/** @type {Error} */ (error).message}`;
    }
  }

  /** @param {import('node:http').Server} server who answers @param {(text: string) => void} log @returns {Promise<void>} */
  function open(server, log) {
    return new Promise((resolve) => {
      const opening = tls.createServer({ ...shown, ALPNProtocols: ['http/1.1'], handshakeTimeout: HANDSHAKE_MS, noDelay: true });
      opening.on('secureConnection', (socket) => server.emit('connection', socket));
      opening.on('tlsClientError', (_error, socket) => {
        refused += 1; // no TLS, or an authority that the caller does not know
        socket.destroy();
      });
      opening.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
        portFault = `port ${port} is not open: ${error.message}; ${REMEDIES[error.code ?? ''] ?? 'look at HTTPS_PORT and HTTPS_BIND'}`;
        resolve();
      });
      opening.listen(port, host, () => {
        [listener, portFault] = [opening, ''];
        log(`HTTPS listens on ${host}:${port}`);
        resolve();
      });
    });
  }

  /** Bring everything to how it should be. @param {import('node:http').Server} server @param {(text: string) => void} log */
  async function check(server, log) {
    const before = fault();
    await readFiles(log);
    if (!listener && shown) await open(server, log);
    if (fault() && fault() !== before) log(`HTTPS: ${fault()}`);
  }

  const fault = () => portFault || fileFault;

  return {
    check,
    /** Listen from now on, as long as the process lives. @param {import('node:http').Server} server @param {(text: string) => void} log */
    serve(server, log) {
      let checking = check(server, log);
      const again = () => check(server, log);
      const timer = setInterval(() => { checking = checking.then(again, again); }, CHECK_MS);
      timer.unref();
      return checking;
    },
    /** Stop listening; who is connected stays so. */
    close: () => listener?.close(),
    /** Of /health. @returns {import('../health').Part} */
    part() {
      const ended = life !== null && life.endsMs <= clock();
      const reason = fault() || (ended ? 'the certificate of HTTPS has ended: callers refuse it' : '');
      return reason === '' ? { status: 'up' } : {
        status: 'degraded', reason,
        remedy: 'look at HTTPS_CERT and HTTPS_KEY (both PEM, for each other, readable for Node-RED); it is tried again within seconds',
      };
    },
    /** Of the certificate that is shown, epoch ms; null: none yet. */
    life: () => life,
    /** @type {import('../health/figures').Figure[]} */
    figures: [
      { name: 'https_certificate_expiry_timestamp_s', kind: 'gauge', help: 'Until when the certificate of HTTPS is good, epoch seconds',
        read: () => (life === null ? null : life.endsMs / 1000) },
      { name: 'https_handshakes_failed', kind: 'counter', help: 'Callers of HTTPS whose TLS handshake failed', read: () => refused },
    ],
  };
}

/**
 * @param {Pair} pair
 * @returns {{startsMs: number, endsMs: number}} epoch ms
 * @throws {Error} where they are no PEM, or not for each other
 */
function lifeOf({ cert, key }) {
  tls.createSecureContext({ cert, key });
  const { validFrom, validTo } = new X509Certificate(cert);
  return { startsMs: Date.parse(validFrom), endsMs: Date.parse(validTo) };
}

module.exports = { createHttpsListener };
