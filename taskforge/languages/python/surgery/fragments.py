"""Rewrites one statement or one header with libcst: names of imports, elements, arguments and bases go."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from typing import TypeVar, cast

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from taskforge.languages.python.surgery.elements import (
    without_aliases,
    without_arguments,
    without_bases,
    without_elements,
    without_slices,
)
from taskforge.languages.python.surgery.source import EditError

Point = tuple[int, int]
Extent = tuple[Point, Point]
"""Start and end as (line, column in characters), relative to the fragment."""
Display = cst.List | cst.Tuple | cst.Set | cst.Dict
ITEMS = (cst.BaseElement, cst.BaseDictElement, cst.Arg, cst.SubscriptElement, cst.ImportAlias, cst.Decorator)
Node = TypeVar("Node", bound=cst.CSTNode)


def rewritten(code: str, extents: Sequence[Extent], dropped: Sequence[int] = ()) -> str:
    """The code without the listed items at these extents, and without its small statements with these
    indices. Raises EditError when an extent is not that of an item, or its list cannot do without it.
    """
    parsed = _parsed(code)
    gone = {parsed.item(extent) for extent in extents}
    if dropped:
        line = cast(cst.SimpleStatementLine, parsed.module.body[0])
        gone.update(line.body[index] for index in dropped)
    way: set[cst.CSTNode] = set()
    _mark(parsed.module, gone, way)
    return parsed.module.visit(_Cut(gone, way)).code


@dataclass(frozen=True)
class _Parsed:
    module: cst.Module
    items: dict[cst.CSTNode, tuple[Extent, Extent]]
    """Each item with its extent and that of the part that stands for it."""

    def item(self, extent: Extent) -> cst.CSTNode:
        start, end = extent
        fitting = [
            (outer, node)
            for node, (outer, inner) in self.items.items()
            if outer[0] <= start <= inner[0] and inner[1] <= end <= outer[1]
        ]
        if not fitting:
            raise EditError("no element of a list is there")
        return min(fitting, key=lambda pair: (pair[0][1][0] - pair[0][0][0], pair[0][1][1] - pair[0][0][1]))[
            1
        ]


@lru_cache(maxsize=512)
def _parsed(code: str) -> _Parsed:
    try:
        wrapper = MetadataWrapper(cst.parse_module(code), unsafe_skip_copy=True)
    except cst.ParserSyntaxError as error:
        raise EditError(f"a statement does not parse: {error.message}") from error
    positions = cast("dict[cst.CSTNode, CodeRange]", wrapper.resolve(PositionProvider))
    items: dict[cst.CSTNode, tuple[Extent, Extent]] = {
        node: (_extent(place), _extent(positions.get(_standing_for(node), place)))
        for node, place in positions.items()
        if isinstance(node, ITEMS)
    }
    return _Parsed(wrapper.module, items)


def _extent(place: CodeRange) -> Extent:
    return (place.start.line, place.start.column), (place.end.line, place.end.column)


def _standing_for(node: cst.CSTNode) -> cst.CSTNode:
    """The expression whose place an edit names: the key of a pair, the value of an element."""
    if isinstance(node, cst.DictElement):
        return node.key
    if isinstance(node, cst.SubscriptElement):
        return node.slice
    if isinstance(node, cst.ImportAlias):
        return node
    if isinstance(node, cst.Decorator):
        return node.decorator
    return cast(cst.CSTNode, getattr(node, "value", node))


def _mark(node: cst.CSTNode, gone: set[cst.CSTNode], way: set[cst.CSTNode]) -> bool:
    """Note the nodes on the way to those that go."""
    found = node in gone
    if not found:
        for child in node.children:
            found = _mark(child, gone, way) or found
    if found:
        way.add(node)
    return found


class _Cut(cst.CSTTransformer):
    def __init__(self, gone: set[cst.CSTNode], way: set[cst.CSTNode]) -> None:
        super().__init__()
        self.gone = gone
        self.way = way

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Go down only where something goes."""
        return node in self.way and node not in self.gone

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode:
        """Take the listed children of a node away."""
        original, updated = original_node, updated_node
        if original not in self.way:
            return updated
        if isinstance(original, cst.SimpleStatementLine):
            return self._line(original, cast(cst.SimpleStatementLine, updated))
        if isinstance(original, cst.Import | cst.ImportFrom):
            if isinstance(original.names, cst.ImportStar):
                return updated
            gone = self._gone(original.names)
            return (
                without_aliases(cast("cst.Import | cst.ImportFrom", updated), gone) if any(gone) else updated
            )
        if isinstance(original, cst.List | cst.Tuple | cst.Set | cst.Dict):
            gone = self._gone(original.elements)
            return without_elements(cast(Display, updated), gone) if any(gone) else updated
        if isinstance(original, cst.Call):
            gone = self._gone(original.args)
            return without_arguments(cast(cst.Call, updated), gone) if any(gone) else updated
        if isinstance(original, cst.FunctionDef | cst.ClassDef):
            staying = [not leaves for leaves in self._gone(original.decorators)]
            definition = cast("cst.FunctionDef | cst.ClassDef", updated)
            updated = definition.with_changes(decorators=list(compress(definition.decorators, staying)))
        if isinstance(original, cst.ClassDef):
            gone = self._gone([*original.bases, *original.keywords])
            return without_bases(cast(cst.ClassDef, updated), gone) if any(gone) else updated
        if isinstance(original, cst.Subscript):
            gone = self._gone(original.slice)
            return without_slices(cast(cst.Subscript, updated), gone) if any(gone) else updated
        return updated

    def _gone(self, children: Sequence[cst.CSTNode]) -> list[bool]:
        return [child in self.gone for child in children]

    def _line(self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine) -> cst.CSTNode:
        gone = self._gone(original.body)
        kept = [small for small, leaves in zip(updated.body, gone, strict=True) if not leaves]
        if len(kept) < len(gone) and kept and gone[-1]:
            kept[-1] = kept[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
        return updated.with_changes(body=kept)
