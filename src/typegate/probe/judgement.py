"""A call and its answer → what that says of the server.

The law of the file: pure. A malformed call must be refused before the function runs, and the refusal must
name the argument; a valid one must reach the function; and every call must be answered.
"""

import json
import re
from typing import Final, Literal, NamedTuple

import msgspec

from typegate.contract.problems import Path, quoted
from typegate.probe.calls import Case
from typegate.types import Json

__all__ = ["FAULTS", "VERDICTS", "Answer", "Judgement", "Verdict", "judge", "names", "read_answer"]

Verdict = Literal["refused", "refused late", "accepted", "taken", "turned away", "unanswered", "crashed"]

VERDICTS: Final[dict[str, str]] = {
    "refused": "malformed, and refused before the function ran; of a foreign server: refused",
    "refused late": "malformed, and refused by the function itself",
    "accepted": "malformed, and accepted",
    "taken": "valid, and the function ran; of a foreign server: answered without an error",
    "turned away": "valid, and refused before the function ran; of a foreign server: answered with an error",
    "unanswered": "no answer in time",
    "crashed": "the server ended",
}

_PARSE_ERROR: Final = -32700

FAULTS: Final = frozenset({"refused late", "accepted", "unanswered", "crashed"})


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What came back.

    Attributes:
        form: a result, a JSON-RPC error, nothing in time, or the end of the server.
        text: what a model or a person reads.
        failed: whether it says that the call failed.
        unread: whether it says that the message was no JSON.
        ran: whether the function ran; `None` where nobody can know.
        seconds: how long it took.
    """

    form: Literal["result", "error", "silence", "end"]
    text: str = ""
    failed: bool = False
    unread: bool = False
    ran: bool | None = None
    seconds: float = 0.0


class Judgement(NamedTuple):
    """What an answer amounts to; *named* is `None` where there is nothing to name."""

    verdict: Verdict
    named: bool | None

    @property
    def is_fault(self) -> bool:
        """Whether the server failed this call."""
        return self.verdict in FAULTS or self.named is False


def read_answer(message: dict[str, Json], ran: bool | None, seconds: float) -> Answer:
    """A response as an answer."""
    if "error" in message:
        error = message["error"]
        text = str(error.get("message", "")) if isinstance(error, dict) else str(error)
        data = error.get("data") if isinstance(error, dict) else None
        text = f"{text}\n{data}" if isinstance(data, str) else text
        unread = isinstance(error, dict) and error.get("code") == _PARSE_ERROR
        return Answer(form="error", text=text, failed=True, unread=unread, ran=ran, seconds=seconds)
    result = message.get("result")
    blocks = result.get("content", ()) if isinstance(result, dict) else ()
    texts = [str(each.get("text", "")) for each in blocks if isinstance(each, dict)]
    failed = isinstance(result, dict) and result.get("isError") is True
    return Answer(form="result", text="\n".join(texts), failed=failed, ran=ran, seconds=seconds)


def judge(case: Case, answer: Answer, strict: bool) -> Judgement:
    """Judge one answer.

    Args:
        case: the call.
        answer: what came back.
        strict: whether an argument must be named as typegate does, in quotes with its path; any notation
            of the path will do otherwise, and a message that another decoder cannot read names nothing.
    """
    verdict = _verdict(case, answer)
    refused = verdict in ("refused", "refused late")
    if not (refused and case.places) or (answer.unread and not strict):
        return Judgement(verdict, None)
    return Judgement(verdict, any(names(answer.text, place, strict) for place in case.places))


def _verdict(case: Case, answer: Answer) -> Verdict:
    if answer.form == "end":
        return "crashed"
    if answer.form == "silence":
        return "unanswered"
    if case.valid:
        reached = not answer.failed if answer.ran is None else answer.ran
        return "taken" if reached else "turned away"
    if answer.ran is False or (answer.ran is None and answer.failed):
        return "refused"
    return "refused late" if answer.failed else "accepted"


def names(text: str, place: Path, strict: bool) -> bool:
    """Whether a text names a place, or something in it."""
    if not place:
        return "'arguments'" in text or "the arguments" in text
    if strict:
        word = quoted(place)
        return any(f"{word[:-1]}{end}" in text for end in ("'", ".", "["))
    if any(re.search(rf"(?<![\w.]){re.escape(form)}(?!\w)", text) for form in _notations(place)):
        return True
    compact = re.sub(r"\s", "", text)
    return json.dumps(place, ensure_ascii=False, separators=(",", ":"))[:-1] in compact


def _notations(place: Path) -> list[str]:
    """A path as programs write it: dots, brackets, a JSON pointer, a list of Python."""
    steps = [str(step) for step in place]
    brackets = quoted(place)[1:-1]
    return [".".join(steps), brackets, "/" + "/".join(steps), str(list(place)), repr(steps[-1])]
