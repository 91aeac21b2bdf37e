/// <reference lib="esnext.disposable" />
// Types of the package hologram. What is said here is what the browser package will have, too.
import type { HoloKernelInfo, HoloListing, HoloModelInfo, HoloNote, HoloProfiledStep, HoloReport, HoloStepProgram } from "./c.js";

// ---- tensors

/** The typed array that holds elements of a type. float16 is a Float16Array where the engine has one. */
export interface ArrayOf {
  float32: Float32Array;
  float64: Float64Array;
  float16: Uint16Array | Float16ArrayLike;
  bfloat16: Uint16Array;
  int8: Int8Array;
  int16: Int16Array;
  int32: Int32Array;
  int64: BigInt64Array;
  uint8: Uint8Array;
  uint16: Uint16Array;
  uint32: Uint32Array;
  uint64: BigUint64Array;
  /** One byte an element: 0 or 1. */
  bool: Uint8Array;
  string: string[];
  /** Two numbers an element. */
  complex64: Float32Array;
  complex128: Float64Array;
  float8e4m3fn: Uint8Array;
  float8e4m3fnuz: Uint8Array;
  float8e5m2: Uint8Array;
  float8e5m2fnuz: Uint8Array;
  float8e8m0: Uint8Array;
  /** One byte an element, here and below. */
  int4: Int8Array;
  uint4: Uint8Array;
  int2: Int8Array;
  uint2: Uint8Array;
  float4e2m1: Uint8Array;
  float6e2m3: Uint8Array;
  float6e3m2: Uint8Array;
}
/** A Float16Array, also where TypeScript does not know it yet. */
export interface Float16ArrayLike extends ArrayBufferView {
  readonly length: number;
  [index: number]: number;
}
export type Dtype = keyof ArrayOf;
export type TypedArray = Exclude<ArrayOf[Dtype], string[]>;
/** Nested arrays of elements, or one element. */
export type Nested = number | bigint | boolean | string | readonly Nested[];

/** A type, a shape, and a typed array with the elements in row-major order. */
export class Tensor<D extends Dtype = Dtype> {
  constructor(dtype: D, data: ArrayOf[D] | readonly Nested[], shape?: readonly number[]);
  /** The type is that of the typed array. */
  constructor(data: TypedArray | readonly string[], shape?: readonly number[]);
  /** Of nested arrays. Numbers are float32 unless a type is given. */
  static from<D extends Dtype = "float32">(nested: Nested, dtype?: D): Tensor<D>;
  readonly dtype: D;
  readonly shape: readonly number[];
  readonly data: ArrayOf[D];
  /** How many elements there are. */
  readonly size: number;
  /** The same elements in another shape, without a copy. One size may be -1. */
  reshape(shape: readonly number[]): Tensor<D>;
  /** Nested arrays; of a tensor without dimensions the element itself. */
  toArray(): any;
}

// ---- what runs

/** An input or an output. */
export interface Port {
  readonly name: string;
  readonly dtype: Dtype;
  /** Numbers, and symbols for sizes that are not fixed: ["batch", 3, 224, 224]. null: not known. */
  readonly shape: ReadonlyArray<number | string> | null;
  readonly kind: "tensor" | "sequence" | "optional" | "map";
  /** Of a sequence or an optional: what is inside. */
  readonly inner?: "tensor" | "sequence" | "optional" | "map";
  /** It need not be given. */
  readonly optional: boolean;
  /** Nothing reads it: any shape will do. */
  readonly anyShape?: boolean;
}

/** What can be given for an input. A typed array takes the shape of its input; one size may be open. */
export type Input =
  Tensor | TypedArray | Uint8ClampedArray | Nested | null | readonly Input[] | ReadonlyMap<string | bigint, number | string>;
export type Feeds = { readonly [name: string]: Input | undefined };
/** Tensors by names of outputs. Of a sequence, an optional or a map a program says what it is: run<{ items: Tensor[] }>(...). */
export type Results = { [name: string]: Tensor };

export interface RunOptions {
  /** Names of the outputs that are wanted; without it all. */
  outputs?: readonly string[];
  /** Memory for outputs, by name: they are written there, and not anywhere else. */
  into?: { readonly [name: string]: Tensor | TypedArray };
  /** Seconds. A run that takes longer is an error, "TIMEOUT". */
  timeLimit?: number;
}
export interface AsyncRunOptions extends RunOptions {
  /** Stops the run, which is then an error, "CANCELLED". */
  signal?: AbortSignal;
}

