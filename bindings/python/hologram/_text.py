"""Tokenizers, language models and the texts that they continue."""

import json
import os
from typing import NamedTuple

from . import _hologram
from ._hologram import ArgumentError, Generation, UnsupportedError, capi

_GRAMMARS = {"grammar": capi.HOLO_GRAMMAR_GBNF, "regex": capi.HOLO_GRAMMAR_REGEX, "json_schema": capi.HOLO_GRAMMAR_JSON_SCHEMA}


class Tokenizer:
    """Turns text into the ids that a language model reads, and back. It never changes: all threads may use it at once.

    `source` is a model that is open, a .holo file, a tokenizer.json, a tokenizer.model, a GGUF file, or a folder that has such a file.

    >>> import hologram, json, os, tempfile
    >>> words = {"[UNK]": 0, "a": 1, "red": 2, "fox": 3}
    >>> text = json.dumps({"model": {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"}, "pre_tokenizer": {"type": "Whitespace"}})
    >>> with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "tokenizer.json"), "w") as file:
    ...     size = file.write(text)
    ...     file.flush()
    ...     tokenizer = hologram.Tokenizer(folder)
    >>> tokenizer.encode("a red fox"), tokenizer.decode([1, 3]), len(tokenizer)
    ([1, 2, 3], 'a fox', 4)
    >>> tokenizer.token(3), tokenizer.id("red"), tokenizer.id("dog")
    ('fox', 2, None)
    """

    def __init__(self, source):
        if not isinstance(source, _hologram.Model):
            path = os.fsdecode(source)
            if os.path.isdir(path) or capi.holo_file_kind(path) != capi.HOLO_FILE_ARCHIVE:
                self._handle = capi.holo_tokenizer_compile(path)
                return
            source = _hologram.Model._open(path, 1)
        block = _hologram.asset(source, "tokenizer")
        if block is None:
            raise UnsupportedError("the model has no tokenizer: compile a folder that has a tokenizer.json")
        self._handle = capi.holo_tokenizer_open_memory(block)

    def encode(self, text, special=True):
        """The ids of a text. `special`: with the tokens that the model expects around a text."""
        return _hologram.encode(self._handle, text, capi.HOLO_TEXT_SPECIAL if special else 0)

    def decode(self, ids, special=False):
        """The text of ids. `special`: special tokens are written, too."""
        return _hologram.decode(self._handle, ids, capi.HOLO_TEXT_SPECIAL if special else 0)

    def token(self, id):
        """The text of a token as the vocabulary has it; None: there is no such token."""
        return _hologram.token(self._handle, id)

    def id(self, text):
        """The id of a token by its text in the vocabulary; None: there is none."""
        return capi.holo_tokenizer_find(self._handle, text)

    def is_special(self, id):
        """Whether the token is one that is no text: the end of a text, the role of a message."""
        return 0 <= id < len(self) and capi.holo_tokenizer_is_special(self._handle, id)

    def __len__(self):
        return capi.holo_tokenizer_count(self._handle)

    def __repr__(self):
        return f"<hologram.Tokenizer of {len(self)} tokens>"


class Token:
    """A token that was generated; str() of it is its text.

    `id`, `text` (what may be shown now: perhaps nothing, since characters are shown when they are complete), and `logprob`, the natural
    logarithm of its probability, with logprobs=True. What is left at the end of a text has the id None.
    """

    __slots__ = ("id", "text", "logprob")

    def __init__(self, id, text, logprob=None):
        self.id, self.text, self.logprob = id, text, logprob

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"Token(id={self.id}, text={self.text!r}, logprob={self.logprob})"


