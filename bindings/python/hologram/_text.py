"""Tokenizers, language models and the texts that they continue."""

import asyncio
import collections
import json
import os
from typing import NamedTuple

from . import _hologram
from ._hologram import ArgumentError, CancelledError, Generation, UnsupportedError, capi

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


class Tokens:
    """The tokens that a text is continued with, as soon as they are known: iterate over them, with `for` or with `async for`.

    What makes them defines _more(), which waits for tokens, _more_async(), which awaits them, and _is_over()."""

    _error = None  # what ended the text, until it is raised

    def __init__(self, logprobs):
        self._tokens, self._logprobs = collections.deque(), bool(logprobs)

    def _take(self, id, text, logprob):
        self._tokens.append(Token(id, text, logprob if self._logprobs else None))

    def _end(self):
        error, self._error = self._error, None
        self.close()
        if error is not None:
            raise error

    def __iter__(self):
        return self

    def __next__(self):
        while not self._tokens:
            if self._is_over():
                self._end()
                raise StopIteration
            self._more()
        return self._tokens.popleft()

    def __aiter__(self):
        return self

    async def __anext__(self):
        while not self._tokens:
            if self._is_over():
                self._end()
                raise StopAsyncIteration
            await self._more_async()
        return self._tokens.popleft()

    def text(self):
        """The rest of the text, as one."""
        return "".join(token.text for token in self)

    async def text_async(self):
        """The same, to be awaited."""
        return "".join([token.text async for token in self])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class Answer(Tokens):
    """The tokens that a language model continues a text with: iterate over it, with `for` or with `async for`. Closing it ends the text.

    `result` has counts and times so far: prompt_tokens, cached_tokens, tokens, finish ('length', 'end', 'stop', 'asked', 'grammar'),
    stop, prompt_seconds, seconds, guessed, right.
    """

    def __init__(self, language, generation, logprobs=False):
        super().__init__(logprobs)
        self._language, self._generation, self._owns = language, generation, False

    def _is_over(self):
        return self._generation.closed or self._generation.done

    def _more(self):
        for _, *row in self._generation.step():
            self._take(*row)

    async def _more_async(self):
        future = asyncio.get_running_loop().run_in_executor(None, self._more)
        try:
            await asyncio.shield(future)
        except asyncio.CancelledError:
            self._language.cancel()
            try:
                await future  # the model is in use until then
            except CancelledError:
                pass
            raise

    @property
    def result(self):
        """Counts and times so far, a dict."""
        return self._generation.result

    def close(self):
        """Ends the text."""
        self._tokens.clear()
        self._generation.close()
        if self._owns:
            self._language.close()


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


class Prompts:
    """What is given to language models, as the C library takes it."""

    def _prepare(self, model):
        self.model, self._tokenizer, chat = model, model.tokenizer, _hologram.asset(model, "template")
        self._chat = None if chat is None else capi.holo_template_open_memory(chat)

    @property
    def tokenizer(self):
        """Of the model; None: it has none."""
        return self._tokenizer

    def generate(self, prompt, *, chat=None, stop=(), grammar=None, regex=None, json_schema=None, **options):
        """As Model.generate."""
        given = self._given(stop, {"grammar": grammar, "regex": regex, "json_schema": json_schema}, options)
        return self._answer(self._ids(prompt, chat), *given)

    def generate_text(self, prompt, **options):
        """As Model.generate_text."""
        return self.generate(prompt, **options).text()

    def chat(self, messages, **options):
        """As Model.chat."""
        return self.generate(self._rendered(messages), **options, chat=False)

    def close(self):
        """Frees it, and ends its texts."""
        self._handle.close()

    @property
    def closed(self):
        """Whether close() was called."""
        return self._handle.closed

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

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

    @staticmethod
    def _given(stop, grammars, options):
        """(options, stop strings, the compiled grammar or None)"""
        given = [name for name, text in grammars.items() if text is not None]
        if len(given) > 1:
            raise ArgumentError(f"{given[0]} and {given[1]} are both given: a text can have one of them")
        compiled = None
        for name in given:
            text = grammars[name] if isinstance(grammars[name], str) else json.dumps(grammars[name])
            compiled = capi.holo_grammar_compile(_GRAMMARS[name], text, capi.HOLO_SPACES_SOME)
        stops = [stop] if isinstance(stop, str) else list(stop)
        return {name: value for name, value in options.items() if value is not None}, stops, compiled


class Language(Prompts):
    """A language model at work: made by Model.language. It keeps what it has read of texts, so that a prompt that begins as the one
    before is read from where they differ. For one thread at a time."""

    def __init__(self, model, texts=1, context=0, threads=None):
        pool = None if threads is None else capi.holo_pool_create(threads)
        self._handle = _hologram.language_open(model, pool, texts, context)
        self._prepare(model)

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

    def save(self, path, text=0):
        """Writes what was read of a text to a file."""
        capi.holo_language_save(self._handle, text, os.fsdecode(path))

    def load(self, path, text=0):
        """Reads it back, so that the text need not be read again. The file works with the same model alone."""
        capi.holo_language_load(self._handle, text, os.fsdecode(path))

    def cancel(self):
        """Stops a read in progress, from any thread: it raises CancelledError."""
        _hologram.language_cancel(self._handle)

    def _answer(self, ids, options, stops, grammar):
        return Answer(self, Generation._create(self._handle, ids, options, stops, grammar), options.get("logprobs"))

    def transcribe(self, sound, *, language=None, translate=False, timestamps=False):
        """As Model.transcribe."""
        rate = capi.holo_language_rate(self._handle)
        if not rate:
            raise UnsupportedError("the model does not listen to sounds")
        if isinstance(sound, (bytes, bytearray)):
            sound = _hologram.sound_read_memory(bytes(sound), rate)
        samples = _hologram.sound_read(sound, rate) if isinstance(sound, (str, os.PathLike)) else sound
        code, seconds, pieces = _hologram.transcribe(self._handle, samples, language, translate, timestamps)
        return Transcript(code, seconds, tuple(Spoken(*piece) for piece in pieces))