interface Closing {
  /** Frees what it holds, after runs in progress. What nobody uses any more is freed one day without it. */
  close(): void;
  [Symbol.dispose](): void;
  readonly closed: boolean;
  /** For functions of hologram/c. */
  readonly handle: number;
}

interface Running extends Closing {
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  /** Runs on this thread. A model of one input takes its value alone, too. */
  runSync<R = Results>(feeds: Feeds | Input, options?: RunOptions): R;
  /** Runs on another thread. Arrays must stay as they are until the promise settles. */
  run<R = Results>(feeds: Feeds | Input, options?: AsyncRunOptions): Promise<R>;
}

/** A WAV file, by its path or its bytes; or samples at the rate of the model. */
export type Sound = string | URL | Uint8Array | Float32Array;
export interface TranscribeOptions {
  /** That is spoken, as a code such as "en"; without it the model finds out. */
  language?: string;
  /** Write it down in English. */
  translate?: boolean;
  /** Say when each piece is spoken. */
  timestamps?: boolean;
  signal?: AbortSignal;
}
export interface Transcript {
  /** The code of the language; "": the model knows one. */
  language: string;
  /** Of the sound. */
  seconds: number;
  text: string;
  pieces: { begin: number; end: number; text: string }[];
}

/** maxLength: texts are cut to so many tokens. */
export type ReadOptions = { maxLength?: number; threads?: number; signal?: AbortSignal };
/** How the vectors of tokens become one (mean, cls, max, last, mean_sqrt, weighted), and whether they get length 1; without it as the model says. */
export type EmbedOptions = ReadOptions & { pooling?: string; normalize?: boolean };
/** A label, and what it is of, where a model labels tokens. */
export type Label = { label: string; id: number; score: number; token?: string };

/** A model that is open: any number of runs at once. */
export interface Model extends Running, Generating<GenerateOptions & Pick<LanguageOptions, "context" | "threads">> {
  /** The names of its entries: parts that run by themselves and share weights. Most models have one, called "". Not in browsers yet. */
  readonly entries: string[];
  /** An entry by name, such as the encoder of a translator. The model itself is its first. */
  entry(name: string): Model;
  /** Of the archive; null: it has none. */
  readonly tokenizer: Tokenizer | null;
  /** The model as a language model, which keeps what it has read. */
  language(options?: LanguageOptions): Language;
  /** Continues several texts at once. */
  batch(options?: BatchOptions): Batch;
  /** Continues several prompts at once, in a batch, and gives the texts that come behind them. */
  generateTexts(prompts: Iterable<string | Iterable<number>>, options?: GenerateOptions & Pick<LanguageOptions, "context" | "threads">): Promise<string[]>;
  /** Writes down what is said in a sound, with a speech model. */
  transcribe(sound: Sound, options?: TranscribeOptions & { threads?: number }): Promise<Transcript>;
  /** The vector of a text. Similar texts have similar vectors, if the model was trained for that. Not in browsers yet. */
  embed(text: string, options?: EmbedOptions): Promise<Float32Array>;
  embed(texts: Iterable<string>, options?: EmbedOptions): Promise<Float32Array[]>;
  /** The labels of a text, or of a picture by its path, the best first; or a label for each token. Not in browsers yet. */
  classify(item: string | URL, options?: ReadOptions & { top?: number }): Promise<Label[]>;
  classify(items: Iterable<string | URL>, options?: ReadOptions & { top?: number }): Promise<Label[][]>;
  /** What imagine() does where nothing is said, and the schedulers that there are; null: the model makes no pictures. */
  readonly pictures: Pictures | null;
  /** Makes a picture of a text, step by step. */
  imagine(prompt: string, options?: ImagineOptions & { threads?: number }): AsyncGenerator<ImagineStep, void, void>;
  /** What compiling did; undefined where an archive was opened. */
  readonly report?: Report;
  /** A place of its own to run: with its own threads, memory, memo and profile. Its runs come one after another. */
  session(options?: { threads?: number }): Session;
  /** Sizes, facts, and what the compiler wrote about the model. */
  inspect(): Inspection;
  constants(): Constant[];
  /** What was computed in advance and what was not, and why. */
  explain(): Note[];
  /** The graph as it runs. */
  graph(): Graph;
  /** Steps as portable programs, where they can be said so. */
  programs(): HoloStepProgram[];
  /** Reads every byte and compares every checksum, which opening does not. */
  verify(): void;
  /** Times of runs, in seconds, on inputs that are made up unless they are given. */
  bench(
    feeds?: Feeds,
    options?: { seconds?: number; runs?: number },
  ): { runs: number; least: number; median: number; mean: number; p99: number };
  /** Made-up inputs; sizes that are open are 1, or as given by symbol. */
  sample(sizes?: { readonly [symbol: string]: number }): { [name: string]: Tensor };
}

