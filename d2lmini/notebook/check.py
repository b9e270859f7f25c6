"""Code exercises: run a reader's function on hidden cases and say which bug it looks like."""

import ctypes
import linecache
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from d2lmini.errors import one_of
from d2lmini.language import current_language, message
from d2lmini.notebook import progress, tasks
from d2lmini.notebook.content import cell_fingerprint, current_name, exercise_content, plain
from d2lmini.notebook.tasks import Case, Results, Task


def check(name: str, function: Callable[..., Any], seconds: float = 5.0) -> None:
    """Check your function for a code exercise and print the verdict: which bug a wrong one looks like.

    Args:
        name: the exercise, e.g. ``"multi-head-attention/code-attention"``.
        function: your function, not called.
        seconds: how long it may take in all; a function that does not end is stopped.

    Raises:
        ValueError: there is no such code exercise (the names are given), or `seconds` is no time to wait.

    Example:
        >>> check("multi-head-attention/code-split-heads", lambda X, num_heads: ...)
        Not written yet: replace each ... by your code.
    """
    name = current_name(name)
    if name not in tasks.NAMES:
        raise ValueError(one_of("name", name, tasks.NAMES))
    if not isinstance(seconds, int | float) or not 0 < seconds <= 3600:
        raise ValueError(f"seconds: got {seconds!r}; give a number above 0 and at most 3600")
    content = exercise_content(name, current_language())
    if not callable(function):
        print(message("check_not_function", call=content["call"]))
        return
    task = tasks.load_task(name)
    verdict = _Verdict(task, {bug: plain(text) for bug, text in content["bugs"].items()})
    end = _within(seconds, lambda: verdict.judge(function))
    if verdict.right and _is_of_page(function, content.get("page", [])):
        print(message("check_page", name=function.__name__))
        return
    print(verdict.message if end == "finished" else message("check_time", seconds=f"{seconds:g}"))
    if end == "running":
        print(message("check_running"))
    if end == "finished" and verdict.right:
        progress.answered(name, {"done": True})


def _is_of_page(function: Callable[..., Any], cells: list[str]) -> bool:
    """Say whether a cell of the page defined this function, as it is there after the page was run.

    Such a cell is known by all of its text. The reader's own function may be the same, word for word.
    """
    code = getattr(function, "__code__", None)
    # where Python finds the lines of a traceback, IPython keeps the cells that have run
    source = "".join(linecache.getlines(code.co_filename)) if code else ""
    return cell_fingerprint(source) in cells


class _Verdict:
    """The sentence about a function: the first that helps, from "not written" to "all cases pass"."""

    def __init__(self, task: Task, bugs: dict[str, str]):
        self.task, self.bugs = task, bugs
        self.message, self.right = "", False

    def judge(self, function: Callable[..., Any]) -> None:
        self.message = self._wrong(function) or message(
            "check_right", count=len(self.task.cases) + len(self.task.edges)
        )

    def _wrong(self, function: Callable[..., Any]) -> str:
        changed = False
        # the ordinary cases first: a bug seen there is the one to speak of, whatever an edge case adds
        for cases in (self.task.cases, self.task.cases + self.task.edges):
            results = []
            for case in cases:
                inputs = tuple(value.clone() if isinstance(value, Tensor) else value for value in case)
                try:
                    result = function(*inputs)
                except NotImplementedError:
                    return message("check_unwritten")
                except (Exception, SystemExit) as error:
                    return self._stopped(error, case)
                results.append(_in_a_tensor(result, self.task.right(*case)))
                changed = changed or any(
                    isinstance(value, Tensor) and not _untouched(value, before)
                    for value, before in zip(inputs, case, strict=True)
                )
            if any(result is None or _has_gap(result) for result in results):
                return message("check_unwritten")
            seen = self._compared(results, cases)
            right = self._compared([self.task.right(*case) for case in cases], cases)
            if not _all_same(seen, right):
                reason = self._named(seen, right, cases) or self._first_difference(results, cases)
                return message("check_bug", reason=reason)
        if changed:
            return message("check_changed")
        bug = self.task.caught(function)
        self.right = bug is None
        return "" if bug is None else message("check_bug", reason=self.bugs[bug])

    def _stopped(self, error: BaseException, case: Case) -> str:
        stopped = message("check_error", error=f"{type(error).__name__}: {error}", shapes=_shapes(case))
        # the last line of the reader's own code, neither of this package nor of torch
        others = str(Path(__file__).parent), "site-packages"
        steps = traceback.extract_tb(error.__traceback__)
        own = [step.line for step in steps if not any(place in step.filename for place in others)]
        return stopped + ("\n" + message("check_line", line=own[-1]) if own and own[-1] else "")

    def _compared(self, results: list[Any], cases: tuple[Case, ...]) -> list[Any]:
        """Return results, or what they do where the task asks for an effect and they have the right form."""
        compared = []
        for result, case in zip(results, cases, strict=True):
            numbers = _in_form(result, self.task.right(*case))
            real = numbers and not any(tensor.isnan().any() for tensor in numbers)
            compared.append(self.task.effect(*case, *numbers) if self.task.effect and real else result)
        return compared

    def _named(self, seen: list[Any], right: list[Any], cases: tuple[Case, ...]) -> str:
        for bug, spellings in self.task.bugs.items():
            for wrong in spellings:
                expected = self._compared([wrong(*case) for case in cases], cases)
                if not _all_same(expected, right) and _all_same(seen, expected):
                    return self.bugs[bug]
        return ""

    def _first_difference(self, results: list[Any], cases: tuple[Case, ...]) -> str:
        for result, case in zip(results, cases, strict=True):
            expected = self.task.right(*case)
            returned = _as_tuple(result)
            if len(returned) != len(expected) or not all(map(_is_real, returned)):
                kinds = ", ".join(map(_kind, returned))
                return message("check_type", expected=", ".join(self.task.returns), given=kinds)
            shapes = _shapes(case)
            for name, value, right in zip(self.task.returns, returned, expected, strict=True):
                if value.shape != right.shape:
                    shape = {"expected": tuple(right.shape), "given": tuple(value.shape)}
                    return message("check_shape", shapes=shapes, name=name, **shape)
                numbers = _numbers(value)
                if numbers is None:
                    return message("check_device", name=name, expected=right.device, given=value.device)
                if numbers.isnan().any():
                    return message("check_nan", shapes=shapes, name=name)
                off = ~torch.isclose(numbers, right.double(), atol=1e-4)
                if off.any():
                    index = tuple(off.nonzero()[0].tolist())
                    wanted, given = _told_apart(float(right[index]), float(numbers[index]))
                    numbers_told = {"expected": wanted, "given": given}
                    return message("check_value", shapes=shapes, name=name, place=list(index), **numbers_told)
        raise AssertionError("called without a difference")


