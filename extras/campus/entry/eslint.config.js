'use strict';

const core = require('../../../flows/eslint.config');
const globals = require('../../../flows/node_modules/globals');

module.exports = [
  ...core,
  { files: ['page/*.js'], languageOptions: { sourceType: 'module', globals: globals.browser } },
];
