"""The mask of a window around each token."""

from collections.abc import Callable
from typing import Any

import torch

from d2lmini.notebook.tasks import Task, distances


def not_boolean(local_mask: Callable[..., Any]) -> str | None:
    mask = local_mask(7, 3)
    if isinstance(mask, tuple | list) and len(mask) == 1:
        mask = mask[0]
    return None if torch.as_tensor(mask).dtype == torch.bool else "not-boolean"


TASK = Task(
    returns=("mask",),
    right=lambda n, r: (distances(n).abs() <= r // 2,),
    cases=((7, 3), (9, 5)),
    edges=((4, 1), (3, 9)),
    bugs={
        "too-wide": (
            lambda n, r: (distances(n).abs() <= r,),
            lambda n, r: (distances(n).abs() < r,),
        ),
        "too-narrow": (lambda n, r: (distances(n).abs() < r // 2,),),
        "one-sided": (
            lambda n, r: (distances(n) <= r // 2,),
            lambda n, r: (-distances(n) <= r // 2,),
        ),
        "inverted": (lambda n, r: (distances(n).abs() > r // 2,),),
        "backward": (
            lambda n, r: ((distances(n) >= 0) & (distances(n) < r),),
            lambda n, r: ((distances(n) >= 0) & (distances(n) <= r // 2),),
        ),
        # to be added to scores; zeros and ones are caught
        "not-boolean": (lambda n, r: (torch.where(distances(n).abs() <= r // 2, 0, float("-inf")),),),
    },
    caught=not_boolean,
)
