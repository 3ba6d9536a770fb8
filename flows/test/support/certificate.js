'use strict';

const { execFileSync } = require('node:child_process');
const path = require('node:path');

/** Makes a certificate for localhost and 127.0.0.1 in a folder. @returns {{cert: string, key: string}} its files */
function makeCertificate(folder, { name = 'made', days = 90 } = {}) {
  const [cert, key] = ['crt', 'key'].map((ending) => path.join(folder, `${name}.${ending}`));
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', cert,
    '-days', String(days), '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'], { stdio: 'ignore' });
  return { cert, key };
}

module.exports = { makeCertificate };
