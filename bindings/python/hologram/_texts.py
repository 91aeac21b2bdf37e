"""What models do with text."""

import os

from . import _hologram
from ._batch import Batch
from ._pictures import Picture
from ._reader import Reader
from ._text import Language, Tokenizer


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
        min_tokens               the text does not end before it has so many
        no_repeat_ngram          no so many tokens in a row occur twice
        beams                    beam search: so many texts grow at once, the best is the answer, and all of its tokens come at the end
        length_penalty           of beams: scores are divided by the length to this power
        beam_stop                when beams have enough answers: 'likely', 'first' or 'never'
        context, threads         as for `language`

        The GIL is free while the model runs. Ctrl-C ends it, and so does leaving the loop. In a coroutine, `async for` waits in another
        thread.
        """
        language = Language(self, options.get("beams") or 1, context, threads)
        answer = language.generate(prompt, **options)
        answer._owns = True
        return answer

    def batch(self, *, places=None, waiting=None, context=None, memory=None, chunk=None, threads=None):
        """Continues several texts at once: a Batch, whose `generate` and `chat` are as those of the model.

        `places` is how many are continued at once, 8 by default; others wait for a place, any number unless `waiting` says how many.
        `context` is the most tokens of a text, `memory` the bytes that may be kept of all, `chunk` how many tokens of a prompt a step
        reads while other texts are continued. `threads` as for `language`.

            async def answer(question):
                async for token in batch.generate(question):
                    print(token, end="", flush=True)

            with model.batch() as batch:
                asyncio.run(all_of_them(answer))
        """
        return Batch(self, threads, places=places, waiting=waiting, context=context, memory=memory, chunk=chunk)

    def generate_texts(self, prompts, *, context=None, threads=None, **options):
        """Continues several prompts at once, in a batch, and gives the texts that come behind them: a list."""
        with self.batch(context=context, threads=threads) as batch:
            return batch.generate_texts(prompts, **options)

    def transcribe(self, sound, *, threads=None, **options):
        """Writes down what is said, with a model of Whisper's kind. `sound` is the path of a WAV file, its bytes, or samples as the
        model listens to them. `language` is the code of what is spoken, such as "en"; None: the model finds out. `translate` writes it down in
        English. `timestamps` says when each piece is spoken; without it, short sounds are one piece. Returns a Transcript.

            print(model.transcribe("talk.wav").text)
        """
        with self.language(threads=threads) as language:
            return language.transcribe(sound, **options)

    def embed(self, texts, *, pooling=None, normalize=None, max_length=None, threads=None):
        """The vectors of texts: an array with a row for each, or the vector of one text. Similar texts have similar vectors, if the model
        was trained for that.

            vectors = model.embed(["a cat", "a dog"])

        `pooling` is how the vectors of tokens become one: 'mean', 'cls', 'max', 'last', 'mean_sqrt', 'weighted', or several with commas;
        None: as the model says. `normalize` True: vectors have length 1; False: they stay as they are; None: as the model says.
        `max_length` cuts texts to so many tokens.
        """
        reader = Reader(self, threads, max_length, pooling, normalize)
        return reader.vectors([texts])[0] if isinstance(texts, str) else reader.vectors(texts)

    def classify(self, items, *, top=None, max_length=None, threads=None):
        """The labels of texts, or of pictures, by their paths: a list of Label for each, the best first; or a Label for each token, if the
        model labels tokens. Of one text or one path, it is one list.

            print(model.classify("what a film")[0])

        `top` is how many labels are given; None: all. Pictures are prepared as the model says.
        """
        reader = Reader(self, threads, max_length)
        if isinstance(items, (str, os.PathLike)):
            return reader.labels(items, top)
        return [reader.labels(item, top) for item in items]

    @property
    def pictures(self):
        """What `imagine` does where nothing is said, a dict: scheduler, steps, guidance, width, height ... None: the model makes none."""
        return _hologram.imagine_defaults(self)

    def imagine(self, prompt, *, negative=None, scheduler=None, steps=None, guidance=None, seed=None, width=None, height=None, threads=None):
        """Makes a picture of a text: a Picture, whose steps are taken as you iterate over it, or all at once by `image()`.

            model.imagine("a red fox", steps=20, seed=7).save("fox.png")

        `negative` is what it should not show, `scheduler` 'ddim', 'euler', 'euler-ancestral', 'dpm++' or 'lcm', `guidance` how closely it
        follows the text; at most 1: half the work. The same `seed` gives the same picture.
        """
        return Picture(self, prompt, negative, scheduler, threads, steps=steps, guidance=guidance, seed=seed, width=width, height=height)

    def generate_text(self, prompt, **options):
        """Continues a prompt, and gives the whole text that comes behind it. Options are those of `generate`."""
        return self.generate(prompt, **options).text()

    def chat(self, messages, *, context=0, threads=None, **options):
        """Answers the last of several messages, by the model's chat template; yields a Token for each token, as `generate`.

            for token in model.chat([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who are you?"}]):
                print(token, end="", flush=True)
        """
        language = Language(self, options.get("beams") or 1, context, threads)
        answer = language.chat(messages, **options)
        answer._owns = True
        return answer
