"""Which browser the tests and the benchmark use, and how it starts. Old Pythons can read this file."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

BROWSERS = ("chromium", "firefox", "webkit")
# quiet: no updates, no sync, no traffic that the pages did not ask for
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--font-render-hinting=none",  # as on screens of today: the headless shell would round widths to pixels
]


def browser_name() -> str:
    """Return the browser that the variable D2LMINI_BROWSER names, else chromium.

    Raises:
        ValueError: Playwright has no such browser.
    """
    name = os.environ.get("D2LMINI_BROWSER") or "chromium"
    if name not in BROWSERS:
        raise ValueError(f"D2LMINI_BROWSER: got {name!r}; choose one of {', '.join(BROWSERS)}")
    return name


def find_browser() -> str | None:
    """Return an installed Chrome or Chromium; None: Playwright's own browser is to be used."""
    if browser_name() != "chromium":  # Playwright drives its own builds of the others
        return None
    # the shell first: without windows to draw, a new context costs a fraction of Chromium's
    shell = ("chromium-headless-shell", "chrome-headless-shell")
    names = (*shell, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    places = [Path(path) for path in map(shutil.which, names) if path]
    places += [Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")]
    for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
        places.append(Path(os.environ.get(variable, "/nowhere")) / "Google/Chrome/Application/chrome.exe")
    return next((str(place) for place in places if place.exists()), None)


def launch(playwright: Playwright, **options: Any) -> Browser:
    """Start the browser, with Playwright's further options."""
    if browser_name() == "chromium":
        options |= {"executable_path": find_browser(), "args": FLAGS}
    return getattr(playwright, browser_name()).launch(**options)
