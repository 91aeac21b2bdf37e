"""Several texts that one language model continues at once."""

import asyncio
import collections
import threading
import weakref

from . import _hologram
from ._hologram import Error, NoMemoryError, TextBatch, capi
from ._text import Prompts, Tokens

_ERRORS = {one.status: one for one in Error.__subclasses__()}


class BatchAnswer(Tokens):
    """A text of a batch: iterate over its tokens, with `for` or with `async for`. Waiting for one continues all texts of the batch.

    Closing it ends the text, and so does letting go of it. `result` has counts and times when the text has ended, as that of an Answer.
    """

    def __init__(self, batch, ids, options, stops, grammar):
        super().__init__(options.get("logprobs"))
        self._batch, self._given = batch, (ids, options, stops, grammar)
        self._id, self._is_ended, self._is_closed, self.result = None, False, False, None

    def _is_over(self):
        return self._is_ended or self._is_closed

    def _more(self):
        self._batch._step(self)

    async def _more_async(self):
        await self._batch._step_async(self)

    def _finish(self, error=None, result=None):
        self._is_ended, self._error, self.result = True, error, result

    def close(self):
        """Ends the text."""
        self._tokens.clear()
        if not self._is_over():
            self._is_closed = True
            self._batch._leave(self)

    def __del__(self):
        if hasattr(self, "result"):  # it was made
            self.close()


class Batch(Prompts):
    """Texts that are continued together: made by Model.batch. A step runs the next token of each of them, and reads the weights once for
    all. Each text gets the tokens that Model.generate gives it alone. Texts come and go at any time, and all threads and tasks may use it.

        with model.batch(places=8) as batch:
            answers = [batch.generate(prompt, max_tokens=50) for prompt in prompts]
            for answer in answers:
                print(answer.text())
    """

    def __init__(self, model, threads=None, **options):
        pool = None if threads is None else capi.holo_pool_create(threads)
        self._handle = TextBatch._create(model, pool, {name: value for name, value in options.items() if value is not None})
        self._prepare(model)
        self._answers = {}  # by id, as long as somebody has them
        # One thread at a time is inside of the batch. What others want meanwhile is done before the next step.
        self._lock, self._coming, self._leaving = threading.Lock(), collections.deque(), collections.deque()
        self._running = None  # a step that tasks await

    @property
    def context(self):
        """The most tokens of a text."""
        return self.state["context"]

    @property
    def state(self):
        """Texts, by what becomes of them (waiting, reading, generating), and tokens so far: a dict. `rows` / `runs` is how many texts
        a run of the model had on average."""
        with self._lock:
            return self._handle.state

    def generate_texts(self, prompts, **options):
        """Continues several prompts, and gives the texts that come behind them: a list. Options are those of Model.generate."""
        return [answer.text() for answer in [self.generate(prompt, **options) for prompt in prompts]]

    # ---- texts come and go

    def _answer(self, ids, options, stops, grammar):
        answer = BatchAnswer(self, list(ids), options, stops, grammar)
        self._coming.append(answer)
        self._try()
        if answer._is_ended and answer._error is not None:
            answer._end()
        return answer

    def _leave(self, answer):
        if answer._id is not None:
            self._leaving.append(answer._id)
            self._try()

    def _try(self):
        if not self._handle.closed and self._lock.acquire(blocking=False):
            try:
                self._let_in_and_out()
            finally:
                self._lock.release()

    def _let_in_and_out(self):
        while self._coming:
            answer = self._coming.popleft()
            if answer._is_over():
                continue
            try:
                answer._id = self._handle.add(*answer._given)
            except Exception as error:
                answer._finish(error)
                continue
            finally:
                answer._given = None
            self._answers[answer._id] = weakref.ref(answer)
        while self._leaving:
            self._handle.leave(self._leaving.popleft())

    # ---- steps

    def _step(self, answer):
        """A step, unless the answer has got tokens or has ended meanwhile."""
        with self._lock:
            if answer._tokens or answer._is_over():
                return
            self._let_in_and_out()
            if answer._is_over():
                return
            tokens, ends, left = self._handle.step()
            for id, *row in tokens:
                to = self._answers[id]()
                if to is not None:
                    to._take(*row)
            for id, status, message, result in ends:
                self._finish(id, _ERRORS[status](message) if status else None, result)
            if not left:  # there was no memory to tell all
                for id in list(self._answers):
                    self._finish(id, NoMemoryError("out of memory"), None)

    def _finish(self, id, error, result):
        answer = self._answers.pop(id)()
        if answer is not None and not answer._is_closed:
            answer._finish(error, result)

    async def _step_async(self, answer):
        """The same in another thread. Tasks that wait for tokens wait for one step."""
        loop = asyncio.get_running_loop()
        if self._running is None or self._running[0] is not loop or self._running[1].done():
            self._running = loop, loop.run_in_executor(None, self._step, answer)
        await asyncio.shield(self._running[1])
