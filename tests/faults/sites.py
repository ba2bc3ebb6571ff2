"""A whole site: a database, web and worker processes, the fake provider, and people who use it."""

from __future__ import annotations

import json
import urllib.request
import uuid
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.ports import free_port
from tests.support.source import PROJECT
from tests.support.upstream import Upstream

from .browsers import Browser
from .databases import Database
from .pages import Page
from .processes import LogCollector, SiteProcess

# The default scenario's language model is changed by `answer_with`; any that is named here can be.
LANGUAGE_MODELS = (
    "ok", "endless", "endless-20", "endless-40", "hang-before", "hang-before-times-5", "tokens-20000", "held-60",
    "held-before",
    "cut-after-5", "cut-before", "eof-after-5", "no-finish",
    "bad-json-after-3", "not-a-chunk", "error-in-stream-after-3", "hang-after-3", "hang-headers", "html-200",
    "leak-401", "status-403", "status-404", "status-408", "status-409", "status-413", "status-422", "status-429",
    "quota-429", "status-429-after-3600", "status-500", "html-502", "status-529",
    "status-401", "status-503", "status-503-times-1", "status-503-after-5-times-1", "huge-line", "surrogates", "length",
    "tools-script", "tool-calls", "reasoning",
    "paced-20-60", "paced-100-200", "paced-200-200", "paced-500-200",
    "usage-none", "usage-negative", "usage-7-9999999", "usage-7-99999999999999",
)  # fmt: skip
BEGIN = """
INSERT INTO conversations_conversation
       (public_id, owner_id, scenario_id, title, has_pins, archived, starred, created_at, last_active_at)
SELECT %s, account.id, scenario.id, '', false, false, false, now(), now()
FROM accounts_user account, conversations_scenario scenario WHERE account.email = %s AND scenario.is_default
"""
ENDED = "SELECT state, content, error_code FROM conversations_message WHERE id = %s AND state <> 'streaming'"
NOTHING_STREAMS = "SELECT NOT EXISTS (SELECT FROM conversations_message WHERE state = 'streaming')"


def configured(name: str) -> str:
    """Return a language model as LANGUAGE_MODELS names it; a long reply has room, or it would be cut off."""
    room = "context_window=131072 reply_reserve=32768" if name == "tokens-20000" else "context_window=16384"
    return f"{name} {room} encoding=o200k_base input_usd=1 output_usd=2"


