'use strict';

const { createKeyRing } = require('../../lib/access/keys');
const { createLimits } = require('../../lib/access/limits');

/** What the guards need beside who is trusted: no keys but that of .env, and limits that nobody meets. */
const guards = () => ({
  keys: createKeyRing(),
  audit: { lookedUp: () => {}, adminAction: () => {}, settle: async () => {}, folder: '/nowhere' },
  metrics: { watch: (_request, _response, next) => next(), contentType: 'text/plain', text: async () => '' },
  limits: createLimits({ ratePerS: 100_000, trustedRatePerS: 100_000 }),
});

module.exports = { guards };
