"""Moves of two robots when only counters are kept, the nodes they lead to, and an admissible heuristic.

Robots decide in the order of time; whatever the other one has begun is there when it ends.
"""

from __future__ import annotations

from cellwright.planning.counter_node import CounterMove, CounterNode, MoveKind
from cellwright.planning.counter_problem import CounterProblem

__all__ = ["CounterRules"]

_SAME = -5
_CHANGES, _DROPS = -10, -1000  # minus a tool's number: what a robot is doing that puts it down


class CounterRules:
    """The successor function and the admissible heuristic of the search over counters."""

    def __init__(self, problem: CounterProblem) -> None:
        self.c = problem
        d = problem.durations
        self.d = d
        self.width = len(problem.classes)
        self.tool_of = [tool for tool, _ in problem.classes]
        self.of_tool = [
            [[j for j, (x, robots) in enumerate(problem.classes) if x == tool and robot in robots] for robot in (0, 1)]
            for tool in range(len(problem.names))
        ]
        self.ahead_s = d.part_s - d.held_part_s
        self.clears = problem.kits + problem.on_tables
        self.total = problem.room[-1]
        fetched_s = d.remove_part_s + min(d.return_part_s, d.held_part_s - d.part_s)
        self.wrong_s = [fetched_s if reusable else d.remove_part_s + d.return_part_s for reusable in problem.reusable]
        all_robots = frozenset((0, 1))
        rights = (problem.lays, problem.clears, *(robots for _, robots in problem.classes))
        self.symmetric = problem.able[0] == problem.able[1] and problem.hands == (None, None)
        self.symmetric = self.symmetric and all(robots == all_robots for robots in rights)
        # Where others take kits away than lay trays, the tool for trays goes from robot to robot.
        self.between_s = d.place_kit_s + (0.0 if problem.lays & problem.clears else d.change_s)

    def start(self) -> CounterNode:
        """Returns the root node, in which nothing is done yet."""
        c = self.c
        nothing = (0,) * self.width
        return CounterNode(
            0.0, 0.0, c.tools[0], c.hands[0], c.tools[1], c.hands[1], None, 0, 0, nothing, nothing, c.wrong, 0, False
        )

    def done(self, node: CounterNode) -> bool:
        """Returns whether everything is placed, taken out and taken away."""
        if node.cleared < self.clears or node.placed != self.total or node.stayed != self.c.staying or any(node.wrong):
            return False
        hands = {node.robot: node.hand, 1 - node.robot: node.other_hand}
        return not any(hands[r] == "kit" and self.c.wanted[r] for r in (0, 1))

    def estimate_s(self, node: CounterNode) -> float:
        """Returns a time before which not everything can be done: an admissible heuristic."""
        c, d = self.c, self.d
        now_s, other_s, tool, other = node.now_s, node.other_s, node.tool, node.other_tool
        to_lay = c.kits - node.laid
        work_s = [0.0] * len(c.names)
        work_s[0] = to_lay * d.lay_s + (self.clears - node.cleared) * d.clear_s
        for j, x in enumerate(self.tool_of):
            parts = self.total[j] - node.placed[j] + c.staying[j] - node.stayed[j]
            if parts or node.wrong[j]:
                work_s[x] += parts * d.part_s + node.wrong[j] * self.wrong_s[j]
        held_kit = False
        if node.hand is not None or node.other_hand is not None:
            for hand in (node.hand, node.other_hand):
                held_kit = held_kit or hand == "kit"
                if hand == "tray" and to_lay:
                    work_s[0] -= d.take_tray_s
                elif isinstance(hand, int) and hand >= 0:
                    work_s[self.tool_of[hand]] -= self.ahead_s
            work_s = [max(seconds, 0.0) for seconds in work_s]
        sum_s = sum(work_s)
        if sum_s <= 0.0:
            return max(now_s, other_s)
        changes = sum(1 for x, seconds in enumerate(work_s) if seconds > 0 and x != tool and x != other)
        if c.several and to_lay:
            changes = max(changes, -(-to_lay // c.tables))
        bare = (tool is None) + (other is None)
        change_s = d.attach_s * changes + d.detach_s * max(changes - bare, 0)
        tail_s = d.clear_s if self.clears > node.cleared and node.stayed == c.staying and not held_kit else 0.0
        latest_s = max((now_s + other_s + sum_s + change_s + tail_s) / 2, now_s, other_s)
        if to_lay:
            between_s = self.between_s if c.tables == 1 else 0.0  # the tray tool is away with the kit before
            table_s = now_s + c.occupied_s[to_lay] / c.tables + (to_lay - 1) * between_s + d.place_kit_s
            latest_s = max(latest_s, table_s)
        fetch_s = now_s + d.attach_s + (0.0 if bare else d.detach_s)
        for x, seconds in enumerate(work_s):
            if seconds > 0:
                ready_s = now_s if x == tool else other_s if x == other else fetch_s
                latest_s = max(latest_s, ready_s + seconds + (tail_s if x else 0.0))
        return latest_s

    def moves(self, node: CounterNode) -> list[tuple[CounterMove, CounterNode]]:
        """Returns the moves of the robot that is free first, and the nodes they lead to."""
        if node.hand is not None:
            result = self._empty_hand(node)
            return result if node.waited else [*result, self._wait(node)]
        tool, robot = node.tool, node.robot
        able = self.c.able[robot]
        result = self._work(node, tool) if tool is not None and tool >= 0 else []
        filling = bool(tool) and tool in able and any(self._open_now(node, j) for j in self.of_tool[tool or 0][robot])
        d = self.d
        for x in able:
            if x not in (tool, node.other_tool) and self._left(node, x, robot):
                start_s = node.now_s + (0.0 if tool is None else d.detach_s)
                if node.doing == _CHANGES - x:
                    start_s = max(start_s, node.other_s - d.attach_s)
                elif node.doing == _DROPS - x:
                    start_s = max(start_s, node.other_s)
                put_down = None if tool is None or tool < 0 else _CHANGES - tool
                result.append(
                    self._next(node, CounterMove(robot, MoveKind.CHANGE, x), start_s + d.attach_s, put_down, tool=x)
                )
        if tool is not None and tool >= 0 and tool in self.c.able[1 - robot] and self._left(node, tool, 1 - robot):
            end_s = node.now_s + d.detach_s
            result.append(self._next(node, CounterMove(robot, MoveKind.DROP), end_s, _DROPS - tool, tool=None))
        if not filling and not node.waited:
            result.append(self._wait(node))
        return result

    def _left(self, node: CounterNode, tool: int, robot: int) -> bool:
        """Returns whether anything is left that a robot could do with a tool."""
        c = self.c
        if tool == 0 and node.laid < c.kits and robot in c.lays:
            return True
        if tool == 0 and node.cleared < self.clears and robot in c.clears:
            return True
        for j in self.of_tool[tool][robot]:
            if node.placed[j] < self.total[j] or node.stayed[j] < c.staying[j] or node.wrong[j]:
                return True
        return False

    def _sure(self, node: CounterNode) -> int:
        """Returns the number of trays that are laid now; one that the other robot is laying comes later."""
        return node.laid - (node.doing == "lay" and node.other_s > node.now_s)

    def _open_now(self, node: CounterNode, kind: int) -> bool:
        return node.placed[kind] < self.c.room[self._sure(node)][kind]

    def _part_start_s(self, node: CounterNode, kind: int) -> float | None:
        """Returns the start of a part: it may be fetched before its slot is there, if any kit is; None for no slot."""
        if self._open_now(node, kind):
            return node.now_s
        if node.placed[kind] >= self.c.room[node.laid][kind]:
            return None
        early = self._sure(node) > 0 or self.c.on_tables > 0 or any(self.c.staying)
        return max(node.now_s, node.other_s - self.ahead_s) if early else node.other_s

    def _work(self, node: CounterNode, tool: int) -> list[tuple[CounterMove, CounterNode]]:
        """Returns the moves of the robot with the tool that it has."""
        d, robot = self.d, node.robot
        result: list[tuple[CounterMove, CounterNode]] = []
        for j in self.of_tool[tool][robot]:
            result += self._parts(node, j)
        if tool != 0:
            return result
        if node.laid < self.c.kits and robot in self.c.lays and self._table_free(node):
            lay = CounterMove(robot, MoveKind.LAY)
            result.append(self._next(node, lay, node.now_s + d.lay_s, "lay", laid=node.laid + 1))
        start_s = self._clear_start_s(node) if robot in self.c.clears else None
        if start_s is not None:
            clear = CounterMove(robot, MoveKind.CLEAR)
            result.append(self._next(node, clear, start_s + d.clear_s, None, cleared=node.cleared + 1))
        return result

    def _parts(self, node: CounterNode, kind: int) -> list[tuple[CounterMove, CounterNode]]:
        """Returns the moves with a part of a class: into a kit that is laid or that stays, or a wrong one out."""
        d, c, robot = self.d, self.c, node.robot
        result: list[tuple[CounterMove, CounterNode]] = []
        start_s = self._part_start_s(node, kind)
        more, more_staying = _plus(node.placed, kind), _plus(node.stayed, kind)
        stays = node.stayed[kind] < c.staying[kind]
        if node.wrong[kind]:
            fewer = _plus(node.wrong, kind, -1)
            correct = CounterMove(robot, MoveKind.CORRECT, kind)
            out_s = node.now_s + d.remove_part_s
            result.append(self._next(node, correct, out_s + d.return_part_s, None, wrong=fewer))
            end_s = out_s + d.held_part_s
            if c.reusable[kind] and node.placed[kind] < self.total[kind]:
                result.append(self._next(node, correct, end_s, kind, placed=more, wrong=fewer))
            if c.reusable[kind] and stays:
                result.append(self._next(node, correct, end_s, None, stayed=more_staying, wrong=fewer))
        if start_s is not None:
            result.append(
                self._next(node, CounterMove(robot, MoveKind.FILL, kind), start_s + d.part_s, kind, placed=more)
            )
        if stays:
            fill = CounterMove(robot, MoveKind.FILL_STAYING, kind)
            result.append(self._next(node, fill, node.now_s + d.part_s, None, stayed=more_staying))
        return result

    def _table_free(self, node: CounterNode) -> bool:
        return self.c.on_tables + node.laid - node.cleared < self.c.tables

    def _clear_start_s(self, node: CounterNode) -> float | None:
        if node.cleared >= self.c.on_tables + node.laid or node.cleared >= self.clears:
            return None
        least, placed = self.c.least[node.cleared + 1], node.placed
        if any(there < many for there, many in zip(placed, least, strict=True)):
            return None
        doing = node.doing
        if isinstance(doing, int) and doing >= 0 and node.other_s > node.now_s and placed[doing] - 1 < least[doing]:
            return node.other_s
        sure = self.c.on_tables + self._sure(node)
        return node.now_s if node.cleared < sure else node.other_s

    def _empty_hand(self, node: CounterNode) -> list[tuple[CounterMove, CounterNode]]:
        d, hand, robot = self.d, node.hand, node.robot
        put, back = CounterMove(robot, MoveKind.PUT), CounterMove(robot, MoveKind.RETURN)
        if hand == "kit":
            return [self._next(node, put, node.now_s + d.place_kit_s, None, hand=None)]
        returned = self.c.returnable[robot]
        if hand == "tray":
            result = [self._next(node, back, node.now_s + d.place_tray_s, None, hand=None)] if returned else []
            if node.laid < self.c.kits and self._table_free(node):
                end_s = node.now_s + d.lay_s - d.take_tray_s
                result.append(self._next(node, put, end_s, "lay", hand=None, laid=node.laid + 1))
            return result
        result = [self._next(node, back, node.now_s + d.return_part_s, None, hand=None)] if returned else []
        if isinstance(hand, int) and hand >= 0:
            start_s = self._part_start_s(node, hand)
            if start_s is not None:
                if start_s > node.now_s:
                    start_s = node.other_s
                more = _plus(node.placed, hand)
                result.append(self._next(node, put, start_s + d.held_part_s, hand, hand=None, placed=more))
            if node.stayed[hand] < self.c.staying[hand]:
                stayed = _plus(node.stayed, hand)
                result.append(self._next(node, put, node.now_s + d.held_part_s, None, hand=None, stayed=stayed))
        return result

    def _wait(self, node: CounterNode) -> tuple[CounterMove, CounterNode]:
        swapped = node._replace(
            now_s=node.other_s,
            tool=node.other_tool,
            hand=node.other_hand,
            other_tool=node.tool,
            other_hand=node.hand,
            doing=None,
            robot=1 - node.robot,
            waited=True,
        )
        return CounterMove(node.robot, MoveKind.WAIT), swapped

    @staticmethod
    def _next(
        node: CounterNode,
        move: CounterMove,
        end_s: float,
        doing: int | str | None,
        *,
        tool: int | None = _SAME,
        hand: int | str | None = _SAME,
        laid: int = -1,
        cleared: int = -1,
        placed: tuple[int, ...] | None = None,
        stayed: tuple[int, ...] | None = None,
        wrong: tuple[int, ...] | None = None,
    ) -> tuple[CounterMove, CounterNode]:
        """Returns the node after a move; the robot that is free first decides there."""
        _, other_s, my_tool, my_hand, other_tool, other_hand, others, *_ = node
        if tool != _SAME:
            my_tool = tool
        if hand != _SAME:
            my_hand = hand
        laid = node.laid if laid < 0 else laid
        cleared = node.cleared if cleared < 0 else cleared
        placed = node.placed if placed is None else placed
        stayed = node.stayed if stayed is None else stayed
        wrong = node.wrong if wrong is None else wrong
        counted = (laid, cleared, placed, stayed, wrong)
        if end_s <= other_s:
            after = CounterNode(
                end_s, other_s, my_tool, my_hand, other_tool, other_hand, others, *counted, node.robot, False
            )
        else:
            after = CounterNode(
                other_s, end_s, other_tool, other_hand, my_tool, my_hand, doing, *counted, 1 - node.robot, False
            )
        return move, after


def _plus(counts: tuple[int, ...], index: int, many: int = 1) -> tuple[int, ...]:
    return (*counts[:index], counts[index] + many, *counts[index + 1 :])
