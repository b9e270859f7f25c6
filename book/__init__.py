"""The website: what turns the chapters into pages, and serves them."""
