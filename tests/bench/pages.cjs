'use strict';

// As many sockets as pages would be open, each watching one level; run by bench/dashboard.py in flows/.
const { io } = require(require.resolve('socket.io-client', { paths: [process.cwd()] }));

const { URL: base, LEVEL, COUNT, NAME, WORD } = process.env;

async function main() {
  const login = await fetch(`${base}/login`, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ user: NAME, password: WORD }) });
  const cookie = login.headers.getSetCookie().map((one) => one.split(';')[0]).join('; ');
  const sockets = Array.from({ length: Number(COUNT) }, () => io(base, {
    path: '/dashboard/socket.io', transports: ['websocket'], extraHeaders: { cookie }, forceNew: true,
  }));
  await Promise.all(sockets.map((socket) => new Promise((resolve) => {
    socket.on('connect', () => socket.emit('sda:watch', { topic: `floor:${LEVEL}`, building: null }));
    socket.once('sda:snapshot', resolve);
  })));
  const got = { snapshots: 0, bytes: 0 };
  for (const socket of sockets) {
    socket.on('sda:snapshot', (snapshot) => {
      got.snapshots += 1;
      got.bytes = JSON.stringify(snapshot).length;
    });
  }
  process.stdin.on('data', () => console.log(JSON.stringify(got)));
}
main();
