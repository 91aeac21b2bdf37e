// Types of the package hologram in browsers. What it shares with Node's is in face.d.ts.
import type { CompileOptions, Feeds, GenerateOptions, Generated, ImageOptions, ImagineOptions, ImagineStep, Input, Message, Model, Pictures, Pixels, Port, Report, Results, RunOptions, Sound, Tensor, Token, TranscribeOptions, Transcript } from "./face.js";

export type {
  ArrayOf,
  AsyncRunOptions,
  BatchOptions,
  BatchState,
  Dtype,
  Feeds,
  GenerateOptions,
  Generated,
  ImageOptions,
  ImagineOptions,
  ImagineStep,
  Input,
  Inspection,
  LanguageOptions,
  Message,
  Nested,
  Note,
  Pictures,
  Pixels,
  Port,
  Report,
  Results,
  RunOptions,
  Sound,
  Token,
  TranscribeOptions,
  Transcript,
  TypedArray,
} from "./face.js";
export { Batch, HologramError, Language, Model, Session, Tensor, Tokenizer } from "./face.js";

/** A URL, a Blob or File, a Response, or bytes. */
export type Source = string | URL | Blob | Response | ArrayBuffer | SharedArrayBuffer | ArrayBufferView;

export interface Progress {
  loaded: number;
  /** undefined: the server does not say. */
  total?: number;
  /** It was kept from an earlier visit. */
  cached?: boolean;
}

export interface WebCompileOptions extends Pick<CompileOptions, "inputShapes" | "numeric" | "size" | "symbolic"> {
  quantize?: string;
  accuracy?: number;
  tables?: boolean;
  verify?: boolean;
  progress?: (stage: string, fraction: number) => void;
  /** Files beside the model, by their names: external data, or the other files of a folder. */
  files?: { readonly [name: string]: ArrayBuffer | ArrayBufferView };
}

export interface OpenOptions extends WebCompileOptions {
  /** Threads of a run; 0, the default: one a core. One, where the page is not cross-origin isolated. */
  threads?: number;
  /** How many runs there may be at once; 1 by default. */
  sessions?: number;
  onprogress?: (progress: Progress) => void;
  signal?: AbortSignal;
  /** false: keeps nothing. "reload": fetches it anew. By default a model is kept, and fetched again when the server has another version. */
  cache?: boolean | "reload";
  /** Loads the runtime with text at once. Models with a tokenizer do so anyway. */
  text?: boolean;
  /** Bits of an address: 64 for models beyond 3 GB, where the engine has such memory. By default it is chosen by the model's size. */
  memory?: 32 | 64;
  /** The model runs in a worker of its own, and the page stays smooth. */
  worker?: boolean;
}

/** A model in a worker: what others tell at once, it tells by promises. */
export interface RemoteModel {
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  readonly report?: Report;
  run<R = Results>(feeds: Feeds | Input, options?: RunOptions & { signal?: AbortSignal }): Promise<R>;
  generate(prompt: string | Iterable<number>, options?: GenerateOptions): AsyncGenerator<Token, Generated, void>;
  generateText(prompt: string | Iterable<number>, options?: Omit<GenerateOptions, "signal">): Promise<string>;
  generateTexts(prompts: Iterable<string | Iterable<number>>, options?: Omit<GenerateOptions, "signal">): Promise<string[]>;
  chat(messages: readonly Message[], options?: GenerateOptions): AsyncGenerator<Token, Generated, void>;
  /** Writes down what is said: the bytes of a WAV file, or samples at `rate()`. A signal ends the wait; close() ends the work, too. */
  transcribe(sound: Sound, options?: TranscribeOptions): Promise<Transcript>;
  /** Samples per second that a speech model hears; 0: it is no speech model. */
  rate(): Promise<number>;
  readonly pictures: Pictures | null;
  imagine(prompt: string, options?: ImagineOptions): AsyncGenerator<ImagineStep, void, void>;
  readonly tokenizer: {
    encode(text: string, options?: { special?: boolean }): Promise<number[] | null>;
    decode(ids: Iterable<number>, options?: { special?: boolean }): Promise<string | null>;
  };
  inspect(): Promise<ReturnType<Model["inspect"]>>;
  explain(): Promise<ReturnType<Model["explain"]>>;
  constants(): Promise<ReturnType<Model["constants"]>>;
  bench(feeds?: Feeds, options?: { seconds?: number; runs?: number }): Promise<ReturnType<Model["bench"]>>;
  sample(sizes?: { readonly [symbol: string]: number }): Promise<{ [name: string]: Tensor }>;
  verify(): Promise<void>;
  /** Ends the worker, and all that it does. */
  close(): void;
}

/** Opens a model. What is no archive is compiled first, by a module that is fetched then. */
export function open(source: Source, options: OpenOptions & { worker: true }): Promise<RemoteModel>;
export function open(source: Source, options?: OpenOptions & { worker?: false }): Promise<Model>;
/** Compiles a model into the bytes of an archive. */
export function compile(source: Source, options?: WebCompileOptions): Promise<{ archive: Uint8Array; report: Partial<Report> }>;
/** Forgets the models that are kept. */
export function clearCache(): Promise<boolean>;

/** An image as a tensor of rank 4. */
export function imageTensor(image: Pixels | CanvasImageSource | VideoFrame, options?: ImageOptions): Tensor;
/** The ImageData of a picture: uint8 of [height, width, 3]. */
export function imageData(picture: Tensor<"uint8">): ImageData;
/** Says where the files of the package are, for programs that a bundler has put elsewhere: the URL of its folder web/. */
export function setBase(url: string | URL): void;
