"""Serve the finished site on this machine: `python -m book.serve`."""

import argparse
import errno
import re
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import MimeTypes
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from book import terminal

SITE = Path(__file__).parents[1] / "_build" / "site"
# what an address may be made of: no backslash, drive or NUL, whatever a system would make of them
PLAIN = re.compile(r"(/(?!\.\.?(/|$))[\w.-]+)*/?")
# the names of this machine; a foreign one that leads here (DNS rebinding) would let its pages read ours
NAMES = ("127.0.0.1", "localhost", "[::1]")
HEADERS = {
    "Cache-Control": "no-cache",  # a rebuilt page is seen at once; unchanged files cost a 304
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # which a page cannot say in itself; the presenter's window frames its own site
    "Content-Security-Policy": "frame-ancestors 'self'",
}


class Handler(SimpleHTTPRequestHandler):
    """Files with the types that module scripts need, and our own page for what is not there.

    Give out files of the site alone, and only to requests that name this machine as it names itself.
    """

    # Python's own, not the system's: in the registry of Windows .js may be text/plain
    extensions_map = {  # noqa: RUF012  as in the standard library's class
        **MimeTypes().types_map[True],
        ".js": "text/javascript",
        ".html": "text/html; charset=utf-8",
        ".woff2": "font/woff2",
        ".ipynb": "application/x-ipynb+json",
    }

    def send_head(self) -> Any:
        if not self._names_this_machine():
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "This server answers to its own address only")
            return None
        if not self._leads_into_the_site():
            self.send_error(404)
            return None
        return super().send_head()

    def _names_this_machine(self) -> bool:
        port = self.connection.getsockname()[1]
        names = {*NAMES, self.connection.getsockname()[0]}
        own_names = {f"{name}:{port}" for name in names} | (names if port == 80 else set())
        asked = self.headers.get_all("Host") or []
        return len(asked) == 1 and asked[0].strip().lower() in own_names

    def _leads_into_the_site(self) -> bool:
        path = unquote(self.path.partition("?")[0])
        if not path.startswith("/") or not PLAIN.fullmatch(path):
            return False
        path_on_disk = Path(self.translate_path(self.path)).resolve()  # where a link leads, too
        return path_on_disk.is_relative_to(Path(self.directory).resolve())

    def end_headers(self) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        page = Path(self.directory) / "404.html"
        if code == 404 and page.exists():
            self.error_message_format = page.read_text(encoding="utf-8").replace("%", "%%")
        super().send_error(code, message, explain)

    def handle(self) -> None:
        """Answer until the browser has enough: it may leave in the midst of an answer."""
        with suppress(ConnectionError):
            super().handle()

    def list_directory(self, path: object) -> None:
        """Show no folder: what has no page is not there."""
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal is for the address."""


class Server(ThreadingHTTPServer):
    """A server that takes no port from another one, and lets a class of readers come at once."""

    request_queue_size = 256
    allow_reuse_address = sys.platform != "win32"  # there it lets two servers share a port


def server(
    site: Path, port: int, host: str = "127.0.0.1", handler: type[Handler] = Handler
) -> ThreadingHTTPServer:
    """Return a server for `site`, bound and not yet running; port 0 takes any free one."""
    return Server((host, port), partial(handler, directory=str(site)))


@contextmanager
def serving(site: Path, handler: type[Handler] = Handler) -> Iterator[str]:
    """Serve a site on a free port while the block runs; yield its address."""
    with server(site, 0, handler=handler) as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{running.server_port}"
        finally:
            running.shutdown()


def own_address() -> str:
    """Return the address under which this machine's network knows it; nothing is sent to find out.

    Raises:
        OSError: it is in no network.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect(("192.0.2.1", 9))  # an address that nobody has
        return str(asked.getsockname()[0])


def port_number(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is no port; it is a number from 0 (any free one) to 65535")
    return int(text)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="course.py serve", description="Serve the finished site.")
    parser.add_argument("--port", type=port_number, default=8000, help="8000 by default; 0: any free one")
    about = "let others in this network read, too: at this address of this machine, or at the one it finds"
    parser.add_argument("--host", nargs="?", const="", metavar="ADDRESS", help=about)
    parser.add_argument("--site", type=Path, default=SITE)
    parser.add_argument("--build", action="store_true", help="build what has changed first")
    return parser.parse_args(arguments)


def _bound(options: argparse.Namespace) -> ThreadingHTTPServer | None:
    """The server of these options; None, after saying why, where the port cannot be had."""
    try:
        host = "127.0.0.1" if options.host is None else options.host or own_address()
        return server(options.site, options.port, host)
    except OSError as error:
        reasons = {errno.EADDRINUSE: "port_taken", errno.EACCES: "port_forbidden"}
        other = "no_network" if options.host is not None else None
        if not (reason := reasons.get(error.errno or 0, other)):
            raise
        print(terminal.say(f"serve.{reason}", port=options.port, host=options.host), file=sys.stderr)
        return None


def check(arguments: list[str]) -> int:
    """Say what `main` would find wrong in these arguments before it builds; return the exit code.

    Raises:
        SystemExit: argparse refused an argument.
    """
    if running := _bound(_options(arguments)):
        running.server_close()
    return 0 if running else 1


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    # the port first: who has to choose another one should not wait for the site before
    if not (running := _bound(options)):
        return 1
    try:
        if options.build:
            from book import build

            if code := build.main([]):
                return code
        if not (options.site / "index.html").exists():
            print(terminal.say("serve.no_site", path=options.site), file=sys.stderr)
            return 1
        address = f"http://{running.socket.getsockname()[0]}:{running.server_port}/"
        if options.host is not None:
            import segno  # only for a class

            segno.make(address).terminal(compact=True)  # dark on light in every theme
            print()
        whose = "here" if options.host is None else "class"
        print(terminal.say(f"serve.{whose}", address=address), flush=True)
        running.serve_forever()
    except KeyboardInterrupt:
        print()
    finally:
        running.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
