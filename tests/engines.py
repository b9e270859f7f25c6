"""Firefox and WebKitGTK as the distribution has them: one small driver, as Playwright has builds of its own.

Firefox speaks WebDriver BiDi over a socket, WebKit's MiniBrowser WebDriver over HTTP, on a screen of Xvfb's.
"""

import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import websocket

DESK = (1280, 900)
MINI_BROWSER = Path("/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser")
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "ArrowRight": "\ue014", "PageDown": "\ue00f", "Tab": "\ue004"}
# in the page: the last element that a selector finds and a reader can see, in the middle of the window
FIND = """(selector) => {
  const seen = [...document.querySelectorAll(selector)].filter((node) => node.checkVisibility());
  const node = seen[0];
  if (!node) return null;
  node.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const { left, top, width, height } = node.getBoundingClientRect();
  return { x: Math.round(left + width / 2), y: Math.round(top + height / 2) };
}"""


class Engine:
    """A browser with one window; subclasses say how it is told."""

    name = ""
    programs: tuple[str, ...] = ()  # what has to be installed
    phone = (390, 844)

    @classmethod
    def missing(cls) -> list[str]:
        """Return which of its programs this machine lacks."""
        return [program for program in cls.programs if not (shutil.which(program) or Path(program).exists())]

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[str]] = []
        self.complaints: list[str] = []  # errors that pages wrote to the console

    def start(self, *command: str | Path, **environment: str) -> subprocess.Popen[str]:
        """Start a program in a group of its own, which `close` ends."""
        log = (self.folder / f"{Path(command[0]).name}.log").open("w", encoding="utf-8")
        known = {**os.environ, "HOME": str(self.folder), **environment}
        process = subprocess.Popen(
            list(map(str, command)), stdout=log, stderr=log, text=True, env=known, start_new_session=True
        )
        self.processes.append(process)
        return process

    def close(self) -> None:
        """End what was started, and what that started."""
        for process in reversed(self.processes):
            try:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(10)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                process.kill()

    def open(self, address: str) -> None:
        """Go to a page and wait until its scripts have run."""
        raise NotImplementedError

    def resize(self, width: int, height: int) -> None:
        """Give the page this much room."""
        raise NotImplementedError

    def run(self, function: str, *arguments: Any) -> Any:
        """Call a function of JavaScript in the page, async or not; return its value by way of JSON."""
        raise NotImplementedError

    def act(self, sources: list[dict[str, Any]]) -> None:
        """Let fingers and keys act as WebDriver describes them."""
        raise NotImplementedError

    def click(self, selector: str) -> None:
        """Press what a selector finds first that can be seen, in its middle, once it rests there."""
        place = None
        while (found := self.until(FIND, selector)) != place:
            place = found
            time.sleep(0.1)
        moves = [{"type": "pointerMove", "duration": 0, "origin": "viewport", **place}]
        moves += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.act([{"type": "pointer", "id": "mouse", "actions": moves}])

    def press(self, *keys: str) -> None:
        """Press keys one after the other: names of `KEYS`, or text."""
        letters = itertools.chain.from_iterable([KEYS[key]] if key in KEYS else key for key in keys)
        actions = [{"type": kind, "value": letter} for letter in letters for kind in ("keyDown", "keyUp")]
        self.act([{"type": "key", "id": "keyboard", "actions": actions}])

    def until(self, function: str, *arguments: Any, seconds: float = 20) -> Any:
        """Return what a function of the page gives as soon as that is something true."""
        late = time.monotonic() + seconds
        while True:
            value = self.run(function, *arguments)
            if value:
                return value
            if time.monotonic() > late:
                raise AssertionError(
                    f"{self.name}: after {seconds} s still {value!r}: {function} {arguments}"
                )
            time.sleep(0.1)


