"""What a process frees goes back to the system. Each in a process of its own: it is set for all of one."""

import ctypes
import subprocess
import sys

import pytest

from tests.support.patience import PATIENCE_SECONDS
from tests.support.source import PROJECT

pytestmark = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="needs glibc's malloc_trim")
SMALL_BLOCKS = """
import os, time
from pathlib import Path
from conversations.management.memory import return_freed_memory

def resident_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

return_freed_memory(trim_seconds=0.2)
before = resident_mb()
blocks = [bytes(1_000) for _ in range(100_000)]
blocks = blocks[::1_000]  # so many are in use that the heap can't be cut at its end
while resident_mb() > before + 20:
    time.sleep(0.05)
"""
CYCLES = """
import gc, time, weakref
from conversations.management.memory import return_freed_memory

class Page:
    def __init__(self):
        self.itself = self

page = Page()
gc.collect()  # it is old now
gc.set_threshold(20_000, 20, 20)
gone, page = weakref.ref(page), None
return_freed_memory(trim_seconds=0.2)
while gone():
    time.sleep(0.05)
"""
WITHOUT_REDIS = """
import os, sys
os.environ |= {"DJANGO_SETTINGS_MODULE": "chatsite.settings", "ENV_FILE": os.devnull, "REDIS_URL": ""}
import chatsite.asgi
from django.urls import get_resolver
get_resolver().url_patterns
sys.exit("redis" in sys.modules)
"""
# What few requests need, or processes of their own alone.
LOADED_LATER = (
    *("PIL", "charset_normalizer", "cryptography", "docx", "fido2", "fontTools", "genai_prices", "griffe"),
    *("jsonschema", "jwt", "latex2mathml", "lxml", "mcp", "numpy", "openai", "pydantic", "pypdf", "pyrage"),
    *("requests", "tokenizers", "urllib3"),
)
START = """
import os, sys
os.environ |= {
    "DJANGO_SETTINGS_MODULE": "chatsite.settings",
    "ENV_FILE": os.devnull,
    "OPENAI_BASE_URL": "http://localhost:11434/v1",
    "LANGUAGE_MODELS": "llama3.2 context_window=8192",
}
import chatsite.asgi
from django.core.management import call_command
from conversations.management.commands import run_worker, serve
call_command("check", verbosity=0)
serve.load_tokenizers()
serve.load_listed_prices()
print(*sys.modules)
"""
VOCABULARY = """
import sys
from conversations.providers.tokens.tokenizer import count_text
before = sys.getallocatedblocks()
assert count_text("o200k_base")("Hello world") == 2
kept = sys.getallocatedblocks() - before
assert kept < 50_000, kept
"""
ARENAS = """
import ctypes, re, threading
from conversations.management.memory import return_freed_memory

return_freed_memory()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
everyone = threading.Barrier(8)

def allocate():
    everyone.wait()
    bytes(10_000)
    everyone.wait()

threads = [threading.Thread(target=allocate) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
file = ctypes.c_void_p(libc.fopen(b"/dev/stdout", b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
"""


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, timeout=PATIENCE_SECONDS, check=True, capture_output=True, text=True
    ).stdout


def test_free_pages_between_blocks_in_use_go_back():
    run(SMALL_BLOCKS)


def test_old_cycles_are_freed_without_waiting_for_many_new_objects():
    run(CYCLES)


def test_threads_share_two_arenas():
    assert run(ARENAS).count("<heap ") <= 2


def test_a_site_without_redis_loads_no_client_of_it():
    run(WITHOUT_REDIS)


def test_a_start_loads_nothing_that_few_requests_need():
    """A local provider is in no price list. Together these take 50 MB."""
    assert not {*run(START).split()} & {*LOADED_LATER}


def test_a_vocabulary_is_in_memory_once():
    """tiktoken counts with a copy of its own: the dictionary that it is built from took 26 MB more."""
    run(VOCABULARY)
