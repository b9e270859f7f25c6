"""What turns the chapters into the website, and keeps them right."""
