"""What a cell of a notebook shows: plots, figures, exercises, explorers. The models know nothing of it."""
