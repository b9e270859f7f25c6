"""From the YAML of an exercise to what a widget shows."""