// ---- language models

/** Turns text into the ids that a language model reads, and back. */
export interface Tokenizer extends Closing {
  /** How many ids there are. */
  readonly size: number;
  /** The ids of a text; with the special tokens that the model expects around it, unless special is false. */
  encode(text: string, options?: { special?: boolean }): number[];
  /** The text of ids; special tokens are left out unless special is true. */
  decode(ids: Iterable<number>, options?: { special?: boolean }): string;
  /** The text of a token as the vocabulary has it; null: there is none. */
  token(id: number): string | null;
  /** The id of a token by its text in the vocabulary; null: there is none. */
  id(text: string): number | null;
  isSpecial(id: number): boolean;
}

export interface GenerateOptions {
  /** As many tokens at most; without it until the model ends the text, or its context is full. */
  maxTokens?: number;
  /** 0: always the most likely token. */
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  typicalP?: number;
  repetitionPenalty?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  /** The same seed gives the same tokens. */
  seed?: number | bigint;
  /** Texts that end the text. */
  stop?: string | readonly string[];
  /** The text is JSON that fits the schema. */
  jsonSchema?: object | string;
  /** Rules in GBNF. */
  grammar?: string;
  regex?: string;
  /** Guess so many tokens from the text itself, and check them in one run. The text is the same. */
  lookup?: number;
  /** Whether a text is a question for the chat template. By default it is, where the model has one. */
  chat?: boolean;
  /** Tokens have log-probabilities. */
  logprobs?: boolean;
  /** Go on behind tokens that end the text. */
  keepEnds?: boolean;
  /** The number of the text, of a language model that keeps several. */
  text?: number;
  /** The text does not end before it has so many tokens. */
  minTokens?: number;
  /** No so many tokens in a row occur twice. */
  noRepeatNgram?: number;
  /** Penalties look at so many of the last tokens; 0: at all. */
  penaltyWindow?: number;
  /** Beam search: so many texts grow at once, the best is the answer, and all of its tokens come at the end. */
  beams?: number;
  /** Scores of beams are divided by the length to this power. */
  lengthPenalty?: number;
  beamStop?: "likely" | "first" | "never";
  /** Ends it with an error, "CANCELLED". */
  signal?: AbortSignal;
}
export interface LanguageOptions {
  /** How many texts it keeps at once. */
  texts?: number;
  /** The most tokens of a text; 0: as many as the model was made for. */
  context?: number;
  threads?: number;
}
/** `text` is what may be shown now: perhaps nothing. What is left at the end of a text has the id null. */
export interface Token {
  id: number | null;
  text: string;
  /** The natural logarithm of its probability, with logprobs. */
  logprob?: number | null;
}
export interface Generated {
  promptTokens: number;
  /** Tokens of the prompt that had been read before. */
  cachedTokens: number;
  tokens: number;
  finish: "length" | "end" | "stop" | "asked" | "grammar";
  /** The number of the stop string; -1: none. */
  stop: number;
  promptSeconds: number;
  seconds: number;
  guessed: number;
  right: number;
}
export type Message = { role: string; content: unknown; [more: string]: unknown };

/** How a picture is made. Where nothing is said, it is as the model was made for: see Model.pictures. */
export interface ImagineOptions {
  /** What the picture should not show. */
  negative?: string;
  scheduler?: "ddim" | "euler" | "euler-ancestral" | "dpm++" | "lcm" | (string & {});
  steps?: number;
  /** How closely the picture follows the text; at most 1: half the work. */
  guidance?: number;
  /** The same seed gives the same picture. */
  seed?: number;
  width?: number;
  height?: number;
  /** The picture so far, behind each step. */
  preview?: boolean;
  /** Ends it with an error, "CANCELLED". */
  signal?: AbortSignal;
}
/** A step was taken. The picture, uint8 of [height, width, 3], is there at the end, and with `preview` always. */
export interface ImagineStep {
  step: number;
  steps: number;
  image?: Tensor<"uint8">;
}
export interface Pictures {
  scheduler: string;
  schedulers: string[];
  steps: number;
  guidance: number;
  width: number;
  height: number;
}

