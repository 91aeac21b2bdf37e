// Types of hologram/onnxruntime: those of onnxruntime-node that have a counterpart.

export declare namespace Tensor {
  interface DataTypeMap {
    float32: Float32Array;
    uint8: Uint8Array;
    int8: Int8Array;
    uint16: Uint16Array;
    int16: Int16Array;
    int32: Int32Array;
    int64: BigInt64Array;
    string: string[];
    bool: Uint8Array;
    float16: Uint16Array;
    float64: Float64Array;
    uint32: Uint32Array;
    uint64: BigUint64Array;
    uint4: Uint8Array;
    int4: Uint8Array;
  }
  type Type = keyof DataTypeMap;
  type DataType = DataTypeMap[Type];
  /** How images and tensors become each other, in browsers: (value + bias) / mean of each channel, and back. */
  interface ImageOptions {
    tensorLayout?: "NCHW" | "NHWC";
    norm?: { mean?: number | readonly number[]; bias?: number | readonly number[] };
  }
  type ImageFormat = "RGB" | "RGBA" | "BGR" | "RBG";
  type DataLocation = "none" | "cpu" | "cpu-pinned" | "texture" | "gpu-buffer" | "ml-tensor";
}
export interface TypedTensor<T extends Tensor.Type> {
  readonly type: T;
  readonly dims: readonly number[];
  readonly data: Tensor.DataTypeMap[T];
  readonly size: number;
  readonly location: Tensor.DataLocation;
  getData(releaseData?: boolean): Promise<Tensor.DataTypeMap[T]>;
  dispose(): void;
  /** In browsers. */
  toImageData(options?: Tensor.ImageOptions & { format?: Tensor.ImageFormat }): { data: Uint8ClampedArray; width: number; height: number };
  toDataURL(options?: Tensor.ImageOptions & { format?: Tensor.ImageFormat }): string;
  reshape(dims: readonly number[]): TypedTensor<T>;
}
export interface Tensor extends TypedTensor<Tensor.Type> {}
export interface TensorConstructor {
  new (type: "string", data: readonly string[], dims?: readonly number[]): TypedTensor<"string">;
  new (type: "bool", data: Uint8Array | readonly boolean[], dims?: readonly number[]): TypedTensor<"bool">;
  new (type: "uint8", data: Uint8ClampedArray, dims?: readonly number[]): TypedTensor<"uint8">;
  new <T extends "int64" | "uint64">(
    type: T,
    data: Tensor.DataTypeMap[T] | readonly bigint[] | readonly number[],
    dims?: readonly number[],
  ): TypedTensor<T>;
  new <T extends Exclude<Tensor.Type, "string" | "bool" | "int64" | "uint64">>(
    type: T,
    data: Tensor.DataTypeMap[T] | readonly number[],
    dims?: readonly number[],
  ): TypedTensor<T>;
  new (data: Float32Array, dims?: readonly number[]): TypedTensor<"float32">;
  new (data: Float64Array, dims?: readonly number[]): TypedTensor<"float64">;
  new (data: Int8Array, dims?: readonly number[]): TypedTensor<"int8">;
  new (data: Uint8Array | Uint8ClampedArray, dims?: readonly number[]): TypedTensor<"uint8">;
  new (data: Int16Array, dims?: readonly number[]): TypedTensor<"int16">;
  new (data: Uint16Array, dims?: readonly number[]): TypedTensor<"uint16">;
  new (data: Int32Array, dims?: readonly number[]): TypedTensor<"int32">;
  new (data: Uint32Array, dims?: readonly number[]): TypedTensor<"uint32">;
  new (data: BigInt64Array, dims?: readonly number[]): TypedTensor<"int64">;
  new (data: BigUint64Array, dims?: readonly number[]): TypedTensor<"uint64">;
  new (data: readonly string[], dims?: readonly number[]): TypedTensor<"string">;
  new (data: readonly boolean[], dims?: readonly number[]): TypedTensor<"bool">;
  new (
    type: Tensor.Type,
    data: Tensor.DataType | readonly number[] | readonly string[] | readonly bigint[] | readonly boolean[],
    dims?: readonly number[],
  ): Tensor;
  /** In browsers: of an ImageData, an ImageBitmap, an <img>, a canvas, or the address of a picture. */
  fromImage(
    image: string | { readonly width: number; readonly height: number },
    options?: Tensor.ImageOptions & { tensorFormat?: Tensor.ImageFormat; dataType?: "float32" | "uint8"; resizedWidth?: number; resizedHeight?: number },
  ): Promise<TypedTensor<"float32"> | TypedTensor<"uint8">>;
  fromPinnedBuffer<T extends Exclude<Tensor.Type, "string">>(
    type: T,
    buffer: Tensor.DataTypeMap[T],
    dims?: readonly number[],
  ): TypedTensor<T>;
}
export declare const Tensor: TensorConstructor;
export type OnnxValue = Tensor;

