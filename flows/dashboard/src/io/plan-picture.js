/**
 * Converts a plan file to a picture that the server accepts: PNG, JPEG and SVG unchanged, a page of a PDF drawn here. A picture that
 * is too large is scaled down.
 */

/** Bounds of flows/lib/building/picture-type.js. */
const [BYTES_MAX, SIDE_MAX_PX] = [8 * 1024 * 1024, 8000];
/** Longer side of a drawn picture: a centimetre a pixel for a floor of 40 m. */
const DRAWN_PX = 4000;
const TYPES = ['image/png', 'image/jpeg', 'image/svg+xml'];

/**
 * @typedef {{blob: Blob, width: number, height: number}} Picture pixels
 * @typedef {{pages: number, page: (number: number) => Promise<Picture>}} Source page: from 1; a picture has one
 */

/** @param {File} file @returns {Promise<Source>} @throws {Error} its message can be shown */
export async function openPlan(file) {
  const head = new Uint8Array(await file.slice(0, 1024).arrayBuffer());
  if (new TextDecoder('latin1').decode(head).includes('%PDF-')) return openPdf(file);
  const type = TYPES.includes(file.type) ? file.type : 'image/svg+xml';
  const picture = await pictureOf(new Blob([file], { type }), file.name);
  return { pages: 1, page: async () => picture };
}

/** @param {Blob} blob @param {string} name @returns {Promise<Picture>} */
async function pictureOf(blob, name) {
  const image = new Image();
  image.src = URL.createObjectURL(blob);
  try {
    await image.decode();
    const [width, height] = [image.naturalWidth || DRAWN_PX, image.naturalHeight || DRAWN_PX];
    const fits = blob.size <= BYTES_MAX && Math.max(width, height) <= SIDE_MAX_PX;
    if (fits || blob.type === 'image/svg+xml') return { blob, width, height };
    return await drawn(width, height, (context, canvas) => context.drawImage(image, 0, 0, canvas.width, canvas.height));
  } catch {
    throw new Error(`${name} is no picture that this browser can show: take PNG, JPEG, SVG or PDF`);
  } finally {
    URL.revokeObjectURL(image.src);
  }
}

/** @param {File} file @returns {Promise<Source>} */
async function openPdf(file) {
  const pdf = await import('./pdf.js');
  const { count, draw } = await pdf.open(await file.arrayBuffer()).catch((error) => {
    throw new Error(`${file.name} cannot be read as a PDF: ${error.message}`);
  });
  return { pages: count, page: (number) => draw(number, drawn) };
}

/**
 * @param {number} width @param {number} height of the content, in any unit
 * @param {(context: CanvasRenderingContext2D, canvas: HTMLCanvasElement) => unknown} draw
 * @returns {Promise<Picture>}
 */
async function drawn(width, height, draw) {
  const canvas = document.createElement('canvas');
  const scale = DRAWN_PX / Math.max(width, height);
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  await draw(context, canvas);
  const png = await blobOf(canvas, 'image/png');
  const blob = png.size <= BYTES_MAX ? png : await blobOf(canvas, 'image/jpeg');
  return { blob, width: canvas.width, height: canvas.height };
}

/** @param {HTMLCanvasElement} canvas @param {string} type @returns {Promise<Blob>} */
const blobOf = (canvas, type) => new Promise((resolve, reject) => {
  canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the browser made no picture of it'))), type, 0.9);
});
