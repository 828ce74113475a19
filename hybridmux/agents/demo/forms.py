"""The forms of `ask`, as the JSON schemas that ACP's elicitation carries; pure."""

from typing import Any

from hybridmux.agents.demo.history import Line


def schema(*, full: bool) -> Line:
    """A choice and a note; `full` adds a switch, a number and a choice of several."""
    fields: dict[str, Line] = {
        "color": {
            "type": "string",
            "title": "Color",
            "description": "Which color?",
            "oneOf": [
                {"const": "red", "title": "Red", "description": "like a tomato"},
                {"const": "green", "title": "Green", "description": "like a leaf"},
                {"const": "blue", "title": "Blue"},
            ],
        },
        "note": {"type": "string", "title": "Note", "description": "Anything to add? (optional)"},
    }
    if full:
        fields |= {
            "urgent": {
                "type": "boolean",
                "title": "Urgent",
                "description": "Is it urgent?",
                "default": False,
            },
            "count": {
                "type": "integer",
                "title": "Count",
                "description": "How many?",
                "minimum": 1,
                "maximum": 9,
            },
            "size": {
                "type": "string",
                "title": "Size",
                "description": "Which size?",
                "enum": ["S", "M", "L"],
            },
            "extras": {
                "type": "array",
                "title": "Extras",
                "description": "Any extras?",
                "items": {"type": "string", "enum": ["lid", "straw", "bag"]},
            },
        }
    return {"type": "object", "properties": fields, "required": ["color"]}


def choices(field: Line) -> list[tuple[Any, str]]:
    """The values one may pick for a field, each with what to show; empty where any text goes."""
    if field.get("type") == "boolean":
        return [(True, "Yes"), (False, "No")]
    if "oneOf" in field:
        return [
            (o["const"], ": ".join(filter(None, [o.get("title"), o.get("description")])))
            for o in field["oneOf"]
        ]
    return [(value, str(value)) for value in field.get("enum", [])]


def value_of(field: Line, text: str) -> Any:
    """What a typed answer means; None: left out. Raises `ValueError` with a sentence if nothing."""
    text = text.strip()
    if not text:
        return None
    match field.get("type"):
        case "integer":
            number = int(text) if text.lstrip("-").isdecimal() else None
            low, high = field.get("minimum", 0), field.get("maximum", 10**9)
            if number is None or not low <= number <= high:
                raise ValueError(f"a whole number from {low} to {high}, please")
            return number
        case "array":
            known = field["items"]["enum"]
            picked = [word for word in text.replace(",", " ").split() if word]
            if not set(picked) <= set(known):
                raise ValueError(f"some of {', '.join(known)}, please")
            return picked
    return text


def describe(answer: Line | None) -> str:
    """What the agent says about an answer."""
    if answer is None:
        return "This client cannot show forms."
    if answer.get("action") != "accept":
        return "The form was declined." if answer.get("action") == "decline" else "The form was cancelled."
    pairs = (f"{name}={_spoken(value)}" for name, value in (answer.get("content") or {}).items())
    return f"You answered: {', '.join(pairs) or 'nothing'}"


def _spoken(value: Any) -> str:
    if isinstance(value, list):
        return "+".join(map(str, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
