"""Serve the finished site on this machine: `python -m book.serve`."""

import argparse
import errno
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SITE = Path(__file__).parents[1] / "_build" / "site"


class Handler(SimpleHTTPRequestHandler):
    """Files with the types that module scripts need, and our own page for what is not there."""

    # said outright: Windows takes them from its registry, where .js may be text/plain
    extensions_map = {  # noqa: RUF012  as in the standard library's class
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".css": "text/css",
        ".html": "text/html; charset=utf-8",
        ".svg": "image/svg+xml",
        ".woff2": "font/woff2",
        ".wasm": "application/wasm",
        ".json": "application/json",
        ".ipynb": "application/x-ipynb+json",
    }

    def end_headers(self) -> None:
        self.send_header(
            "Cache-Control", "no-cache"
        )  # a rebuilt page is seen at once; unchanged files cost a 304
        super().end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        page = Path(self.directory) / "404.html"
        if code != 404 or not page.exists():
            super().send_error(code, message, explain)
            return
        body = page.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal is for the address."""


def server(site: Path, port: int, host: str = "127.0.0.1") -> ThreadingHTTPServer:
    """A server for `site`, bound and not yet running; port 0 takes any free one."""
    return ThreadingHTTPServer((host, port), partial(Handler, directory=str(site)))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m book.serve", description="Serve the finished site.")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--site", type=Path, default=SITE)
    options = parser.parse_args(arguments)
    if not (options.site / "index.html").exists():
        print(f"serve: no site in {options.site}; build it with: python -m book.build", file=sys.stderr)
        return 1
    try:
        running = server(options.site, options.port)
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        print(
            f"serve: port {options.port} is taken by another program; "
            f"choose another one: --port {options.port + 1}",
            file=sys.stderr,
        )
        return 1
    print(f"The course is at http://127.0.0.1:{running.server_port}/ (Ctrl-C ends it)", flush=True)
    try:
        running.serve_forever()
    except KeyboardInterrupt:
        print()
    finally:
        running.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
