"""Steps of a plan as people read them: on the terminal, in the viewer."""

from __future__ import annotations

__all__ = ["short_action"]

TO_KIT, NOWHERE = ("look-for-slot", "place-part"), ("set-grasp",)
CHANGES = ("attach-endEffector", "detach-endEffector")


def short_action(action: str, part: str = "") -> str:
    """Returns a step of a plan in short: without the tool, and with the part that was chosen.

    Args:
        action: The step as it is logged, such as `(take-part fanuc fanuc_tool sku_part_large_gear large_tray kit_1)`.
        part: The part that was chosen for it.
    """
    verb, _, tool, *words = action.strip("()").split()
    if verb in CHANGES:
        return f"{verb} {tool} at {words[0]}"
    if verb == "create-kit":
        return f"{verb} {words[-1]} at {words[0]}"
    sku, *places = words
    what = part or sku.removeprefix("sku_").removeprefix("part_")
    if verb in TO_KIT and places:
        return f"{verb} {what} in {places[-1]}"
    if not places or verb in NOWHERE:
        return f"{verb} {what}"
    return f"{verb} {what} where it lies" if places[0] == what else f"{verb} {what} at {places[0]}"
