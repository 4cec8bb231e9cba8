"""An executor without processes."""

from concurrent.futures import Executor, Future


class Serial(Executor):
    """Runs everything at once, in this process, in the order of submission."""

    def submit(self, fn, /, *args, **kwargs):
        future: Future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
