'use strict';

const assert = require('node:assert/strict');
const { EventEmitter } = require('node:events');
const { test } = require('node:test');
const express = require('express');
const { createHosts } = require('../lib/access');
const { createFront } = require('../lib/http');

test('addresses, localhost and configured names are answered, at any port and in any case', () => {
  const { isAnswered } = createHosts(['sda.example.org']);
  for (const host of [undefined, 'localhost', 'LOCALHOST:1880', '127.0.0.1', '192.168.7.1:1880', '[::1]:1880', '[2001:db8::7]',
    'sda.example.org', 'SDA.Example.org:443', 'sda.example.org.', 'sda.example.org.:443', 'localhost.', '127.0.0.1.:80']) assert.ok(isAnswered(host), host);
});

test('no other name is, whatever it looks like', () => {
  const { isAnswered } = createHosts(['sda.example.org']);
  for (const host of ['', 'evil.example', 'evil.example:1880', 'localhost.evil.example', '127.0.0.1.evil.example', 'x.sda.example.org',
    'sda.example.org.evil.example', 'x.localhost', '[::1].evil.example', '[evil.example]', '127.0.0.1:1880:evil', 'localhost@evil.example',
    '2130706433', '0x7f000001', '127.1', 'file:1880', 'x-extension:1880', '::1', '.', 'localhost..', '[::1].', 'evil.example.']) assert.ok(!isAnswered(host), host);
});

test('one runtime that serves one application after the other is listened to once', () => {
  const events = new EventEmitter();
  for (let i = 0; i < 20; i += 1) createFront(express(), createHosts([]), events);
  assert.equal(events.listenerCount('flows:started'), 1);
  assert.equal(events.listenerCount('flows:stopping'), 1);
});
