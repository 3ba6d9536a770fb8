'use strict';

const js = require('@eslint/js');
const redos = require('eslint-plugin-redos').default ?? require('eslint-plugin-redos');
const regexp = require('eslint-plugin-regexp');
const vue = require('eslint-plugin-vue');
const globals = require('globals');

module.exports = [
  { ignores: ['node_modules/', 'dashboard/dist/'] },
  js.configs.recommended,
  ...vue.configs['flat/recommended'],
  { files: ['**/*.{js,cjs}'], languageOptions: { ecmaVersion: 2024, sourceType: 'commonjs', globals: globals.node } },
  { files: ['dashboard/**/*.{js,vue}'], languageOptions: { sourceType: 'module', globals: globals.browser } },
  { files: ['dashboard/test/*.js', 'dashboard/vite.config.js'], languageOptions: { globals: globals.node } },
  {
    files: ['**/*.{js,cjs,vue}'],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      strict: ['error', 'global'],
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-shadow': 'error',
      'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'max-len': ['error', { code: 140, ignoreTemplateLiterals: true, ignoreStrings: true }],
      complexity: ['error', 16],
    },
  },
  {
    // a pattern takes a time in proportion to the text; tests match their own text
    files: ['**/*.{js,cjs,vue}'],
    ignores: ['test/**', 'dashboard/test/**', 'bench/**'],
    plugins: { redos, regexp },
    rules: {
      'redos/no-vulnerable': 'error',
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignoreSticky: false }],
      'regexp/no-potentially-useless-backreference': 'error',
    },
  },
  {
    files: ['**/*.vue'],
    rules: {
      'max-lines': ['error', 150],
      'vue/max-attributes-per-line': 'off', // as many as fit the line
      'vue/singleline-html-element-content-newline': 'off',
      'vue/html-closing-bracket-newline': 'off',
      'vue/first-attribute-linebreak': 'off',
      'vue/html-indent': 'off',
      'vue/multi-word-component-names': 'off', // none of them is used as a tag beside HTML's own
      'vue/html-self-closing': 'off',
      'vue/no-v-html': 'error',
    },
  },
  { files: ['dashboard/src/**/*.js'], rules: { 'max-lines': ['error', { max: 150, skipBlankLines: true, skipComments: true }], strict: 'off' } },
  { files: ['lib/**/*.js'], rules: { 'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }] } },
  { files: ['nodes/*.js'], rules: { 'max-lines': ['error', 60] } },
  {
    // one file reads the environment; the one-shot tool may take it too
    files: ['lib/**/*.js', 'nodes/**/*.js'],
    rules: { 'no-restricted-properties': ['error', { object: 'process', property: 'env', message: 'Only settings.js reads the environment.' }] },
  },
];