def _told_apart(expected: float, given: float) -> tuple[str, str]:
    """Write two different numbers with three decimals, or with as many as it takes to tell them apart."""
    for decimals in range(3, 17):
        texts = f"{expected:.{decimals}f}", f"{given:.{decimals}f}"
        if float(texts[0]) != float(texts[1]):
            break
    return texts


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"{name} ({value.dtype})" if isinstance(value, Tensor) else name


def _as_tuple(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def _in_a_tensor(result: Any, expected: Results) -> Any:
    """Return plain numbers as a tensor where one with as many axes is expected; all else as it is."""
    results = isinstance(result, tuple) and any(isinstance(value, Tensor) for value in result)
    if len(expected) > 1 or isinstance(result, Tensor) or results:
        return result
    try:
        tensor = torch.tensor(result)
    except (TypeError, ValueError, RuntimeError):
        return result
    return tensor if tensor.ndim == expected[0].ndim else result


def _has_gap(result: Any) -> bool:
    return any(value is ... for value in _as_tuple(result))


def _is_real(value: Any) -> bool:
    return isinstance(value, Tensor) and not value.is_complex()


def _numbers(value: Tensor) -> Tensor | None:
    """Return a tensor of any device, layout and precision for comparison; None if it has no numbers."""
    try:
        dense = value.detach() if value.layout == torch.strided else value.detach().to_dense()
        return dense.to("cpu", torch.float64)
    except RuntimeError:  # on the meta device, for one
        return None


def _untouched(value: Tensor, before: Tensor) -> bool:
    return (value.device, value.dtype) == (before.device, before.dtype) and torch.equal(value, before)


def _in_form(result: Any, expected: Results) -> Results:
    """Return the numbers of a result that has the form of the expected one; none if it has another."""
    returned = _as_tuple(result)
    numbers = tuple(
        numbers
        for value, right in zip(returned, expected, strict=False)
        if _is_real(value) and value.shape == right.shape and (numbers := _numbers(value)) is not None
    )
    return numbers if len(numbers) == len(returned) == len(expected) else ()


def _same(result: Any, expected: Results) -> bool:
    numbers = _in_form(result, expected)
    return bool(numbers) and all(
        torch.allclose(value, right.double(), atol=1e-4, equal_nan=True)
        for value, right in zip(numbers, expected, strict=True)
    )


def _all_same(results: list[Any], expected: list[Results]) -> bool:
    return all(_same(result, right) for result, right in zip(results, expected, strict=True))


def _shapes(case: Case) -> str:
    return ", ".join(str(tuple(value.shape)) if hasattr(value, "shape") else str(value) for value in case)


class _OutOfTime(BaseException):
    """Raised in a function that does not end; no Exception, so that `except Exception` lets it pass."""


def _within(seconds: float, work: Callable[[], None]) -> Literal["finished", "stopped", "running"]:
    """Run `work` in a thread for so many seconds and say how it ended. What it raises is raised here.

    Jupyter's stop button, which interrupts the waiting, stops the thread as well. Work that catches even
    `BaseException` cannot be stopped.
    """
    failures: list[BaseException] = []
    finished, ended = threading.Event(), threading.Event()

    def run() -> None:
        try:
            work()
            finished.set()
        except _OutOfTime:
            pass
        except BaseException as error:
            failures.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=run, daemon=True)
    end = time.monotonic() + seconds
    try:
        thread.start()
        # in slices, because on Windows nothing interrupts a longer wait; and not by thread.join(), which
        # takes a thread for dead when it is interrupted itself (CPython 3.11)
        while not ended.wait(0.1) and time.monotonic() < end:
            pass
    finally:
        _stop(thread, ended)
    if failures:
        raise failures[0]
    return "finished" if finished.is_set() else "stopped" if ended.is_set() else "running"


def _stop(thread: threading.Thread, ended: threading.Event) -> None:
    """Raise `_OutOfTime` in a thread, at its next line of Python: on every system, inside Jupyter too."""
    for _ in range(20):  # more than once, in case a bare `except` catches it
        if ended.is_set():
            thread.join()
            return
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_OutOfTime)
        )
        ended.wait(0.1)