class Answer:
    """The tokens that a language model continues a text with: iterate over it. Closing it ends the text.

    `result` has counts and times so far: prompt_tokens, cached_tokens, tokens, finish ('length', 'end', 'stop', 'asked', 'grammar'),
    stop, prompt_seconds, seconds, guessed, right.
    """

    def __init__(self, language, generation):
        self._language, self._generation, self._owns, self._tokens = language, generation, False, []

    def __iter__(self):
        return self

    def __next__(self):
        while not self._tokens:
            if self._generation.closed or self._generation.done:
                self.close()
                raise StopIteration
            self._tokens = [Token(*row) for row in reversed(self._generation.step())]
        return self._tokens.pop()

    @property
    def result(self):
        """Counts and times so far, a dict."""
        return self._generation.result

    def text(self):
        """The rest of the text, as one."""
        return "".join(token.text for token in self)

    def close(self):
        """Ends the text."""
        self._tokens = []
        self._generation.close()
        if self._owns:
            self._language.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class Spoken(NamedTuple):
    """A piece of what is said: from when to when, in seconds, and its text."""

    begin: float
    end: float
    text: str


class Transcript(NamedTuple):
    """What is said in a sound: the code of its language ("": the model knows one), its length in seconds, and the pieces, Spoken."""

    language: str
    seconds: float
    pieces: tuple

    @property
    def text(self):
        """All of it."""
        return "".join(piece.text for piece in self.pieces).strip()

    def __str__(self):
        return self.text


class Language:
    """A language model at work: made by Model.language. It keeps what it has read of texts, so that a prompt that begins as the one
    before is read from where they differ. For one thread at a time."""

    def __init__(self, model, texts=1, context=0, threads=None):
        pool = None if threads is None else capi.holo_pool_create(threads)
        self._handle = _hologram.language_open(model, pool, texts, context)
        self._tokenizer, chat = model.tokenizer, _hologram.asset(model, "template")
        self._chat = None if chat is None else capi.holo_template_open_memory(chat)
        self.model = model

    @property
    def tokenizer(self):
        """Of the model; None: it has none."""
        return self._tokenizer

    @property
    def context(self):
        """The most tokens of a text; 0: there is no limit."""
        return capi.holo_language_context(self._handle)

    @property
    def ends(self):
        """The ids that end a text."""
        return _hologram.language_ends(self._handle)

    def read(self, ids, text=0):
        """The logits behind the ids: an array with a number for each token of the vocabulary, the larger the more likely it is next.
        `text` is the number of the text that they are."""
        return _hologram.language_read(self._handle, ids, text)

    def copy(self, source, target):
        """Makes text `target` a copy of what was read of text `source`."""
        capi.holo_language_copy(self._handle, source, target)

    def forget(self, text=0):
        """Forgets what was read of a text."""
        capi.holo_language_forget(self._handle, text)

    def cancel(self):
        """Stops a read in progress, from any thread: it raises CancelledError."""
        _hologram.language_cancel(self._handle)

    def generate(self, prompt, *, chat=None, stop=(), grammar=None, regex=None, json_schema=None, **options):
        """As Model.generate."""
        return self._answer(self._ids(prompt, chat), stop, {"grammar": grammar, "regex": regex, "json_schema": json_schema}, options)

    def generate_text(self, prompt, **options):
        """As Model.generate_text."""
        return self.generate(prompt, **options).text()

    def chat(self, messages, **options):
        """As Model.chat."""
        return self.generate(self._rendered(messages), **options, chat=False)

    def transcribe(self, sound, *, language=None, translate=False, timestamps=True):
        """As Model.transcribe."""
        rate = capi.holo_language_rate(self._handle)
        if not rate:
            raise UnsupportedError("the model does not listen to sounds")
        samples = _hologram.sound_read(sound, rate) if isinstance(sound, (str, os.PathLike)) else sound
        code, seconds, pieces = _hologram.transcribe(self._handle, samples, language, translate, timestamps)
        return Transcript(code, seconds, tuple(Spoken(*piece) for piece in pieces))

    def close(self):
        """Frees it."""
        self._handle.close()

    @property
    def closed(self):
        """Whether close() was called."""
        return self._handle.closed

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    # ---- prompts

    def _needs_tokenizer(self):
        if self._tokenizer is None:
            raise UnsupportedError("the model has no tokenizer: give the prompt as ids, or compile a folder that has a tokenizer.json")
        return self._tokenizer

    def _rendered(self, messages):
        if self._chat is None:
            raise UnsupportedError("the model has no chat template: give a prompt to generate")
        text = _hologram.render(self._chat, json.dumps({"messages": list(messages), "add_generation_prompt": True}))
        return self._needs_tokenizer().encode(text, special=False)  # the template writes special tokens itself

    def _ids(self, prompt, chat):
        if not isinstance(prompt, str):
            return prompt
        if chat or chat is None and self._chat is not None:
            return self._rendered([{"role": "user", "content": prompt}])
        return self._needs_tokenizer().encode(prompt)

    def _answer(self, ids, stop, grammars, options):
        given = [name for name, text in grammars.items() if text is not None]
        if len(given) > 1:
            raise ArgumentError(f"{given[0]} and {given[1]} are both given: a text can have one of them")
        compiled = None
        for name in given:
            text = grammars[name] if isinstance(grammars[name], str) else json.dumps(grammars[name])
            compiled = capi.holo_grammar_compile(_GRAMMARS[name], text, capi.HOLO_SPACES_SOME)
        stops = [stop] if isinstance(stop, str) else list(stop)
        given = {name: value for name, value in options.items() if value is not None}
        return Answer(self, Generation._create(self._handle, ids, given, stops, compiled))