export declare namespace InferenceSession {
  type OnnxValueMapType = { readonly [name: string]: OnnxValue };
  type NullableOnnxValueMapType = { readonly [name: string]: OnnxValue | null };
  type FeedsType = OnnxValueMapType;
  type FetchesType = readonly string[] | NullableOnnxValueMapType;
  type ReturnType = OnnxValueMapType;
  interface SessionOptions {
    /** Everything runs on the CPU; another provider is a note on the console. */
    executionProviders?: ReadonlyArray<string | { readonly name: string }>;
    intraOpNumThreads?: number;
    freeDimensionOverrides?: { readonly [dimension: string]: number };
    enableProfiling?: boolean;
    profileFilePrefix?: string;
    preferredOutputLocation?: "cpu" | { readonly [output: string]: "cpu" };
    /** In browsers: addresses, or {path, data} with bytes, a Blob or an address. */
    externalData?: ReadonlyArray<string | { readonly path: string; readonly data: unknown }>;
    /** These change nothing here. */
    interOpNumThreads?: number;
    graphOptimizationLevel?: "disabled" | "basic" | "extended" | "layout" | "all";
    enableCpuMemArena?: boolean;
    enableMemPattern?: boolean;
    executionMode?: "sequential" | "parallel";
    logId?: string;
    logSeverityLevel?: 0 | 1 | 2 | 3 | 4;
    logVerbosityLevel?: number;
    /** extra.hologram: options of open() of the package. */
    extra?: { hologram?: import("./index.js").OpenOptions } & Record<string, unknown>;
  }
  interface RunOptions {
    terminate?: boolean;
    logSeverityLevel?: 0 | 1 | 2 | 3 | 4;
    logVerbosityLevel?: number;
    tag?: string;
    extra?: Record<string, unknown>;
  }
  interface NonTensorValueMetadata {
    readonly name: string;
    readonly isTensor: false;
  }
  interface TensorValueMetadata {
    readonly name: string;
    readonly isTensor: true;
    readonly type: Tensor.Type;
    readonly shape: ReadonlyArray<number | string>;
  }
  type ValueMetadata = NonTensorValueMetadata | TensorValueMetadata;
}
export interface InferenceSession {
  run(feeds: InferenceSession.FeedsType, options?: InferenceSession.RunOptions): Promise<InferenceSession.ReturnType>;
  run(
    feeds: InferenceSession.FeedsType,
    fetches: InferenceSession.FetchesType,
    options?: InferenceSession.RunOptions,
  ): Promise<InferenceSession.ReturnType>;
  release(): Promise<void>;
  startProfiling(): void;
  endProfiling(): void;
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly inputMetadata: readonly InferenceSession.ValueMetadata[];
  readonly outputMetadata: readonly InferenceSession.ValueMetadata[];
}
export interface InferenceSessionFactory {
  create(path: string | URL, options?: InferenceSession.SessionOptions): Promise<InferenceSession>;
  create(buffer: ArrayBufferLike | Uint8Array, options?: InferenceSession.SessionOptions): Promise<InferenceSession>;
  create(
    buffer: ArrayBufferLike,
    byteOffset: number,
    byteLength?: number,
    options?: InferenceSession.SessionOptions,
  ): Promise<InferenceSession>;
}
export declare const InferenceSession: InferenceSessionFactory;

export interface Env {
  logLevel?: "verbose" | "info" | "warning" | "error" | "fatal";
  readonly wasm: Record<string, unknown>;
  readonly webgl: Record<string, unknown>;
  readonly webgpu: Record<string, unknown>;
  readonly versions: { readonly common: string; readonly node: string; readonly hologram: string };
}
export declare const env: Env;
export declare function listSupportedBackends(): Array<{ name: string; bundled: boolean }>;
