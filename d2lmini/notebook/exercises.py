"""Exercises in a notebook: questions that answer back, in the reader's language."""

from typing import Any

from d2lmini.language import current_language
from d2lmini.notebook import progress, widgets
from d2lmini.notebook.content import current_name, exercise_state, stored


def exercise(name: str) -> Any:
    """Show an exercise of the course.

    Args:
        name: ``"<chapter>/<slug>"``, e.g. ``"self-attention/why-scale"``.

    Returns:
        A widget; as the last expression of a cell it shows itself. Its `answer` is kept between sessions.

    Raises:
        ValueError: there is no such exercise; the nearest names are given.

    Example:
        >>> exercise("self-attention/why-scale")
        <exercise self-attention/why-scale>
    """
    language, name = current_language(), current_name(name)
    state, html = exercise_state(name, language), stored(name, language)
    widget = widgets.make("exercise", name, state, html, progress.answers().get(name))
    progress.follow(name, widget)
    return widget
