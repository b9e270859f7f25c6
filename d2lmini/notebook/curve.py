"""The loss while a model trains, as a curve that grows below the cell."""

from d2lmini.notebook.plotting import Animator


class TrainingCurve:
    """Called after each epoch with its number and its loss; draws some 50 points, the first and last of all.

    Args:
        num_epochs: how many epochs there will be.
    """

    def __init__(self, num_epochs: int) -> None:
        self.num_epochs = num_epochs
        self.animator = Animator("epoch", "loss", xlim=[1, max(2, num_epochs)], figsize=(4.5, 2.5))

    def __call__(self, epoch: int, loss: float) -> None:
        if epoch % max(1, self.num_epochs // 50) == 0 or epoch in (1, self.num_epochs):
            self.animator.add(epoch, loss)
