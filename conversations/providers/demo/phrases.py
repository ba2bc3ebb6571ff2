"""The demo model's own sentences, in English and in Chinese, and a tour of Markdown that shows rendering at work."""

from __future__ import annotations

ENGLISH = {
    "greeting": (
        "Hello! I am the demo model of this site: not a language model, but a reader that can only quote the "
        "messages it was given. Tell me something about yourself, then ask me for it."
    ),
    "introduction": (
        "I am the demo model. I am **not a language model**: I read the prompt I was given and answer by quoting it. "
        "I was given {messages}, {tokens} tokens in all. Connect a provider in this site's settings to talk to "
        "a real one."
    ),
    "seen": "I was given {messages} of this conversation, {tokens} tokens in all with the system prompt.",
    "name": "Your name is **{name}**: {place} says: “{quote}”",
    "no_name": (
        "I can't see your name in the {messages} I was given. If you told me earlier, that message has left the window."
    ),
    "found": "{place} says: “{quote}”",
    "closest": "I can't see that in what I was given. What comes closest is {place_before_colon}: “{quote}”",
    "not_found": "I can't see anything about that in the {messages} I was given, {tokens} tokens in all.",
    "related": (
        "I have read that. It reminds me of {place_before_colon}: “{quote}” "
        "(I am the demo model: I can only quote what I was given.)"
    ),
    "noted": (
        "I have read that, and can quote it for as long as it is among the messages I am given. (I am the demo model, "
        "not a language model. I see {messages}, {tokens} tokens. Try “What is my name?”, “show me markdown”, "
        "“count to 200”.)"
    ),
    "quote": "“{quote}”",
    "list": "{count} of the passages I was sent are about that:",
    "list_of_one": "One of the passages I was sent is about that:",
    "left_out": "{left_out} more passages were found but did not fit. Ask more narrowly to see them.",
    "left_out_one": "One more passage was found but did not fit. Ask more narrowly to see it.",
    "beside": "Also: {others}.",
    "not_in_sent": (
        "I can't see that in the {sent} passages I was sent. What answers it may be among the {left_out} that were "
        "found but did not fit. Ask more narrowly to see them."
    ),
    "in_message": "message {number} of the {message_count} I was given",
    "in_passage": "passage [{number}]",
    "in_recalled": "recalled message {number} of {recalled_count}, of {day},",
    "in_summary": "the summary of earlier messages",
    "in_system_prompt": "the system prompt",
    "in_notes": "a note of yours",
    "clock": "The clock says: **{time}**.",
    "sum": "The calculator says: **{sum}**.",
    "tool_answered": "I called `{tool}`, and this is what it answered:",
    "tool_cut": "That is not all of it: the rest did not fit.",
    "tool_silent": "I called `{tool}`, and it answered nothing.",
    "tool_failed": "I called `{tool}`, but it came to nothing: “{quote}”",
    "tool_refused": "I wanted to call `{tool}`, but that was not allowed, so I can't say.",
    "no_clock": (
        "I have no clock here: I can only quote what I was given. The scenario “With tools” gives me one. Choose it "
        "above this conversation and ask again."
    ),
    "no_calculator": (
        "I can't calculate: I can only quote what I was given. The scenario “With tools” gives me a calculator. Choose "
        "it above this conversation and ask again."
    ),
    "one_picture": "You sent 1 picture of {sizes} pixels. I can't make out what is on it: I am the demo model.",
    "pictures": "You sent {count} pictures: {sizes} pixels. I can't make out what is on them: I am the demo model.",
    "one_earlier": "Of earlier messages I still receive 1 picture.",
    "earlier": "Of earlier messages I still receive {count} pictures.",
    "no_pictures": "There is no picture in what I received.",
}

