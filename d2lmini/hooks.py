"""Places that a higher room of the package fills, so that the models need not import it."""

from collections.abc import Callable

# Given the number of epochs, return what is called after each epoch with its number (from 1) and its loss;
# or None, and `train_seq2seq` shows what it shows in a terminal.
training_progress: Callable[[int], Callable[[int, float], None] | None] | None = None
