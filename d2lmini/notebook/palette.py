"""The colors of the course, from their one file: `assets/palette.toml`."""

import tomllib
from importlib.resources import files

COLORS: dict[str, tuple[str, str]] = {  # name -> (light, dark)
    name: (light, dark)
    for name, (light, dark) in tomllib.loads(
        (files("d2lmini") / "assets" / "palette.toml").read_text(encoding="utf-8")
    ).items()
}


def css(dark: bool) -> str:
    """Return the colors of a theme as CSS declarations, `--d2l-query: #0067a5; …`.

    Example:
        >>> css(dark=False).split(";")[0]
        '--d2l-bg: #ffffff'
    """
    return "; ".join(f"--d2l-{name}: {pair[dark]}" for name, pair in COLORS.items())
