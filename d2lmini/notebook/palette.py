"""The colors of the course, from their one file: `assets/palette.toml`."""

import tomllib
from importlib.resources import files

_FILE = files("d2lmini") / "assets" / "palette.toml"
COLORS: dict[str, list[str]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))  # name -> [light, dark]


def css(dark: bool) -> str:
    """Return the colors of a theme as CSS declarations, `--d2l-query: #0067a5; …`.

    Example:
        >>> css(dark=False).split(";")[0]
        '--d2l-bg: #ffffff'
    """
    return "; ".join(f"--d2l-{name}: {pair[dark]}" for name, pair in COLORS.items())
