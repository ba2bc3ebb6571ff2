"""Documents tell the truth: settings as declared; commands, paths and links that exist; short first pages."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands

from chatsite.configuration.mail import DEFAULT_PORTS
from chatsite.postgres.url import SCHEMES
from tests.support.source import PROJECT

TOP = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
DOCUMENTS = [Path(name) for name in TOP] + sorted(path.relative_to(PROJECT) for path in PROJECT.glob("docs/**/*.md"))
DECISIONS = [path for path in DOCUMENTS if path.parent.name == "decisions" and path.name != "README.md"]
MOST_BYTES = {"README.md": 10_000, "ARCHITECTURE.md": 12_000}
MOST_WORDS_OF_A_DECISION = 400
HEADER = ["| Setting | Type | Default | What it does |", "| --- | --- | --- | --- |"]
OUR_PATH = re.compile(r"^(?:\.ci|chatsite|conversations|deploy|docs|static|templates|tests)/[\w./-]*$")


def read(path: Path | str) -> str:
    return (PROJECT / path).read_text(encoding="utf-8")


def settings_table() -> list[str]:
    """Return the table of settings as the declarations have it."""
    rows = [f"| `{s.name}` | {s.kind} | {code(s.default)} | {s.help}{old(s)} |" for s in settings.ENV.declared.values()]
    return HEADER + rows


def old(setting) -> str:
    return f" Formerly `{setting.formerly}`." if setting.formerly else ""


def code(default: str) -> str:
    return f"`{default}`" if default else ""


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", read("Makefile"), flags=re.MULTILINE))


def code_spans(markdown: str) -> list[str]:
    """Return what is in fenced blocks and between backticks."""
    return re.findall(r"```.*?```|`[^`\n]+`", markdown, flags=re.DOTALL)


def inline_code(markdown: str) -> list[str]:
    return [span.strip("`") for span in code_spans(markdown) if not span.startswith("```")]


def links(markdown: str) -> list[str]:
    """Return the targets of links and pictures within the project."""
    prose = re.sub(r"```.*?```|`[^`\n]+`", "", markdown, flags=re.DOTALL)
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in target]


def anchors(markdown: str) -> set[str]:
    """Return the names under which its headings can be linked to."""
    headings = re.findall(r"^#+ (.+)$", markdown, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_table_of_settings_is_the_declared_one():
    written = [line for line in read("docs/settings.md").splitlines() if line.startswith("|")]
    expected = settings_table()
    assert written == expected, "the table should be:\n" + "\n".join(expected)


@pytest.mark.parametrize(
    ("name", "schemes"),
    [
        ("SMTP_URL", DEFAULT_PORTS),
        ("DATABASE_URL", SCHEMES),
        ("REDIS_URL", ("redis", "rediss", "unix")),
    ],
)
def test_the_table_of_settings_names_every_form_of_an_address(name, schemes):
    said = settings.ENV.declared[name].help
    assert [scheme for scheme in schemes if f"{scheme}://" not in said] == []


def test_every_setting_stands_in_the_example_file():
    named = re.findall(r"^#? ?([A-Z_]+)=", read(".env.example"), flags=re.MULTILINE)
    assert sorted(named) == sorted({*settings.ENV.declared, "POSTGRES_PASSWORD", "REDIS_PASSWORD"})


def test_every_setting_that_holds_a_secret_is_declared_as_one():
    sounds = re.compile(r"KEY$|SECRET|TOKEN$|PASS|^(DATABASE|REDIS|SMTP)_URL$")
    declared = settings.ENV.declared.values()
    assert {s.name for s in declared if sounds.search(s.name)} == {s.name for s in declared if s.kind == "secret"}


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_every_make_command_exists(path):
    assert set(re.findall(r"\bmake (?:-\S+ )?([a-z-]+)\b", "\n".join(code_spans(read(path))))) <= make_targets()


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_every_command_of_manage_exists(path):
    spans = "\n".join(code_spans(read(path)))
    named = re.findall(r"manage\.py ([a-z_]+)", spans) + re.findall(r"""ARGS=["']?([a-z_]+)[ "'\n]""", spans)
    assert {name for name in named if name not in {"tests"}} <= set(get_commands())


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_every_link_leads_somewhere(path):
    broken = [target for target in links(read(path)) if not leads_somewhere(path, target)]
    assert not broken


def leads_somewhere(path: Path, target: str) -> bool:
    name, _, anchor = target.partition("#")
    found = PROJECT / path.parent / name if name else PROJECT / path
    return found.exists() and (not anchor or anchor in anchors(found.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_every_path_of_the_project_exists(path):
    named = [span.split(":")[0] for span in inline_code(read(path))]
    missing = [name for name in named if OUR_PATH.match(name) and not (PROJECT / name).exists()]
    assert not missing


@pytest.mark.parametrize(("name", "most"), MOST_BYTES.items())
def test_a_first_page_can_be_read_in_one_sitting(name, most):
    assert len(read(name).encode()) <= most


@pytest.mark.parametrize("path", DECISIONS, ids=str)
def test_a_decision_is_short_names_what_was_rejected_and_is_listed(path):
    text = read(path)
    assert len(text.split()) < MOST_WORDS_OF_A_DECISION
    assert "## Rejected" in text
    number, title = re.match(r"# (\d+)\. (.+)\n", text).groups()
    assert path.name.startswith(f"{int(number):04}-")
    assert f"- {number}: [{title}]({path.name})\n" in read("docs/decisions/README.md")


def test_readme_names_the_commands_that_everyone_needs():
    assert {"run", "test", "help"} <= make_targets()
    assert "make run" in read("README.md")
    assert "make test" in read("README.md")


def test_the_policy_in_the_documents_is_the_one_that_is_tested():
    assert f"```python\n{read('tests/support/example_policy.py')}```" in read("docs/window.md")


def test_the_asvs_review_has_each_requirement_once_and_counts_its_verdicts():
    page = read("docs/asvs.md")
    rows = re.findall(r"^\| (\d+)\.(\d+)\.(\d+) [^|]+\| ([a-z ]+) \| [^|]+\|$", page, flags=re.MULTILINE)
    assert len({(chapter, section, number) for chapter, section, number, _ in rows}) == len(rows) == 253
    verdicts = ("holds", "partly", "open", "operator", "not applicable")
    counted = Counter((chapter, verdict) for chapter, _, _, verdict in rows)
    for chapter, cells in re.findall(r"^\| (\d+) [A-Z][^|]+\|(.*)\|$", page, flags=re.MULTILINE):
        assert [int(cell.strip() or 0) for cell in cells.split("|")] == [counted[chapter, each] for each in verdicts]
    total = Counter(verdict for *_, verdict in rows)
    assert f"| **all 253** | {' | '.join(f'**{total[each]}**' for each in verdicts)} |" in page
