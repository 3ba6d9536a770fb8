// @ts-check
'use strict';

/**
 * A row of numbers for each person, by slot: some for the row, of which the first is how many items follow, then items of some numbers
 * each. All rows lie together in memory and are as wide as the widest.
 */
class Rows {
  /** @param {number} head numbers before the items @param {number} size numbers of an item @param {number} places at first, for items */
  constructor(head, size, places) {
    this.head = head;
    this.size = size;
    this.width = head + places * size;
    this.list = new Float64Array(0);
  }

  /** Where the row of a person begins. @param {number} slot */
  startOf(slot) { return slot * this.width; }

  /** Where the items of a person end. @param {number} slot */
  endOf(slot) { return slot * this.width + this.head + this.list[slot * this.width] * this.size; }

  /** Room for one item more. @param {number} slot @returns {number} where it begins */
  append(slot) {
    if (this.endOf(slot) === (slot + 1) * this.width) this.#widen(this.width + 4 * this.size);
    const at = this.endOf(slot);
    this.list[slot * this.width] += 1;
    return at;
  }

  /** Only the items before this place stay. @param {number} slot @param {number} end */
  cut(slot, end) { this.list[slot * this.width] = (end - slot * this.width - this.head) / this.size; }

  /** @param {number} width */
  #widen(width) {
    const { list, width: before } = this;
    this.width = width;
    this.list = new Float64Array(Math.ceil(list.length / before) * width);
    for (let from = 0, to = 0; from < list.length; from += before, to += width) this.list.set(list.subarray(from, from + before), to);
  }

  /** @param {number} slot @param {readonly number[]} numbers of a whole row */
  set(slot, numbers) {
    if (numbers.length > this.width) this.#widen(numbers.length);
    this.list = grown(this.list, (slot + 1) * this.width);
    this.list.set(numbers, slot * this.width);
  }

  /** The whole row. @param {number} slot */
  get(slot) { return Array.from(this.list.subarray(this.startOf(slot), this.endOf(slot))); }
}

/** The list, or where it is shorter than that a longer one. @param {Float64Array<ArrayBuffer>} list @param {number} least */
function grown(list, least) {
  if (list.length >= least) return list;
  const longer = new Float64Array(Math.max(Math.ceil(list.length * 1.25), least));
  longer.set(list);
  return longer;
}

module.exports = { Rows, grown };