interface Generating<Options> {
  /** Continues a prompt, a text or ids, and yields tokens as soon as they are known. At the end it returns counts and times. */
  generate(prompt: string | Iterable<number>, options?: Options): AsyncGenerator<Token, Generated, void>;
  /** Continues a prompt, and gives all of the text. */
  generateText(prompt: string | Iterable<number>, options?: Options): Promise<string>;
  /** Answers messages by the chat template of the model. */
  chat(messages: readonly Message[], options?: Options): AsyncGenerator<Token, Generated, void>;
}

/** A language model at work. It keeps what it has read of texts; what it does comes one after another. */
export interface Language extends Closing, Generating<GenerateOptions> {
  readonly tokenizer: Tokenizer | null;
  /** The most tokens of a text; 0: there is no limit. */
  readonly context: number;
  /** The logits behind ids: a number for each token of the vocabulary, the larger the more likely it is next. */
  read(ids: Iterable<number>, options?: { text?: number; signal?: AbortSignal }): Promise<Float32Array>;
  /** The ids that end a text. Not in browsers yet, as the four below. */
  readonly ends: number[];
  /** Makes text `to` a copy of what was read of text `from`. */
  copy(from: number, to: number): Promise<void>;
  /** Forgets what was read of a text; of the first unless a number is given. */
  forget(text?: number): Promise<void>;
  /** Writes what was read of a text to a file, and reads it back, so that the text need not be read again. */
  save(path: string | URL, options?: { text?: number }): Promise<void>;
  load(path: string | URL, options?: { text?: number }): Promise<void>;
  /** Samples per second that a speech model hears; 0: it is no speech model. */
  readonly rate: number;
  transcribe(sound: Sound, options?: TranscribeOptions): Promise<Transcript>;
}
export interface BatchOptions {
  /** Texts that are continued at once, 8 by default. Others wait for a place. */
  places?: number;
  /** How many may wait; any number by default. */
  waiting?: number;
  /** The most tokens of a text; 0: as many as the model was made for. */
  context?: number;
  /** Bytes that may be kept of all texts. */
  memory?: number;
  /** Tokens of a prompt that a step reads while other texts are continued. */
  chunk?: number;
  threads?: number;
}
/** Texts by what becomes of them, and tokens so far. `rows / runs` is how many texts a run of the model had on average. */
export type BatchState = Record<"places" | "waiting" | "reading" | "generating" | "context" | "keptTokens" | "bytes" | "promptTokens" | "cachedTokens" | "tokens" | "runs" | "rows", number>;
/** Texts that are continued together, each as generate() makes it alone. A text joins when its first token is asked for. */
export interface Batch extends Closing, Generating<Omit<GenerateOptions, "text" | "beams" | "lengthPenalty" | "beamStop">> {
  readonly tokenizer: Tokenizer | null;
  generateTexts(prompts: Iterable<string | Iterable<number>>, options?: Omit<GenerateOptions, "text" | "beams" | "lengthPenalty" | "beamStop">): Promise<string[]>;
  state(): Promise<BatchState>;
}
export const Batch: abstract new (...args: never[]) => Batch;
export const Tokenizer: abstract new (...args: never[]) => Tokenizer;
export const Language: abstract new (...args: never[]) => Language;
/** The tokenizer of a file (tokenizer.json, tokenizer.model, GGUF ...), of a folder that has one, or of an archive. */
export function openTokenizer(path: string | URL): Tokenizer;

export interface Session extends Running {
  /** Keeps answers in so many bytes, and looks inputs up there before it runs. 0: no longer. */
  setMemo(bytes: number): void;
  memo(): { hits: number | bigint; misses: number | bigint; keptSteps: number };
  /** Writes the archive once more, with the answers that it had and those kept here. */
  saveMemo(path: string | URL): void;
  /** Bytes of working memory; and what runs it: "cpu", "cuda:0". */
  readonly memory: number; readonly device: string;
  setMemoryLimit(bytes: number): void;
  /** Times each step of the runs that `work` makes; gives the steps, the slowest first, and writes a trace for Chrome. */
  profile(work: (session: Session) => unknown, options?: { trace?: string | URL }): Promise<HoloProfiledStep[]>;
}
export const Model: abstract new (...args: never[]) => Model;
export const Session: abstract new (...args: never[]) => Session;

