// Tensors of images, and images of tensors, for hologram/onnxruntime: as onnxruntime-web has them.
import { Tensor } from "./ort_tensor.mjs";

/** Which channel of RGBA each channel of a tensor is. */
const orders = { RGB: [0, 1, 2], RGBA: [0, 1, 2, 3], BGR: [2, 1, 0], RBG: [0, 2, 1] };

function orderOf(format) {
  if (!orders[format]) throw new TypeError(`there is no format ${JSON.stringify(format)}; there are ${Object.keys(orders).join(", ")}`);
  return orders[format];
}

/** A number for each channel of RGBA. */
const eachOf = (given, usual) => (Array.isArray(given) ? [...given, usual].slice(0, 4) : Array(4).fill(given ?? usual));

/** The pixels of an image, of its own size or another. */
async function pixelsOf(image, { resizedWidth, resizedHeight }) {
  const source = typeof image === "string" ? await createImageBitmap(await (await fetch(image)).blob()) : image,
    own = [source.naturalWidth || source.width, source.naturalHeight || source.height],
    [width, height] = [resizedWidth ?? own[0], resizedHeight ?? own[1]],
    isData = source instanceof ImageData;
  if (isData && width === own[0] && height === own[1]) return source;
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  context.drawImage(isData ? await createImageBitmap(source) : source, 0, 0, width, height);
  return context.getImageData(0, 0, width, height);
}

/** Where the number of a channel of a pixel is in a tensor. */
const placing = (layout, count, channels) => (layout === "NHWC" ? (i, c) => i * channels + c : (i, c) => c * count + i);

/** Of an ImageData, an ImageBitmap, an <img>, a canvas, or the address of a picture: (value + bias) / mean for each channel. */
export async function fromImage(image, options = {}) {
  const { data: pixels, width, height } = await pixelsOf(image, options),
    { tensorFormat = "RGB", tensorLayout = "NCHW", dataType = "float32", norm = {} } = options,
    order = orderOf(tensorFormat),
    [mean, bias] = [eachOf(norm.mean, dataType === "uint8" ? 1 : 255), eachOf(norm.bias, 0)],
    data = new (dataType === "uint8" ? Uint8Array : Float32Array)(order.length * width * height),
    at = placing(tensorLayout, width * height, order.length);
  for (let i = 0; i < width * height; i++) order.forEach((from, c) => (data[at(i, c)] = (pixels[4 * i + from] + bias[from]) / mean[from]));
  return new Tensor(dataType, data, tensorLayout === "NHWC" ? [1, height, width, order.length] : [1, order.length, height, width]);
}

/** The other way: (value - bias) * mean for each channel. */
export function toImageData(tensor, { format, tensorLayout = "NCHW", norm = {} } = {}) {
  const { dims, data, type } = tensor,
    [channels, height, width] = tensorLayout === "NHWC" ? [dims[3], dims[1], dims[2]] : dims.slice(1),
    order = channels === 1 ? [0] : orderOf(format ?? (channels === 4 ? "RGBA" : "RGB")),
    [mean, bias] = [eachOf(norm.mean, type === "uint8" ? 1 : 255), eachOf(norm.bias, 0)],
    at = placing(tensorLayout, width * height, channels);
  if (dims.length !== 4 || order.length !== channels) throw new Error(`a tensor [${dims}] is no image of ${format ?? "1, 3 or 4 channels"}`);
  const image = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) {
    image.data[4 * i + 3] = 255;
    order.forEach((to, c) => (image.data[4 * i + to] = (data[at(i, c)] - bias[to]) * mean[to]));
    if (channels === 1) image.data.fill(image.data[4 * i], 4 * i + 1, 4 * i + 3);
  }
  return image;
}

export function toDataURL(tensor, options) {
  const image = toImageData(tensor, options),
    canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas.toDataURL();
}