class Firefox(Engine):
    """Firefox, told over WebDriver BiDi."""

    name = "firefox-esr"
    programs = ("firefox-esr",)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.numbers = itertools.count(1)
        self.start(
            "firefox-esr", "--headless", "--remote-debugging-port=0", "--profile", folder, MOZ_HEADLESS="1"
        )
        port = folder / "WebDriverBiDiServer.json"
        wait_for(lambda: port.exists() and port.stat().st_size, "Firefox does not listen")
        server = json.loads(port.read_text(encoding="utf-8"))
        address = f"ws://{server['ws_host']}:{server['ws_port']}/session"
        self.socket = websocket.create_connection(address, timeout=60, suppress_origin=True)
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self.page = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **parameters: Any) -> Any:
        """Send a command; return its result. What the console says meanwhile is kept."""
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            said = json.loads(self.socket.recv())
            if said.get("method") == "log.entryAdded" and said["params"]["level"] == "error":
                self.complaints.append(said["params"]["text"])
            if said.get("id") == number:
                if said["type"] == "error":
                    raise AssertionError(f"{method}: {said['error']}: {said['message']}")
                return said["result"]

    def open(self, address: str) -> None:
        self.ask("browsingContext.navigate", context=self.page, url=address, wait="complete")

    def resize(self, width: int, height: int) -> None:
        self.ask(
            "browsingContext.setViewport", context=self.page, viewport={"width": width, "height": height}
        )

    def run(self, function: str, *arguments: Any) -> Any:
        code = f"(async () => JSON.stringify(await ({function})(...{json.dumps(arguments)})))()"
        how = {"target": {"context": self.page}, "awaitPromise": True, "userActivation": True}
        said = self.ask("script.evaluate", expression=code, **how)
        if said["type"] == "exception":
            raise AssertionError(f"{function}: {said['exceptionDetails']['text']}")
        return json.loads(said["result"].get("value", "null"))

    def act(self, sources: list[dict[str, Any]]) -> None:
        self.ask("input.performActions", context=self.page, actions=sources)


class WebKit(Engine):
    """WebKitGTK's MiniBrowser, told over WebDriver, which hands over no console."""

    name = "webkit2gtk-driver"
    programs = ("WebKitWebDriver", "Xvfb", str(MINI_BROWSER))
    phone = (450, 844)  # its toolbar needs as much

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        screen = self.start("Xvfb", "-displayfd", "1", "-screen", "0", "1600x1200x24", "-nolisten", "tcp")
        shown = folder / "Xvfb.log"
        wait_for(lambda: screen.poll() is None and shown.read_text().strip(), "Xvfb shows no screen")
        display = next(line for line in shown.read_text().split() if line.isdigit())
        plain = {"DISPLAY": f":{display}", "WEBKIT_DISABLE_COMPOSITING_MODE": "1", "GDK_BACKEND": "x11"}
        port = free_port()
        self.server = f"http://127.0.0.1:{port}"
        self.start("WebKitWebDriver", f"--port={port}", **plain)
        wait_for(self.is_there, "WebKitWebDriver does not answer")
        options = {"binary": str(MINI_BROWSER), "args": ["--automation"]}
        wanted = {"alwaysMatch": {"webkitgtk:browserOptions": options, "timeouts": {"script": 60000}}}
        session = self.ask("POST", "/session", capabilities=wanted)
        self.server += f"/session/{session['sessionId']}"

    def is_there(self) -> bool:
        try:
            return bool(self.ask("GET", "/status")["ready"])
        except urllib.error.URLError:
            return False

    def ask(self, method: str, path: str, **parameters: Any) -> Any:
        """Send a command; return its value."""
        body = json.dumps(parameters).encode() if method == "POST" else None
        request = urllib.request.Request(
            self.server + path, body, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {json.load(error)['value']['message']}") from None

    def open(self, address: str) -> None:
        self.ask("POST", "/url", url=address)

    def resize(self, width: int, height: int) -> None:
        inside = self.run("() => [innerWidth, innerHeight]")
        window = self.ask("GET", "/window/rect")
        wide, high = width + window["width"] - inside[0], height + window["height"] - inside[1]
        self.ask("POST", "/window/rect", width=wide, height=high)
        self.until("(width) => innerWidth === width", width)

    def run(self, function: str, *arguments: Any) -> Any:
        code = (
            "const done = arguments[arguments.length - 1];"
            f"(async () => JSON.stringify(await ({function})(...{json.dumps(arguments)})) ?? 'null')()"
            ".then((value) => done({ value }), (error) => done({ error: String(error) }));"
        )
        said = self.ask("POST", "/execute/async", script=code, args=[])
        if "error" in said:
            raise AssertionError(f"{function}: {said['error']}")
        return json.loads(said["value"])

    def act(self, sources: list[dict[str, Any]]) -> None:
        self.ask("POST", "/actions", actions=sources)


def free_port() -> int:
    """Return a port that nobody listens at."""
    import socket

    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def wait_for(there: Any, otherwise: str) -> None:
    """Wait half a minute at most until something is there."""
    late = time.monotonic() + 30
    while not there():
        if time.monotonic() > late:
            raise AssertionError(otherwise)
        time.sleep(0.05)


@contextmanager
def running(kind: type[Engine]) -> Iterator[Engine]:
    """A browser of a kind with an empty profile."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        engine = kind.__new__(kind)
        try:
            engine.__init__(Path(folder))  # type: ignore[misc]
            yield engine
        finally:
            engine.close()


ENGINES: tuple[type[Engine], ...] = (Firefox, WebKit)