export type Report = HoloReport;
export type Note = Omit<HoloNote, "verdict"> & { verdict: string };
export type Inspection = Omit<HoloModelInfo, "exact" | "isStatic"> & {
  exact: boolean;
  isStatic: boolean;
  /** Answers that the archive holds. */
  memo: number;
  inputs: readonly Port[];
  outputs: readonly Port[];
  meta: { [key: string]: string };
};
export interface Constant {
  name: string | null;
  dtype: Dtype | null;
  shape: number[] | null;
  isPacked: boolean;
  isCoded: boolean;
  count: number | bigint;
  bytes: number | bigint;
  uses: number;
}
export type Graph = Omit<HoloListing, "values"> & {
  values: Array<Omit<HoloListing["values"][number], "type"> & { dtype: Dtype | null; sizes: number[] | null }>;
};

// ---- opening and compiling

/** A path, a file: URL, or the bytes of a file. */
export type Source = string | URL | ArrayBuffer | SharedArrayBuffer | ArrayBufferView;
export type QuantizeKind = "none" | "int8" | "int4" | "f16" | "bf16" | "w8" | "centroids" | "q8_0" | "q4_0" | "q4_1" | "q5_0" | "q5_1" | "q4_k" | "q5_k" | "q6_k";

export interface Quantize {
  kind?: QuantizeKind;
  /** Other kinds for layers, by patterns of their operators or names: { "/head/*": "none" }. */
  layers?: { readonly [pattern: string]: QuantizeKind };
  activations?: "default" | "static" | "dynamic";
  ranges?: "mse" | "minmax" | "percentile" | "entropy";
  percentile?: number;
  centroids?: number;
  /** How much of the outputs must be right, 0 to 1. */
  accuracy?: number;
  onlyIfFaster?: boolean;
  /** Says how good outputs are, instead of accuracy: of each sample, an array of outputs. */
  judge?: (samples: Tensor[][]) => number;
  /** How much worse than without quantizing the judge's score may be. */
  maxDrop?: number;
}

export interface CompileOptions {
  /** Fixes shapes of inputs; a size that is no number stays as the model has it. */
  inputShapes?: { readonly [input: string]: ReadonlyArray<number | string | null> };
  /** Inputs that get a value for good. */
  constants?: { readonly [input: string]: Tensor | TypedArray | Nested };
  /** What elements of inputs can be. */
  domains?: { readonly [input: string]: Tensor | TypedArray | Nested };
  /** Leaves every size open. */
  symbolic?: boolean;
  /** "exact": the same bits on every CPU; "bf16": products of bf16, where the CPU has them. */
  numeric?: "fused" | "exact" | "bf16";
  quantize?: QuantizeKind | Quantize;
  /** Inputs to find scales with: a path, or samples one by one. */
  calibration?: string | URL | Iterable<Feeds> | AsyncIterable<Feeds>;
  /** How large the archive may become. */
  size?: "balanced" | "small" | "fast";
  targets?: string | readonly string[];
  /** Measures on this machine which way to run a step is fastest. */
  tune?: boolean;
  /** Whether functions of few bits become tables, and the bytes that these may take. */
  tables?: boolean | number;
  /** Whether the plan is compared with the model before it is written, and how. */
  verify?: boolean | { inputs?: string | URL | ReadonlyArray<string | URL>; relative?: number; absolute?: number; strict?: boolean };
  /** Inputs whose answers are stored in the archive. */
  patterns?: string | URL | ReadonlyArray<string | URL>;
  /** Files of kernels that are operators. */
  kernels?: string | URL | ReadonlyArray<string | URL>;
  /** Passes to leave out. */
  disable?: string | readonly string[];
  /** Threads while compiling; 0: one a core. */
  threads?: number;
  memoryLimit?: number;
  /** Called now and then with what is done, and how much of the whole, 0 to 1. */
  progress?: (stage: string, fraction: number) => void;
  /** Called with the graph as text after a pass, or after all. */
  dump?: ((pass: string, text: string) => void) | { pass: string; text: (pass: string, text: string) => void };
  signal?: AbortSignal;
}

export interface OpenOptions extends CompileOptions {
  /** Threads of a run, and of compiling; 0, the default: one a core. Models share them. */
  threads?: number;
  /** How many runs there may be at once; 0, the default: one a core. Others wait. */
  sessions?: number;
  device?: string; // "cpu", "cuda" or "cuda:1", for an archive that has a plan for it; by default the first that is there
  /** All pages of the file are there before the first run. */
  prefault?: boolean;
  /** Weights are copied into large pages, where the system has them. */
  hugePages?: boolean;
  // Of browsers. Programs for both say them; here an archive opens at once, and runs are on other threads anyway.
  onprogress?: (progress: { loaded: number; total?: number; cached?: boolean }) => void;
  cache?: boolean | "reload";
  text?: boolean;
  worker?: boolean;
}