class Texts:
    """What models do with text."""

    @property
    def tokenizer(self):
        """The tokenizer of the archive; None: it has none."""
        return None if _hologram.asset(self, "tokenizer") is None else Tokenizer(self)

    def language(self, texts=1, context=0, threads=None):
        """The model as a language model, which keeps what it has read: a Language. `texts` is how many texts it keeps at once, `context`
        the most tokens of one, 0: as many as the model was made for. `threads` None: as the model's runs; 0: one a core."""
        return Language(self, texts, context, threads)

    def generate(self, prompt, *, context=0, threads=None, **options):
        """Continues a prompt, and yields a Token for each token, as soon as it is known.

            for token in model.generate("Why is the sky blue?", max_tokens=200):
                print(token, end="", flush=True)

        `prompt` is a text, or ids. If the model has a chat template, a text is a question, and what comes out is the answer; chat=False
        continues the text itself. Other options, by default as the model's makers want them:

        max_tokens               as many at most; None: until the model ends the text, or its context is full
        temperature              0: always the most likely token
        top_k, top_p, min_p, typical_p                               leave out tokens that are not likely
        repetition_penalty, presence_penalty, frequency_penalty      make tokens less likely that occurred
        seed                     the same seed gives the same tokens
        stop                     a text or several that end the text
        json_schema              a dict or JSON: the text is JSON that fits the schema
        grammar, regex           rules in GBNF, or a regular expression, that the text fits
        lookup                   guess so many tokens from the text itself, and check them in one run; the text is the same
        logprobs                 True: tokens have log-probabilities
        keep_ends                True: go on behind tokens that end the text
        context, threads         as for `language`

        The GIL is free while the model runs. Ctrl-C ends it, and so does leaving the loop.
        """
        language = Language(self, 1, context, threads)
        answer = language.generate(prompt, **options)
        answer._owns = True
        return answer

    def transcribe(self, sound, *, threads=None, **options):
        """Writes down what is said, with a model of Whisper's kind. `sound` is the path of a WAV file, or samples as the model listens
        to them. `language` is the code of what is spoken, such as "en"; None: the model finds out. `translate` writes it down in
        English. `timestamps` False: short sounds are one piece. Returns a Transcript.

            print(model.transcribe("talk.wav").text)
        """
        with self.language(threads=threads) as language:
            return language.transcribe(sound, **options)

    def generate_text(self, prompt, **options):
        """Continues a prompt, and gives the whole text that comes behind it. Options are those of `generate`."""
        return self.generate(prompt, **options).text()

    def chat(self, messages, *, context=0, threads=None, **options):
        """Answers the last of several messages, by the model's chat template; yields a Token for each token, as `generate`.

            for token in model.chat([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who are you?"}]):
                print(token, end="", flush=True)
        """
        language = Language(self, 1, context, threads)
        answer = language.chat(messages, **options)
        answer._owns = True
        return answer
