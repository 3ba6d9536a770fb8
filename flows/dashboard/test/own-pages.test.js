import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOurs, ownPages } from '../src/lib/own-pages.js';

const PAGES = {
  a: { name: 'Floor', path: '/floor', icon: 'home', order: 1, ui: 'base' },
  b: { name: 'Cleaning', path: '/cleaning', icon: 'mdi-broom', order: 9, ui: 'base', visible: 'true', disabled: 'false' },
  c: { name: 'Lifts', path: '/lifts', icon: '', order: 8, ui: 'base', visible: true },
  d: { name: 'Hidden', path: '/hidden', order: 2, ui: 'base', visible: 'false' },
  e: { name: 'Off', path: '/off', order: 2, ui: 'base', disabled: true },
};

test('pages of users, in their order, without ours and what is hidden', () => {
  assert.deepEqual(ownPages(PAGES, { base: { path: '/dashboard' } }, ['floor']), [
    { name: 'Lifts', href: '/dashboard/lifts', icon: '' }, { name: 'Cleaning', href: '/dashboard/cleaning', icon: 'broom' }]);
  assert.deepEqual(ownPages(undefined, undefined, []), []);
});

test('an address is one of ours by its last part', () => {
  assert.ok(isOurs('/dashboard/floor', ['floor']) && isOurs('/floor/', ['floor']));
  assert.ok(!isOurs('/dashboard/cleaning', ['floor']) && !isOurs('/', ['floor']));
});
