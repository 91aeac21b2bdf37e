// Images as tensors.
import { HologramError } from "./errors.mjs";
import { Tensor } from "./tensor.mjs";

/** Pixels in memory: an ImageData, or what has its form. */
const isPixels = ({ data, width, height }) => ArrayBuffer.isView(data) && data.length === 4 * width * height;

/** RGBA bytes in other sizes, each between the nearest four. */
function resized({ data, width, height }, columns, rows) {
  if (width === columns && height === rows) return data;
  const pixels = new Uint8ClampedArray(4 * columns * rows),
    places = (to, from) =>
      Array.from({ length: to }, (_, i) => {
        const at = Math.min(Math.max(((i + 0.5) * from) / to - 0.5, 0), from - 1),
          low = Math.floor(at);
        return [low, Math.min(low + 1, from - 1), at - low];
      }),
    across = places(columns, width);
  places(rows, height).forEach(([y0, y1, v], row) =>
    across.forEach(([x0, x1, u], column) => {
      for (let c = 0; c < 4; c++) {
        const at = (x, y) => data[4 * (y * width + x) + c];
        pixels[4 * (row * columns + column) + c] = (at(x0, y0) * (1 - u) + at(x1, y0) * u) * (1 - v) + (at(x0, y1) * (1 - u) + at(x1, y1) * u) * v;
      }
    }),
  );
  return pixels;
}

/** The pixels of an image in so many columns and rows, as RGBA bytes. */
function pixelsOf(image, columns, rows) {
  if (isPixels(image)) return resized(image, columns, rows);
  if (!globalThis.OffscreenCanvas) throw new HologramError("there is no canvas here: an image is {data, width, height} with RGBA bytes", "UNSUPPORTED");
  const context = new OffscreenCanvas(columns, rows).getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0, columns, rows);
  return context.getImageData(0, 0, columns, rows).data;
}

/**
 * A tensor of an ImageData, or {data, width, height} with RGBA bytes; in browsers also of a canvas, a VideoFrame, an ImageBitmap, an <img> or
 * a <video>.
 * {width, height}: its size; {layout: "nchw" | "nhwc"}, {channels: 3 | 1}, {mean, std}: of each channel, for values from 0 to 1;
 * {dtype: "float32" | "uint8"}.
 */
export function imageTensor(image, options = {}) {
  if (typeof image !== "object" || image === null) throw new HologramError("an image is an ImageData, or {data, width, height} with RGBA bytes");
  const { width, height, layout = "nchw", channels = 3, mean = [0, 0, 0], std = [1, 1, 1], dtype = "float32" } = options;
  const columns = width ?? image.displayWidth ?? image.videoWidth ?? image.naturalWidth ?? image.width,
    rows = height ?? image.displayHeight ?? image.videoHeight ?? image.naturalHeight ?? image.height;
  if (!(columns > 0 && rows > 0 && Number.isInteger(columns) && Number.isInteger(rows)))
    throw new HologramError("an image is an ImageData, a canvas, a VideoFrame, an ImageBitmap, an <img> or a <video>");
  if (![1, 3].includes(channels)) throw new HologramError("channels is 3 or 1");
  const pixels = pixelsOf(image, columns, rows),
    count = columns * rows,
    isFloat = dtype === "float32",
    data = isFloat ? new Float32Array(channels * count) : new Uint8Array(channels * count),
    [step, plane] = layout === "nchw" ? [1, count] : [channels, 1];
  for (let c = 0; c < channels; c++)
    for (let i = 0; i < count; i++) {
      const value = channels === 3 ? pixels[4 * i + c] : 0.299 * pixels[4 * i] + 0.587 * pixels[4 * i + 1] + 0.114 * pixels[4 * i + 2];
      data[i * step + c * plane] = isFloat ? (value / 255 - mean[c]) / std[c] : value;
    }
  return new Tensor(dtype, data, layout === "nchw" ? [1, channels, rows, columns] : [1, rows, columns, channels]);
}

/** The ImageData of a picture, which is a tensor of uint8, [height, width, 3]; {data, width, height} where there is no such class. */
export function imageData({ dtype, shape, data }) {
  if (dtype !== "uint8" || shape.length !== 3 || shape[2] !== 3) throw new HologramError("a picture is a tensor of uint8, [height, width, 3]");
  const [height, width] = shape,
    pixels = new Uint8ClampedArray(4 * height * width).fill(255);
  for (let i = 0; i < height * width; i++) pixels.set(data.subarray(3 * i, 3 * i + 3), 4 * i);
  return globalThis.ImageData ? new ImageData(pixels, width, height) : { data: pixels, width, height };
}
