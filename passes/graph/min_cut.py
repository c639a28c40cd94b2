"""Minimum cut of a directed graph with whole-number capacities.

Source: Dinitz, Algorithm for solution of a problem of maximum flow in networks with power estimation, 1970.
"""

from __future__ import annotations

from collections import deque

UNBOUNDED = 1 << 62  # a capacity that no cut of finite cost pays


class FlowNetwork:
    """Nodes 0 .. count - 1 and edges between them; 0 is the source, 1 the sink."""

    def __init__(self, count: int) -> None:
        self._edges: list[list[int]] = [[] for _ in range(count)]  # node -> edge numbers; edge e ^ 1 is e backwards
        self._head: list[int] = []
        self._left: list[int] = []

    def add_node(self) -> int:
        """A further node; its number."""
        self._edges.append([])
        return len(self._edges) - 1

    def add_edge(self, tail: int, head: int, capacity: int) -> None:
        """An edge from tail to head: cutting it costs `capacity` where tail is on the source's side and head is not."""
        for node, to, left in ((tail, head, capacity), (head, tail, 0)):
            self._edges[node].append(len(self._head))
            self._head.append(to)
            self._left.append(left)

    def source_side(self) -> set[int]:
        """The nodes on the source's side of a minimum cut: of all such cuts the one with the most nodes there."""
        while (level := self._levels())[1] is not None:
            at = [0] * len(self._edges)
            while self._augment(level, at):
                pass
        return set(range(len(self._edges))) - self._reaching_sink()

    def _levels(self) -> list[int | None]:
        level: list[int | None] = [None] * len(self._edges)
        level[0], work = 0, deque([0])
        while work:
            node = work.popleft()
            for edge in self._edges[node]:
                if self._left[edge] and level[self._head[edge]] is None:
                    level[self._head[edge]] = level[node] + 1  # pyright: ignore[reportOptionalOperand]
                    work.append(self._head[edge])
        return level

    def _augment(self, level: list[int | None], at: list[int]) -> bool:
        """Push flow along one path of rising levels; `at` says up to where a node's edges are known to be dead ends."""
        path: list[int] = []
        node = 0
        while node != 1:
            if at[node] == len(self._edges[node]):
                if not path:
                    return False
                node = self._head[path.pop() ^ 1]
                at[node] += 1
                continue
            edge = self._edges[node][at[node]]
            if self._left[edge] and level[self._head[edge]] == level[node] + 1:  # pyright: ignore[reportOptionalOperand]
                path.append(edge)
                node = self._head[edge]
            else:
                at[node] += 1
        amount = min(self._left[edge] for edge in path)
        for edge in path:
            self._left[edge] -= amount
            self._left[edge ^ 1] += amount
        return True

    def _reaching_sink(self) -> set[int]:
        """The nodes from which flow could still reach the sink."""
        found, work = {1}, [1]
        while work:
            for edge in self._edges[work.pop()]:
                tail = self._head[edge]
                if self._left[edge ^ 1] and tail not in found:
                    found.add(tail)
                    work.append(tail)
        return found
