"""A JavaScript engine inside this process: for KaTeX, and for what the pages draw themselves in a browser."""

from collections.abc import Callable


def function(program: str, name: str) -> Callable[..., str]:
    """Run a program and return one of its functions, which takes simple values and returns a text."""
    try:
        import quickjs
    except ImportError:  # an Intel Mac, for which quickjs-ng has no wheel
        from py_mini_racer import MiniRacer

        racer = MiniRacer()
        racer.eval(program)
        return lambda *arguments: str(racer.call(name, *arguments))
    context = quickjs.Context()
    context.eval(program)
    return context.get(name)
