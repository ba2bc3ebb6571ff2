"""A tiny random embeddings model in the form of a sentence-transformer, and its vectors computed the slow way.

Nothing of the product is used: the folder is written by the formats' own documents, and the forward pass is plain
Python, number by number, so that it can be compared with.
"""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

VOCABULARY = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]",
    "the", "night", "train", "leaves", "bergen", "at", "ten", "and", "my", "sister", "ada", "waits",
]  # fmt: skip
LAYERS, DIMENSIONS, HEADS, WIDE, POSITIONS = 2, 32, 4, 48, 16
EPSILON = 1e-12
Vector = list[float]
Matrix = list[Vector]


def write_tiny_model(folder: Path, *, seed: int = 1, pooling: str = "mean_tokens", **config: Any) -> dict[str, Any]:
    """Write a model into *folder*, and return its tensors by name, as nested lists."""
    (folder / "1_Pooling").mkdir(parents=True)
    settings = {
        "model_type": "bert",
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "hidden_size": DIMENSIONS,
        "intermediate_size": WIDE,
        "max_position_embeddings": POSITIONS,
        "layer_norm_eps": EPSILON,
        "hidden_act": "gelu",
        **config,
    }
    modes = {f"pooling_mode_{mode}": mode == pooling for mode in ("cls_token", "mean_tokens", "max_tokens")}
    tensors = _random_tensors(random.Random(seed))
    (folder / "config.json").write_text(json.dumps(settings))
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": DIMENSIONS, **modes}))
    (folder / "modules.json").write_text(
        json.dumps([{"type": f"sentence_transformers.models.{kind}"} for kind in ("Transformer", "Pooling")])
    )
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer()))
    write_safetensors(folder / "model.safetensors", tensors)
    return tensors


def write_safetensors(path: Path, tensors: dict[str, Any]) -> None:
    header, body = {}, b""
    for name, values in tensors.items():
        shape = [len(values), len(values[0])] if isinstance(values[0], list) else [len(values)]
        numbers = [number for row in values for number in row] if len(shape) == 2 else values
        data = struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    written = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(written)) + written + body)


def token_numbers(text: str) -> list[int]:
    """Return the numbers of a text's words, between those that begin and end it."""
    words = [VOCABULARY.index(word) if word in VOCABULARY else 1 for word in text.lower().split()]
    return [2, *words[: POSITIONS - 2], 3]


def slow_vector(tensors: dict[str, Any], tokens: Sequence[int], *, pooling: str = "mean_tokens") -> Vector:
    """Return the vector of a text: BERT's forward pass, one number after another."""
    rows = [
        _sum(tensors["embeddings.word_embeddings.weight"][token], tensors["embeddings.position_embeddings.weight"][at],
             tensors["embeddings.token_type_embeddings.weight"][0])
        for at, token in enumerate(tokens)
    ]  # fmt: skip
    rows = [_norm(tensors, "embeddings.LayerNorm", row) for row in rows]
    for number in range(LAYERS):
        rows = _layer(tensors, f"encoder.layer.{number}.", rows)
    pooled = rows[0] if pooling == "cls_token" else [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    length = math.sqrt(sum(number * number for number in pooled))
    return [number / length for number in pooled]


def _layer(tensors: dict[str, Any], name: str, rows: Matrix) -> Matrix:
    query, key, value = (
        [_dense(tensors, f"{name}attention.self.{part}", row) for row in rows] for part in ("query", "key", "value")
    )
    size = DIMENSIONS // HEADS
    joined: Matrix = [[] for _ in rows]
    for first in range(0, DIMENSIONS, size):
        part = slice(first, first + size)
        for at, asked in enumerate(query):
            scores = [_product(asked[part], each[part]) / math.sqrt(size) for each in key]
            shares = [math.exp(score) for score in scores]
            for column in range(first, first + size):
                joined[at].append(sum(s * v[column] for s, v in zip(shares, value, strict=True)) / sum(shares))
    attended = [_dense(tensors, f"{name}attention.output.dense", row) for row in joined]
    rows = [
        _norm(tensors, f"{name}attention.output.LayerNorm", _sum(*pair)) for pair in zip(rows, attended, strict=True)
    ]
    wide = [[_gelu(number) for number in _dense(tensors, f"{name}intermediate.dense", row)] for row in rows]
    narrow = [_dense(tensors, f"{name}output.dense", row) for row in wide]
    return [_norm(tensors, f"{name}output.LayerNorm", _sum(*pair)) for pair in zip(rows, narrow, strict=True)]


def _gelu(number: float) -> float:
    return number * 0.5 * (1 + math.erf(number / math.sqrt(2)))


def _dense(tensors: dict[str, Any], name: str, row: Vector) -> Vector:
    weights, bias = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
    return [_product(weight, row) + each for weight, each in zip(weights, bias, strict=True)]


def _norm(tensors: dict[str, Any], name: str, row: Vector) -> Vector:
    mean = sum(row) / len(row)
    deviation = math.sqrt(sum((number - mean) ** 2 for number in row) / len(row) + EPSILON)
    scales = zip(row, tensors[f"{name}.weight"], tensors[f"{name}.bias"], strict=True)
    return [(number - mean) / deviation * weight + bias for number, weight, bias in scales]


def _product(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _sum(*rows: Vector) -> Vector:
    return [sum(column) for column in zip(*rows, strict=True)]


def _random_tensors(numbers: random.Random) -> dict[str, Any]:
    def vector(size: int, mean: float = 0.0) -> Vector:
        drawn = struct.pack(f"<{size}f", *(numbers.gauss(mean, 0.3) for _ in range(size)))
        return list(struct.unpack(f"<{size}f", drawn))

    def dense(name: str, rows: int, columns: int) -> dict[str, Any]:
        return {f"{name}.weight": [vector(columns) for _ in range(rows)], f"{name}.bias": vector(rows)}

    def norm(name: str) -> dict[str, Any]:
        return {f"{name}.weight": vector(DIMENSIONS, 1.0), f"{name}.bias": vector(DIMENSIONS)}

    rows = {"word": len(VOCABULARY), "position": POSITIONS, "token_type": 2}
    tensors: dict[str, Any] = {
        f"embeddings.{name}_embeddings.weight": [vector(DIMENSIONS) for _ in range(count)]
        for name, count in rows.items()
    }
    tensors |= norm("embeddings.LayerNorm")
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}."
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            tensors |= dense(f"{layer}attention.{part}", DIMENSIONS, DIMENSIONS)
        tensors |= norm(f"{layer}attention.output.LayerNorm") | norm(f"{layer}output.LayerNorm")
        tensors |= dense(f"{layer}intermediate.dense", WIDE, DIMENSIONS)
        tensors |= dense(f"{layer}output.dense", DIMENSIONS, WIDE)
    return tensors


def _tokenizer() -> dict[str, Any]:
    pieces = {"[CLS]": 2, "[SEP]": 3}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": number, "content": token, "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": True}
            for number, token in enumerate(VOCABULARY[:4])
        ],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                       {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {
                name: {"id": name, "ids": [number], "tokens": [name]} for name, number in pieces.items()
            },
        },
        "decoder": None,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": {word: number for number, word in enumerate(VOCABULARY)}},
    }  # fmt: skip