/** Opens an archive. A model of another format is compiled in memory first. */
export function open(source: Source, options?: OpenOptions): Promise<Model>;
/** Opens an archive at once. */
export function openSync(source: Source, options?: Pick<OpenOptions, "threads" | "sessions" | "device" | "prefault" | "hugePages">): Model;
/** Compiles a model into the archive `target`. */
export function compile(source: string | URL, target: string | URL, options?: CompileOptions): Promise<Report>;
/** Compiles a model into the bytes of an archive. */
export function compile(source: Source, options?: CompileOptions): Promise<{ archive: Uint8Array; report: Report }>;

// ---- images

/** Red, green, blue and opacity of each place, row by row, in bytes: as ImageData has them. */
export interface Pixels {
  readonly data: Uint8ClampedArray | Uint8Array;
  readonly width: number;
  readonly height: number;
}
export interface ImageOptions {
  width?: number;
  height?: number;
  layout?: "nchw" | "nhwc";
  channels?: 1 | 3;
  /** Of each channel, for values from 0 to 1. */
  mean?: readonly number[];
  std?: readonly number[];
  dtype?: "float32" | "uint8";
}
/** An image as a tensor of rank 4. */
export function imageTensor(image: Pixels, options?: ImageOptions): Tensor;
/** The pixels of a picture: uint8 of [height, width, 3]. */
export function imageData(picture: Tensor<"uint8">): Pixels;
/** Forgets the models that a browser keeps; here there are none. */
export function clearCache(): Promise<boolean>;

// ---- files of tensors

/** The tensor of a file that has one: .npy, ONNX's .pb, numbers as text. */
export function readTensor(path: string | URL): Tensor;
/** All tensors of a file, such as a .npz, by name. */
export function readTensors(path: string | URL): { [name: string]: Tensor };
/** Writes a .npy. */
export function writeTensor(path: string | URL, tensor: Tensor): void;

// ---- kernels

export interface KernelParam {
  name: string | null;
  dtype: Dtype | null;
  isArray: boolean;
  isRead: boolean;
  isWritten: boolean;
}
export type Kernel = Omit<HoloKernelInfo, "type" | "params"> & { type: Dtype | null; params: KernelParam[] };
export interface KernelOptions {
  /** How many lanes there are; 0: as the kernel says. */
  lanes?: number;
  block?: readonly number[];
  /** Turns of loops that a lane may take; 0: any number. */
  turns?: number;
}
export type KernelArguments = { readonly [name: string]: Tensor | TypedArray | number | bigint | boolean };

/** A file of kernels. */
export interface Kernels extends Closing {
  readonly list: readonly Kernel[];
  /** Runs a kernel on this thread, by its name, or by its function and the types of its arguments. Arrays are written in place. */
  runSync(name: string, args: KernelArguments, options?: KernelOptions): void;
  run(name: string, args: KernelArguments, options?: KernelOptions): Promise<void>;
  /** Writes them as an archive. */
  write(path: string | URL): void;
}
export const Kernels: abstract new (...args: never[]) => Kernels;
export const kernels: {
  /** Compiles a file of kernels, or all below a folder; or opens an archive that holds kernels. */
  open(path: string | URL, options?: { numeric?: "fused" | "exact"; threads?: number }): Kernels;
};

// ---- the rest

export type ErrorCode =
  | "BAD_ARGUMENT"
  | "BAD_MODEL"
  | "BAD_ARCHIVE"
  | "BAD_INPUT"
  | "UNSUPPORTED"
  | "NO_MEMORY"
  | "NO_FILE"
  | "CANCELLED"
  | "VERIFY"
  | "INTERNAL"
  | "REFUSED"
  | "BUSY"
  | "TIMEOUT";
/** What went wrong. The message is the C library's. */
export class HologramError extends Error {
  constructor(message: string, code?: ErrorCode, options?: { cause?: unknown });
  readonly code: ErrorCode;
}
/** The version of the C library inside. */
export const version: string;
/** The level of CPU whose kernels are in use: "avx2", "neon" ... */
export const cpuLevel: string;
