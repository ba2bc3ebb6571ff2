"""README tells the truth: every setting as it is declared, every command as it exists."""

from __future__ import annotations

import re

from django.conf import settings

from tests.support.source import PROJECT

README = (PROJECT / "README.md").read_text(encoding="utf-8")
HEADER = ["| Setting | Type | Default | What it does |", "| --- | --- | --- | --- |"]


def settings_table() -> list[str]:
    """Return README's table as the declarations have it."""
    rows = [f"| `{s.name}` | {s.kind} | {code(s.default)} | {s.help} |" for s in settings.ENV.declared.values()]
    return HEADER + rows


def code(default: str) -> str:
    return f"`{default}`" if default else ""


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))


def test_the_table_of_settings_is_the_declared_one():
    _, _, section = README.partition("## Settings\n")
    written = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("|")]
    expected = settings_table()
    assert written == expected, "the table should be:\n" + "\n".join(expected)


def test_every_setting_stands_in_the_example_file():
    example = (PROJECT / ".env.example").read_text(encoding="utf-8")
    named = re.findall(r"^#? ?([A-Z_]+)=", example, flags=re.MULTILINE)
    assert sorted(named) == sorted({*settings.ENV.declared, "POSTGRES_PASSWORD"})


def test_every_make_command_in_readme_exists():
    assert set(re.findall(r"\bmake (?:-\S+ )?([a-z]+)\b", "\n".join(code_spans(README)))) <= make_targets()


def test_readme_names_the_commands_that_everyone_needs():
    assert {"run", "test", "help"} <= make_targets()
    assert "make run" in README
    assert "make test" in README


def test_the_policy_in_readme_is_the_one_that_is_tested():
    example = (PROJECT / "tests/support/example_policy.py").read_text(encoding="utf-8")
    assert f"```python\n{example}```" in README


def code_spans(markdown: str) -> list[str]:
    """Return what stands in fenced blocks and between backticks."""
    return re.findall(r"```.*?```|`[^`\n]+`", markdown, flags=re.DOTALL)
