// Images as tensors.
import { HologramError } from "./errors.mjs";
import { Tensor } from "./tensor.mjs";

/** The pixels of an image in so many columns and rows, as RGBA bytes. */
function pixelsOf(image, width, height) {
  if (globalThis.ImageData && image instanceof ImageData && image.width === width && image.height === height) return image.data;
  const canvas = new OffscreenCanvas(width, height),
    context = canvas.getContext("2d", { willReadFrequently: true });
  if (globalThis.ImageData && image instanceof ImageData) {
    const whole = new OffscreenCanvas(image.width, image.height);
    whole.getContext("2d").putImageData(image, 0, 0);
    context.drawImage(whole, 0, 0, width, height);
  } else context.drawImage(image, 0, 0, width, height);
  return context.getImageData(0, 0, width, height).data;
}

/**
 * A tensor of an ImageData, a canvas, a VideoFrame, an ImageBitmap, an <img> or a <video>.
 * {width, height}: its size; {layout: "nchw" | "nhwc"}, {channels: 3 | 1}, {mean, std}: of each channel, for values from 0 to 1;
 * {dtype: "float32" | "uint8"}.
 */
export function imageTensor(image, { width, height, layout = "nchw", channels = 3, mean = [0, 0, 0], std = [1, 1, 1], dtype = "float32" } = {}) {
  const columns = width ?? image.displayWidth ?? image.videoWidth ?? image.naturalWidth ?? image.width,
    rows = height ?? image.displayHeight ?? image.videoHeight ?? image.naturalHeight ?? image.height;
  if (!(columns > 0 && rows > 0)) throw new HologramError("an image is an ImageData, a canvas, a VideoFrame, an ImageBitmap, an <img> or a <video>");
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

/** The ImageData of a picture: a tensor of uint8, [height, width, 3]. */
export function imageData({ dtype, shape, data }) {
  if (dtype !== "uint8" || shape.length !== 3 || shape[2] !== 3) throw new HologramError("a picture is a tensor of uint8, [height, width, 3]");
  const [height, width] = shape,
    pixels = new Uint8ClampedArray(4 * height * width).fill(255);
  for (let i = 0; i < height * width; i++) pixels.set(data.subarray(3 * i, 3 * i + 3), 4 * i);
  return new ImageData(pixels, width, height);
}
