"""Pure: what an agent tells a hook, and what a hook tells it, whatever the agent."""

from collections.abc import Mapping

from worker.contract.project_name import is_whole

CONTEXT = "context"
PROMPT = "session-init"
TOOL = "observation"
FILE = "file-context"
TURN = "summarize"
END = "session-end"
EVENTS = (CONTEXT, PROMPT, TOOL, FILE, TURN, END)

_MOST_NAME_CHARS = 128


class Input:
    """An agent's words, field by field; what is missing or of a wrong type is empty, or None.

    cwd: empty when the agent names no folder that can be one. files: that are about to be read.
    """

    __slots__ = (
        "agent_id", "agent_type", "cwd", "files", "last_message", "prompt", "reason", "session_id", "tool_input",
        "tool_name", "tool_response", "tool_use_id", "transcript",
    )  # fmt: skip

    def __init__(self, given: Mapping[str, object], *, session_keys: tuple[str, ...], cwd: str) -> None:
        self.session_id = next((text for key in session_keys if (text := _text(given.get(key)))), "")
        self.cwd = cwd if is_whole(cwd) and _is_writable(cwd) else ""
        self.prompt = _text(given.get("prompt"))
        self.tool_name = _text(given.get("tool_name"))
        self.tool_input = given.get("tool_input")
        self.tool_response = given.get("tool_response")
        self.tool_use_id = _text(given.get("tool_use_id"))
        self.transcript = _text(given.get("transcript_path"))
        self.reason = _text(given.get("reason"))
        self.agent_id = _name(given.get("agent_id"))
        self.agent_type = _name(given.get("agent_type"))
        self.last_message = _text(given.get("last_assistant_message"))
        self.files = _files(given.get("tool_input"))


class Reply:
    """context: for the agent. shown: for the person. Both empty: nothing to say."""

    __slots__ = ("context", "shown", "speaks")

    def __init__(self, context: str = "", shown: str = "", *, speaks: bool = False) -> None:
        """speaks: give the agent its context even if that is empty."""
        self.context, self.shown, self.speaks = context, shown, speaks


def whole(text: str) -> str:
    """A text with `?` in place of half characters, which nobody could write down: a cut may leave half an emoji."""
    return text if _is_writable(text) else text.encode("utf-8", "replace").decode()


def _is_writable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(value: object) -> str:
    return whole(value) if isinstance(value, str) else ""


def _name(value: object) -> str:
    return whole(value) if isinstance(value, str) and 1 <= len(value) <= _MOST_NAME_CHARS else ""


def _files(tool_input: object) -> tuple[str, ...]:
    if not isinstance(tool_input, dict):
        return ()
    one, many = tool_input.get("file_path"), tool_input.get("filePaths")
    given = [one, *(many if isinstance(many, list) else ())]
    return tuple(
        dict.fromkeys(
            path for path in given if isinstance(path, str) and path and "\0" not in path and _is_writable(path)
        )
    )[:10]
