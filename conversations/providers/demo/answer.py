"""The demo model's answers: it is no language model, and only quotes the prompt that it received.

So it shows the window at work without a key: what is in the prompt it finds, what has left the window it can't see, and
it says so. Results of tools are quoted too. The same prompt always gets the same answer. Questions in Chinese are
answered in Chinese.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace

from conversations.core.errors import CallRefused, ToolError
from conversations.core.prompt.continuation import CONTINUE_REQUEST
from conversations.core.window.truncation import TRUNCATION_MARK

from .choose_tools import CALCULATOR, CLOCK, asks_for_time, sums_in
from .demo_prompt import DemoPrompt, Sentence, SentResult
from .extract_summary import extract_summary
from .phrases import MARKDOWN_TOUR
from .quotations import LONGEST_QUOTE_CHARACTERS, answer_from_passages, best_match, suspect_left_out

# Gaps are bounded: an open one takes minutes on a text that repeats its first word.
_ASKS_FOR_MARKDOWN = re.compile(
    r"^/markdown\b|\b(?:show|demo)\b.{0,40}\bmarkdown\b|(?:展示|演示).{0,20}markdown", re.IGNORECASE
)
_ASKS_TO_COUNT = re.compile(r"\bcount\b.{0,20}?\bto (\d{1,9})|数到\s{0,5}(\d{1,9})", re.IGNORECASE)
_ASKS_FOR_MUCH = re.compile(
    r"\b(?:story|essay|poem|novel)\b|\blong (?:answer|reply|text)\b|\bread (?:it|that|everything) back\b|\brecite\b"
    r"|故事|复述|长文",
    re.IGNORECASE,
)
_ASKS_WHO_IT_IS = re.compile(
    r"\b(?:who|what) are you\b|\bare you (?:an? )?(?:ai|bot|human|language model|chatgpt)\b|你是谁|你是什么",
    re.IGNORECASE,
)
_ASKS_WHAT_IS_SEEN = re.compile(
    r"\bhow many (?:messages|tokens)\b|\bwhat (?:can|do) you see\b|多少(?:条)?(?:消息|令牌)|能看(?:到|见)(?:什么|多少)",
    re.IGNORECASE,
)
_ASKS_FOR_NAME = re.compile(
    r"\bwhat(?:'s|’s| is) my name\b|\bwho am i\b|\b(?:know|remember|tell me|say) my name\b"
    r"|我叫什么|我的名字(?:[是叫]什么|呢)",
    re.IGNORECASE,
)
_ASKS_FOR_PICTURES = re.compile(
    r"\b(?:my|the|this|that|these|those) (?:\w+ )?(?:pictures?|photos?)\b|图片|照片", re.IGNORECASE
)
_GREETING = re.compile(r"^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|你好|您好|嗨)\b", re.IGNORECASE)

_NAME = r"(?P<name>[^\W\d_][\w'’-]*(?: [A-Z][\w'’-]*){0,3})"
_NAME_STATEMENTS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?i:\bmy name is|\bmy name['’]s|\bi am called|\bcall me) {_NAME}",
        r"我(?:叫做?|名叫|的名字[是叫])(?P<name>(?!什么|啥)[\u4e00-\u9fff·A-Za-z]{1,12})",
        r"\b(?:I'm|I’m|I am) (?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]*){0,2})",
    )
)

LARGEST_COUNT = 5_000
NUMBERS_PER_LINE = 10
RECITAL_ROUNDS = 40
LONGEST_RESULT_CHARACTERS = 1_200
_FOR_MACHINES = re.compile(r" \(\d{4}-\d\d-\d\dT[^)]{0,40}\)$")
_TOOL_ERRORS: list[type[ToolError]] = [ToolError, *ToolError.__subclasses__()]
_FAILURES = tuple(error.template for error in _TOOL_ERRORS)


def answer(prompt: DemoPrompt) -> str:
    """Return the reply to the newest message of *prompt*, as Markdown."""
    return next(reply for rule in _RULES if (reply := rule(prompt)) is not None)


def _continue(prompt: DemoPrompt) -> str | None:
    """Go on with an answer that was cut off: it is the same again, from where the text so far ends."""
    if len(prompt.messages) < 3 or prompt.messages[-1].content != CONTINUE_REQUEST:
        return None
    *before, so_far, _ = prompt.messages
    whole, text = answer(replace(prompt, messages=tuple(before))), so_far.content.removeprefix(f"{TRUNCATION_MARK} ")
    _, found, rest = whole.partition(text)
    return rest if found else ""


def _tell_of_pictures(prompt: DemoPrompt) -> str | None:
    """Say how many pictures came with the newest message and how large they are."""
    if not prompt.pictures:
        return None
    phrases, sizes = prompt.phrases, [f"{picture.width} × {picture.height}" for picture in prompt.pictures]
    told = phrases["one_picture" if len(sizes) == 1 else "pictures"].format(count=len(sizes), sizes=", ".join(sizes))
    return f"{told} {_earlier_pictures(prompt)}" if prompt.earlier_pictures else told


def _earlier_pictures(prompt: DemoPrompt) -> str:
    key = {0: "no_pictures", 1: "one_earlier"}.get(prompt.earlier_pictures, "earlier")
    return prompt.phrases[key].format(count=prompt.earlier_pictures)


def _tell_of_earlier_pictures(prompt: DemoPrompt) -> str | None:
    """Say how many pictures are still in the window when the question is about them."""
    asks = not prompt.passages and _ASKS_FOR_PICTURES.search(prompt.question)
    return _earlier_pictures(prompt) if asks else None


def _show_markdown(prompt: DemoPrompt) -> str | None:
    return MARKDOWN_TOUR if _ASKS_FOR_MARKDOWN.search(prompt.question) else None


def _count(prompt: DemoPrompt) -> str | None:
    match = _ASKS_TO_COUNT.search(prompt.question)
    return _count_up_to(int(match[1] or match[2])) if match else None


def _recite(prompt: DemoPrompt) -> str | None:
    return _read_back(prompt) if _ASKS_FOR_MUCH.search(prompt.question) else None


def _introduce_itself(prompt: DemoPrompt) -> str | None:
    return _phrase(prompt, "introduction") if _ASKS_WHO_IT_IS.search(prompt.question) else None


def _say_what_is_seen(prompt: DemoPrompt) -> str | None:
    return _phrase(prompt, "seen") if _ASKS_WHAT_IS_SEEN.search(prompt.question) else None


def _name(prompt: DemoPrompt) -> str | None:
    if not _ASKS_FOR_NAME.search(prompt.question):
        return None
    for statement in _NAME_STATEMENTS:
        for sentence in prompt.sentences:
            if match := statement.search(sentence.text):
                return _phrase(prompt, "name", sentence, name=match["name"])
    return _phrase(prompt, "no_name")


def _greet(prompt: DemoPrompt) -> str | None:
    is_short = len(prompt.question) < 40 and not Sentence(prompt.question).is_question
    return _phrase(prompt, "greeting") if is_short and _GREETING.search(prompt.question) else None


def _lack_tools(prompt: DemoPrompt) -> str | None:
    """Say what is missing. Where there are tools, those that serve the question have been called before."""
    if asks_for_time(prompt.question):
        return _phrase(prompt, "no_clock")
    return _phrase(prompt, "no_calculator") if sums_in(prompt.question) else None


def _look_up(prompt: DemoPrompt) -> str | None:
    """Answer a question from the passages that were sent, or else with the sentence that has most of its words.

    A weak match is called the closest one, unless something better may have been left out.
    """
    if not Sentence(prompt.question).is_question:
        return None
    if from_passages := answer_from_passages(prompt):
        return from_passages
    match = best_match(prompt.question, prompt.sentences)
    if match and match.is_good:
        return _phrase(prompt, "found", match.sentence)
    if might_be := suspect_left_out(prompt):
        return might_be
    return _phrase(prompt, "closest", match.sentence) if match else _phrase(prompt, "not_found")


def _acknowledge(prompt: DemoPrompt) -> str:
    earlier = [sentence for sentence in prompt.sentences if sentence.message_number != prompt.message_count]
    match = best_match(prompt.question, earlier)
    return _phrase(prompt, "related", match.sentence) if match else _phrase(prompt, "noted")


def _phrase(prompt: DemoPrompt, key: str, quoted: Sentence | None = None, **values: str) -> str:
    phrases = prompt.phrases
    count = prompt.message_count
    values |= {"message_count": str(count), "messages": "1 message" if count == 1 else f"{count} messages"}
    values["tokens"] = f"{prompt.tokens:,}"
    if quoted is not None:
        place = _place(prompt, quoted)
        before_colon = place.removesuffix(",")  # what ends an aside before a verb has no place before a colon
        values |= {"quote": _shorten(quoted.text), "place": place, "place_before_colon": before_colon}
    reply = phrases[key].format(**values)
    return reply[0].upper() + reply[1:]


def _place(prompt: DemoPrompt, sentence: Sentence) -> str:
    phrases = prompt.phrases
    if sentence.passage is not None:
        return phrases["in_passage"].format(number=sentence.passage.number)
    if sentence.in_summary:
        return phrases["in_summary"]
    if (number := sentence.recalled_number) is not None:
        return phrases["in_recalled"].format(number=number, recalled_count=prompt.recalled_count, day=sentence.day)
    if sentence.message_number is not None:
        return phrases["in_message"].format(number=sentence.message_number, message_count=prompt.message_count)
    return phrases["in_notes" if sentence.is_noted else "in_system_prompt"]


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE_CHARACTERS else f"{text[:LONGEST_QUOTE_CHARACTERS]}…"


def _quote_results(prompt: DemoPrompt) -> str | None:
    """Quote the result of each tool that was called, a paragraph or more for each."""
    phrases = prompt.phrases
    return "\n\n".join(_quote_result(result, phrases) for result in prompt.results) or None


def _quote_result(result: SentResult, phrases: dict[str, str]) -> str:
    text = result.text.strip()
    if text.startswith(CallRefused.template):
        return phrases["tool_refused"].format(tool=result.call.name)
    if text.startswith(_FAILURES):
        return phrases["tool_failed"].format(tool=result.call.name, quote=_shortened(text))
    if not text:
        return phrases["tool_silent"].format(tool=result.call.name)
    if result.call.name in (CALCULATOR, CLOCK) and "\n" not in text:
        return _briefly(result, text, phrases)
    return phrases["tool_answered"].format(tool=result.call.name) + "\n\n" + _as_quotation(text, phrases)


def _briefly(result: SentResult, text: str, phrases: dict[str, str]) -> str:
    if result.call.name == CLOCK:
        return phrases["clock"].format(time=_FOR_MACHINES.sub("", text))
    asked = _only_argument(result.call.arguments)
    told = text if not asked or "=" in text else f"{asked} = {text}"
    return phrases["sum"].format(sum=told.replace("*", r"\*"))


def _only_argument(arguments: str) -> str:
    values = list(json.loads(arguments).values())
    return values[0] if len(values) == 1 and isinstance(values[0], str) else ""


def _as_quotation(text: str, phrases: dict[str, str]) -> str:
    is_cut = text.endswith(TRUNCATION_MARK) or len(text) > LONGEST_RESULT_CHARACTERS
    lines = (line.strip() for line in _shortened(text).splitlines())
    quotation = "\n".join(f"> {line}  " if line else ">" for line in lines)  # two spaces keep lines apart
    return f"{quotation}\n\n{phrases['tool_cut']}" if is_cut else quotation


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_RESULT_CHARACTERS else f"{text[:LONGEST_RESULT_CHARACTERS]} …"


def _count_up_to(number: int) -> str:
    """Return the numbers from 1 in lines of ten, up to `LARGEST_COUNT`."""
    last = min(number, LARGEST_COUNT)
    starts = range(1, last + 1, NUMBERS_PER_LINE)
    lines = [", ".join(map(str, range(start, min(start + NUMBERS_PER_LINE, last + 1)))) for start in starts]
    counted = ",\n".join(lines) or "There is nothing to count."
    return counted if number == last else f"{counted}\n\nThat is as far as the demo model counts."


def _read_back(prompt: DemoPrompt) -> str:
    """Return a long text made of the messages of *prompt*, repeated many times."""
    spoken = [message for message in prompt.messages if message.role in ("user", "assistant")]
    quotes = [f"{number}. *{message.role}*: {_first_line(message.content)}" for number, message in enumerate(spoken, 1)]
    rounds = (f"## Reading number {number}\n\n" + "\n".join(quotes) for number in range(1, RECITAL_ROUNDS + 1))
    opening = (
        "I am the demo model and can't make anything up, so I read back what I was given. "
        "Press Stop when you have seen enough."
    )
    return "\n\n".join([opening, *rounds])


def _first_line(content: str) -> str:
    line = content.strip().partition("\n")[0]
    return line if len(line) <= 200 else f"{line[:200]}…"


_RULES: tuple[Callable[[DemoPrompt], str | None], ...] = (
    extract_summary,
    _continue,
    _quote_results,
    _tell_of_pictures,
    _show_markdown,
    _count,
    _recite,
    _introduce_itself,
    _say_what_is_seen,
    _name,
    _greet,
    _tell_of_earlier_pictures,
    _lack_tools,
    _look_up,
    _acknowledge,
)
