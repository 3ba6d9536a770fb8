declare module 'polylabel' {
  /** The point of a polygon (with holes) that is farthest from its border. */
  export default function polylabel(polygon: [number, number][][], precision?: number): [number, number];
}
