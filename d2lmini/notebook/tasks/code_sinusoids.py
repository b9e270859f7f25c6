"""The table of sinusoidal positions."""

from collections.abc import Callable

import torch
from torch import Tensor

from d2lmini.notebook.tasks import Results, Task


def position_table(
    first: int = 0, exponents: Callable[[Tensor], Tensor] = lambda column: column - column % 2
) -> Callable[..., Results]:
    """Sinusoids from position `first` on; `exponents` turns the number of a column into its 2j."""

    def sinusoids(n: int, d: int) -> Results:
        column = torch.arange(d)
        angle = torch.arange(first, first + n).unsqueeze(1) * 10000 ** (-exponents(column) / d)  # (n, d)
        return (torch.where(column % 2 == 0, angle.sin(), angle.cos()),)

    return sinusoids


def sines_and_cosines_swapped(n: int, d: int) -> Results:
    table = position_table()(n, d + d % 2)[0].unflatten(1, (-1, 2))
    return (table.flip(-1).flatten(1)[:, :d],)


def sines_before_cosines(n: int, d: int) -> Results:
    table = position_table()(n, d)[0]
    return (torch.cat([table[:, 0::2], table[:, 1::2]], dim=1),)


TASK = Task(
    returns=("table",),
    right=position_table(),
    cases=((5, 4), (7, 6), (30, 8)),
    edges=((5, 5), (3, 1), (1, 2)),
    bugs={
        "swapped": (sines_and_cosines_swapped,),
        "halves": (sines_before_cosines,),
        "own-speeds": (position_table(exponents=lambda column: column),),
        "exponent-halved": (position_table(exponents=lambda column: column // 2),),
        "from-one": (position_table(first=1),),
        "transposed": (lambda n, d: (position_table()(n, d)[0].T,),),
    },
)
