"""The mask of a window around each token."""

from d2lmini.notebook.tasks import Task, distances

TASK = Task(
    returns=("mask",),
    right=lambda n, r: (distances(n).abs() <= r // 2,),
    cases=((7, 3), (9, 5)),
    edges=((4, 1), (3, 9)),
    bugs={
        "too-wide": (lambda n, r: (distances(n).abs() <= r,),),
        "too-narrow": (lambda n, r: (distances(n).abs() < r // 2,),),
        "one-sided": (lambda n, r: (distances(n) <= r // 2,),),
        "inverted": (lambda n, r: (distances(n).abs() > r // 2,),),
        "backward": (lambda n, r: ((distances(n) >= 0) & (distances(n) < r),),),
    },
)
