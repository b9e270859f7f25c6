"""What docutils has no function for."""

from collections.abc import Iterator

from docutils import nodes

# where no word becomes a link
NOT_PROSE = (nodes.title, nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)


def ancestors(node: nodes.Node) -> Iterator[nodes.Node]:
    """Return a node and those around it, the innermost first."""
    while node is not None:
        yield node
        node = node.parent


def is_within(node: nodes.Node, *kinds: type[nodes.Node]) -> bool:
    """Say whether a node is, or lies in, one of these kinds."""
    return any(isinstance(around, kinds) for around in ancestors(node))


def replace_parts(texts: list[nodes.Text], parts: list[tuple[int, int, nodes.Node]]) -> None:
    """Put nodes in the places of parts of a text: each with its start and its end in these siblings."""
    parent, whole = texts[0].parent, "".join(texts)
    pieces: list[nodes.Node] = []
    done = 0
    for start, end, node in parts:
        pieces += [nodes.Text(whole[done:start]), node]
        done = end
    place = parent.index(texts[0])
    parent[place : place + len(texts)] = [*pieces, nodes.Text(whole[done:])]
