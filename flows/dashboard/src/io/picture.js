/**
 * Makes a PNG of a plan, with its title above and its legend below. An SVG in a picture has no access to our styles or other
 * files, so computed styles and pictures are written into it.
 */

/** Style properties of elements of a plan. */
const STYLES = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'stroke-linejoin', 'opacity',
  'vector-effect', 'paint-order', 'transform', 'font', 'text-anchor', 'display'];
/** Pixels of the picture by pixels of the screen. */
const SCALE = 2;
const LINE_PX = 22;
const MARGIN_PX = 14;
const SWATCH_PX = 12;

/**
 * @param {HTMLElement} map element with the plan and its legend
 * @param {string[]} title lines
 * @returns {Promise<Blob>}
 */
export async function pictureOf(map, title) {
  const svg = /** @type {SVGSVGElement} */ (map.querySelector('.plan > svg'));
  const { width, height } = svg.getBoundingClientRect();
  const plan = await loaded(await standalone(svg, width, height));
  const legend = [...map.querySelectorAll('.legend li')].map((item) => {
    const swatch = /** @type {Element} */ (item.querySelector('.swatch'));
    return { text: item.textContent?.trim() ?? '', colour: getComputedStyle(swatch).backgroundColor };
  });
  const { color, backgroundColor, fontFamily } = getComputedStyle(map);

  const canvas = document.createElement('canvas');
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const font = `13px ${fontFamily}`;
  context.font = font;
  const rows = wrapped(legend.map((one) => ({ ...one, width: context.measureText(one.text).width + SWATCH_PX + 24 })), width);
  const headPx = 2 * MARGIN_PX + title.length * LINE_PX;
  canvas.width = Math.ceil(width * SCALE);
  canvas.height = Math.ceil((headPx + height + 2 * MARGIN_PX + rows.length * LINE_PX) * SCALE);
  context.scale(SCALE, SCALE);
  context.fillStyle = backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(plan, 0, headPx, width, height);
  context.textBaseline = 'middle';
  context.fillStyle = color;
  title.forEach((line, i) => {
    context.font = `${i === 0 ? 600 : 400} 15px ${fontFamily}`;
    context.fillText(line, MARGIN_PX, MARGIN_PX + (i + 0.5) * LINE_PX, width - 2 * MARGIN_PX);
  });
  context.font = font;
  rows.forEach((row, i) => {
    let x = MARGIN_PX;
    const y = headPx + height + MARGIN_PX + (i + 0.5) * LINE_PX;
    for (const { text, colour, width: wide } of row) {
      context.fillStyle = colour;
      context.fillRect(x, y - SWATCH_PX / 2, SWATCH_PX, SWATCH_PX);
      context.strokeStyle = color;
      context.lineWidth = 0.5;
      context.strokeRect(x, y - SWATCH_PX / 2, SWATCH_PX, SWATCH_PX);
      context.fillStyle = color;
      context.fillText(text, x + SWATCH_PX + 6, y);
      x += wide;
    }
  });
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the browser made none'))), 'image/png');
  });
}

/** @param {SVGSVGElement} svg @param {number} width @param {number} height @returns {Promise<string>} as a data URL */
async function standalone(svg, width, height) {
  const copy = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
  const [own, copies] = [[...svg.querySelectorAll('*')], [...copy.querySelectorAll('*')]];
  own.forEach((element, i) => {
    const style = getComputedStyle(element);
    copies[i].setAttribute('style', STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(';'));
  });
  for (const image of copy.querySelectorAll('image')) image.setAttribute('href', await inlined(image.getAttribute('href') ?? ''));
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
}

/** @param {string} href of ours @returns {Promise<string>} as a data URL */
async function inlined(href) {
  const answer = await fetch(href);
  if (!answer.ok) throw new Error(`the plan's picture is not there (${answer.status})`);
  const content = await answer.blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(content);
  });
}

/** @param {string} src @returns {Promise<HTMLImageElement>} */
async function loaded(src) {
  const image = new Image();
  image.src = src;
  await image.decode();
  return image;
}

/**
 * @template {{width: number}} T
 * @param {T[]} items @param {number} width
 * @returns {T[][]} rows
 */
function wrapped(items, width) {
  /** @type {T[][]} */
  const rows = [];
  let left = 0;
  for (const item of items) {
    if (rows.length === 0 || item.width > left) {
      rows.push([]);
      left = width - 2 * MARGIN_PX;
    }
    rows[rows.length - 1].push(item);
    left -= item.width;
  }
  return rows;
}
