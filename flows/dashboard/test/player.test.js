import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { effectScope } from 'vue';
import { instant } from '../src/lib/choice.js';

mock.timers.enable({ apis: ['setInterval'] }); // the clock of the state would keep the process alive
globalThis.document = /** @type {any} */ ({ title: '' });
const { follow } = await import('../src/io/route.js');
const { usePlayer } = await import('../src/parts/history/use-player.js');
const window = { fromMs: 1_000_000, toMs: 2_000_000 };

/** A router whose navigations end when the test says so. */
function createRouter() {
  const pending = [];
  const followers = [];
  const router = {
    currentRoute: { value: { query: {} } },
    afterEach: (follower) => followers.push(follower),
    replace: ({ query }) => new Promise((resolve) => { pending.push({ query, resolve }); }),
    /** @param {object} query */
    arrive(query) {
      router.currentRoute.value = { query };
      for (const follower of followers) follower(router.currentRoute.value);
    },
    /** The oldest pending navigation ends. */
    async finish() {
      const { query, resolve } = pending.shift();
      router.arrive(query);
      resolve();
      await new Promise(setImmediate);
    },
  };
  return router;
}

test('a late change of the address does not undo the next input', async () => {
  const router = createRouter();
  follow(router);
  await effectScope().run(async () => {
    const { player, seek, settle } = usePlayer(window);
    seek(1_001_000);
    settle();
    seek(1_002_000);
    await router.finish();
    assert.equal(player.atMs, 1_002_000);
    settle();
    await router.finish();
    assert.equal(player.atMs, 1_002_000);
    assert.equal(router.currentRoute.value.query.at, instant(1_002_000));
  });
});

test('the player follows an address that somebody else has changed', async () => {
  const router = createRouter();
  follow(router);
  await effectScope().run(async () => {
    const { player, seek, settle } = usePlayer(window);
    seek(1_001_000);
    settle();
    await router.finish();
    router.arrive({ at: instant(1_500_000) });
    assert.equal(player.atMs, 1_500_000);
  });
});
