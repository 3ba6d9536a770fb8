'use strict';

const hex = (number) => number.toString(16).toUpperCase().padStart(12, '0');

/** 30 levels of 200 rooms, a beacon in each and a gateway in every sixth, 2,000 people with tags: 1.2 MB. */
function tower({ levels = 30, columns = 20, rows = 10, people = 2000, sideM = 5 } = {}) {
  const file = { building: 'Tower', levels: [], beacons: [], gateways: [], staff: [] };
  for (let storey = 1; storey <= levels; storey += 1) {
    const level = `L${storey}`;
    const rooms = [];
    for (let i = 0; i < rows * columns; i += 1) {
      const [x, y] = [(i % columns) * sideM, Math.floor(i / columns) * sideM];
      const room = `${level}-${i}`;
      rooms.push({ id: room, name: `Room ${storey}.${i}`, polygon: [[x, y], [x + sideM, y], [x + sideM, y + sideM], [x, y + sideM]] });
      file.beacons.push({ id: hex(0xC00000000000 + file.beacons.length), level, room, x_m: x + 2.5, y_m: y + 2.5, tx: -59 });
      if (i % 6 === 0) file.gateways.push({ id: `gw-${room}`, level, room, x_m: x + 2, y_m: y + 2 });
    }
    file.levels.push({ id: level, name: `Level ${storey}`, width_m: columns * sideM, height_m: rows * sideM, rooms });
  }
  for (let i = 0; i < people; i += 1) file.staff.push({ id: String(i), name: `Staff ${i}`, tags: [hex(0xD00000000000 + i)] });
  return file;
}

module.exports = { tower };
