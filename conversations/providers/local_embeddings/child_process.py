"""The child process: makes vectors of texts with the model of one folder, until its standard input ends.

python -m conversations.providers.local_embeddings.child_process FOLDER

◀ {"dimensions": 384}                                     when it is ready
▶ {"id": 1, "texts": ["…"]}                               one line each
◀ {"id": 1, "vectors": [[…]], "tokens": 12}   or   {"id": 1, "error": "…"}
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .encoder import TextEncoder
from .model_folder import read_model_folder


def main() -> None:
    folder = read_model_folder(Path(sys.argv[1]))
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder.path / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(folder.most_tokens)
    encoder = TextEncoder(folder)
    _write({"dimensions": folder.dimensions})
    for line in sys.stdin.buffer:
        order = json.loads(line)
        try:
            _write({"id": order["id"], **_answer(order["texts"], tokenizer, encoder)})
        except Exception as error:  # the next texts may be others
            _write({"id": order["id"], "error": f"{type(error).__name__}: {error}"})


def _answer(texts: list[str], tokenizer: Any, encoder: TextEncoder) -> dict[str, Any]:
    tokens = [encoded.ids for encoded in tokenizer.encode_batch(texts)]
    rows = encoder.encode(tokens)
    return {"vectors": [[round(float(number), 7) for number in row] for row in rows], "tokens": sum(map(len, tokens))}


def _write(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