class Site:
    """Processes that serve one database on one port. All of them are ended by `end`."""

    def __init__(self, database: Database, upstream: Upstream, folder: Path, **settings: str) -> None:
        self.database, self.upstream = database, upstream
        self.log = folder / "site.log"
        port = settings.get("PORT") or str(free_port())
        self.address = f"http://127.0.0.1:{port}"
        self.pages: list[Page] = []
        self.process: SiteProcess | None = None  # the newest that serves it at its address
        self._processes: list[SiteProcess] = []
        self.settings = {
            "DATABASE_URL": database.url,
            "VAR_DIR": str(folder / "var"),
            "PORT": port,
            "METRICS_TOKEN": "of-the-metrics",
            "SECRET_KEY": "a-secret-of-the-faults-that-outlives-a-restart",
            "OPENAI_BASE_URL": upstream.base_url,
            "OPENAI_API_KEY": "sk-canary-1234567890",
            "LANGUAGE_MODELS": ", ".join(map(configured, LANGUAGE_MODELS)),
            "MESSAGES_PER_MINUTE": "0",
            "REPLIES_PER_USER": "0",
            # What a test holds is held for as long as the test takes.
            "OPENAI_TIMEOUT_SECONDS": "600",
            "TOOL_CALL_SECONDS": "600",
            "TOOL_SECONDS": "600",
            **settings,
        }

    # Processes

    def serve(self) -> SiteProcess:
        self.process = self.start("serve")
        return self.process

    @property
    def is_served(self) -> bool:
        return self.process is not None and self.process.lives

    def serve_beside(self) -> str:
        """Start a second web process and return its address."""
        port = str(free_port())
        self.start("serve", PORT=port)
        return f"http://127.0.0.1:{port}"

    def run_worker(self) -> SiteProcess:
        return self.start("run_worker")

    def start(
        self,
        command: str,
        *,
        collector: LogCollector | None = None,
        checkout: Path = PROJECT,
        **settings: str,
    ) -> SiteProcess:
        """Start `manage.py COMMAND` of *checkout* with *settings* beside those of the site."""
        process = SiteProcess(command, self.settings | settings, self.log, collector=collector, checkout=checkout)
        self._processes.append(process)
        return process

    def end_workers(self) -> None:
        for process in self._processes:
            if process is not self.process:
                process.end()

    def end(self) -> None:
        for page in self.pages:
            page.drop()
        for process in self._processes:
            process.end()

    def metrics(self) -> dict[str, float]:
        headers = {"Authorization": f"Bearer {self.settings['METRICS_TOKEN']}"}
        request = urllib.request.Request(f"{self.address}/metrics", headers=headers)
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as response:
            lines = response.read().decode().splitlines()
        return {name: float(value) for name, _, value in (line.partition(" ") for line in lines if line[:1] != "#")}

    # People

    @cached_property
    def browser(self) -> Browser:
        """That of a user who has signed up here."""
        return self.sign_up()

    def sign_up(self, *, comes_from: str = "127.0.0.1") -> Browser:
        """Return the browser of a new person, who *comes_from* an address: from each 20 may sign up in a minute."""
        browser = Browser(self.address, comes_from=comes_from)
        browser.sign_up(f"{uuid.uuid4().hex[:8]}@example.org")
        return browser

    def begin(self, browser: Browser | None = None) -> str:
        """Begin a conversation of the browser's person, and return its id."""
        public_id = str(uuid.uuid4())
        self.database.rows(BEGIN, public_id, (browser or self.browser).person)
        return public_id

    def open_page(self, browser: Browser | None = None, conversation: str | None = None, **options: bool) -> Page:
        browser = browser or self.browser
        page = Page(browser, conversation or self.begin(browser), **options)
        page.wait_for("conversation.snapshot")
        self.pages.append(page)
        return page

    # The provider and what is stored

    def answer_with(self, language_model: str) -> None:
        """Let the provider do from now on what tests/support/upstream.py says of *language_model*."""
        assert language_model in LANGUAGE_MODELS, f"add {language_model} to LANGUAGE_MODELS"
        self.database.rows("UPDATE conversations_scenario SET language_model = %s", language_model)

    def give_tools(self, *names: str) -> None:
        """Let the language model call the tools of these *names*, and no others, from now on."""
        self.database.rows("UPDATE conversations_scenario SET tools = %s", json.dumps(names))

    def ask(self, page: Page, language_model: str) -> int:
        """Let *page* ask for a reply of *language_model*; returns its id once the provider has the request."""
        self.answer_with(language_model)
        content = page.post()
        reply: int = page.answer()["reply"]
        wait_for(lambda: self.requests_about(content), f"reply {reply} is asked for")
        return reply

    def let_end(self, reply: int) -> dict[str, Any]:
        """Let the provider end what it holds, or what is endless, and wait for the end of *reply*."""
        self.upstream.release()
        return self.wait_for_end(reply)

    def wait_for_end(self, reply: int) -> dict[str, Any]:
        """Return state, content and error code of *reply* once it has ended, as they are stored."""
        return wait_for(lambda: self.database.rows(ENDED, reply), f"reply {reply} has ended")[0]

    def emitted(self) -> str:
        """Return what the provider has said so far to its newest request."""
        return "".join(self.upstream.log()[-1]["emitted"])

    def newest_row(self) -> int:
        """Return the id of the newest row of the ledger."""
        return int(self.database.value("SELECT coalesce(max(id), 0) FROM conversations_completion"))

    def newest_message(self) -> int:
        return self.database.value("SELECT coalesce(max(id), 0) FROM conversations_message")

    def wait_until_quiet(self) -> None:
        """Return once nothing streams any more: also a killed worker's lease is over by then."""
        wait_for(lambda: self.database.value(NOTHING_STREAMS), "nothing streams any more")

    def ledger(self, reply: int) -> list[dict[str, Any]]:
        return self.database.rows("SELECT * FROM conversations_completion WHERE reply_id = %s ORDER BY id", reply)

    def requests_about(self, content: str) -> list[dict[str, Any]]:
        """Return the provider's log of the requests that answer *content*."""
        return [exchange for exchange in self.upstream.log() if exchange["body"]["messages"][-1]["content"] == content]