CHINESE = {
    "greeting": "你好！我是本站的演示模型：不是语言模型，只会引用收到的消息。先告诉我一些事，再来问我。",
    "introduction": (
        "我是演示模型，**不是语言模型**：我只会阅读收到的提示并引用其中的话。"
        "我收到了 {message_count} 条消息，共 {tokens} 个 token。"
    ),
    "seen": "我收到了本对话的 {message_count} 条消息，连同系统提示共 {tokens} 个 token。",
    "name": "你叫**{name}**。见{place}：“{quote}”",
    "no_name": "在我收到的 {message_count} 条消息里看不到你的名字。如果你之前说过，那条消息已经离开了窗口。",
    "found": "{place}写道：“{quote}”",
    "closest": "我收到的内容里看不到这个。最接近的是{place}：“{quote}”",
    "not_found": "在我收到的 {message_count} 条消息（共 {tokens} 个 token）里看不到这个。",
    "related": "我读到了。这让我想起{place}：“{quote}”（我是演示模型，只会引用收到的内容。）",
    "noted": (
        "我读到了。只要它还在我收到的消息里，我就能引用它。"
        "（我是演示模型，不是语言模型。我收到 {message_count} 条消息。）"
    ),
    "quote": "“{quote}”",
    "list": "我收到的段落中有 {count} 个与此有关：",
    "list_of_one": "我收到的段落中有 1 个与此有关：",
    "left_out": "另外找到 {left_out} 个段落，但放不下。问得更具体一些就能看到。",
    "left_out_one": "另外找到 1 个段落，但放不下。问得更具体一些就能看到。",
    "beside": "另见：{others}。",
    "not_in_sent": (
        "在我收到的 {sent} 个段落里看不到这个。答案也许在另外找到但放不下的 {left_out} 个段落里。"
        "问得更具体一些就能看到。"
    ),
    "in_message": "我收到的 {message_count} 条消息中的第 {number} 条",
    "in_passage": "段落 [{number}]",
    "in_recalled": "回忆起的 {recalled_count} 条消息中的第 {number} 条（{day}）",
    "in_summary": "较早消息的摘要",
    "in_system_prompt": "系统提示",
    "in_notes": "你的备注",
    "clock": "时钟显示：**{time}**。",
    "sum": "计算器的结果是：**{sum}**。",
    "tool_answered": "我调用了 `{tool}`，它的回答是：",
    "tool_cut": "以上不是全部：其余部分放不下。",
    "tool_silent": "我调用了 `{tool}`，它什么也没有回答。",
    "tool_failed": "我调用了 `{tool}`，但没有成功：“{quote}”",
    "tool_refused": "我想调用 `{tool}`，但没有得到允许，所以我无法回答。",
    "no_clock": "我这里没有时钟，只会引用收到的内容。场景“带工具”里有时钟：在对话上方选择它，然后再问一次。",
    "no_calculator": "我不会计算，只会引用收到的内容。场景“带工具”里有计算器：在对话上方选择它，然后再问一次。",
    "one_picture": "你发来了 1 张图片，{sizes} 像素。我是演示模型，看不出图上是什么。",
    "pictures": "你发来了 {count} 张图片：{sizes} 像素。我是演示模型，看不出图上是什么。",
    "one_earlier": "较早的消息中，我仍收到 1 张图片。",
    "earlier": "较早的消息中，我仍收到 {count} 张图片。",
    "no_pictures": "我收到的内容里没有图片。",
}


MARKDOWN_TOUR = r"""# A tour of Markdown

This text is always the same. It shows what a reply can look like: **bold**, *italic*, ~~struck~~, `inline code`,
a [link](https://commonmark.org/), and a line of its own:

---

## Lists

1. First
2. Second
   - with a point below
   - and another one

## A quotation

> I can only quote what I was given.

## A table

| Part of the window | Goes first or last | Why |
| --- | --- | --- |
| System prompt | first | never changes |
| Older messages | middle | change slowly |
| Grounding | last | changes with every question |

## Code

```python
def newest_that_fit(tokens, budget):
    kept = []
    for count in reversed(tokens):
        if sum(kept) + count > budget:
            break
        kept.insert(0, count)
    return kept
```

## Mathematics

Inline, $e^{i\pi} + 1 = 0$, and displayed:

$$
\sum_{k=1}^{n} k = \frac{n(n+1)}{2}
$$

That is the whole tour.
"""
