"""The encoder of BERT in numpy: token numbers become one vector of length 1 for each text.

    x = norm(word + position + type)
    each layer:  x = norm(x + heads(x)),  x = norm(x + W2 · activation(W1 · x))
    heads(x) = softmax(q · kᵀ ÷ √size) · v  for each head, put together
    vector = mean of the tokens' x, or the first token's, divided by its length

Devlin et al. 2018, https://arxiv.org/abs/1810.04805. Padding is masked, so a text's vector does not hang on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .model_folder import POSITIONS, TYPES, WORDS, ModelFolder

Floats = npt.NDArray[np.float32]
MASKED = np.float32(-1e9)


class TextEncoder:
    """The weights of a folder: those of words stay in the file, all others are read as float32."""

    def __init__(self, folder: ModelFolder) -> None:
        self._folder = folder
        self._file = np.memmap(folder.path / "model.safetensors", dtype=np.uint8, mode="r")
        self._positions = self._read(POSITIONS) + self._read(TYPES)[0]
        self._norm = self._read_pair("embeddings.LayerNorm")
        self._layers = [_Layer(self, number) for number in range(folder.layers)]

    def encode(self, texts: Sequence[Sequence[int]]) -> Floats:
        """Return a row for each of *texts*, which are token numbers with those that begin and end a text."""
        longest = max(map(len, texts))
        tokens = np.zeros((len(texts), longest), dtype=np.int64)
        is_token = np.zeros((len(texts), longest), dtype=np.bool_)
        for row, text in enumerate(texts):
            tokens[row, : len(text)], is_token[row, : len(text)] = text, True
        first = self._folder.first_position
        x = _normalized(self._words(tokens) + self._positions[first : first + longest], self._norm, self.epsilon)
        mask = np.where(is_token, np.float32(0), MASKED)[:, None, None, :]
        for layer in self._layers:
            x = layer.apply(x, mask)
        return _with_length_one(x[:, 0] if self._folder.pooling == "cls" else _mean(x, is_token))

    @property
    def epsilon(self) -> float:
        return self._folder.norm_epsilon

    @property
    def heads(self) -> int:
        return self._folder.heads

    @property
    def activation(self) -> str:
        return self._folder.activation

    def read_dense(self, name: str) -> tuple[Floats, Floats]:
        """Return the weights of a dense layer, to be multiplied from the right, and its bias."""
        weight, bias = self._read_pair(name)
        return np.ascontiguousarray(weight.T), bias

    def read_norm(self, name: str) -> tuple[Floats, Floats]:
        return self._read_pair(name)

    def _read_pair(self, name: str) -> tuple[Floats, Floats]:
        return self._read(f"{name}.weight"), self._read(f"{name}.bias")

    def _words(self, tokens: npt.NDArray[np.int64]) -> Floats:
        stored, number_type = self._stored(WORDS)
        return _as_floats(stored[tokens], number_type)

    def _read(self, name: str) -> Floats:
        return _as_floats(*self._stored(name))

    def _stored(self, name: str) -> tuple[npt.NDArray[np.generic], str]:
        tensor = self._folder.tensors[name]
        dtype = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}[tensor.number_type]
        return self._file[tensor.start : tensor.stop].view(dtype).reshape(tensor.shape), tensor.number_type


class _Layer:
    def __init__(self, encoder: TextEncoder, number: int) -> None:
        name = f"encoder.layer.{number}."
        self._encoder = encoder
        self._query, self._key, self._value = (
            encoder.read_dense(f"{name}attention.self.{part}") for part in ("query", "key", "value")
        )
        self._attended = encoder.read_dense(f"{name}attention.output.dense")
        self._attended_norm = encoder.read_norm(f"{name}attention.output.LayerNorm")
        self._wide = encoder.read_dense(f"{name}intermediate.dense")
        self._narrow = encoder.read_dense(f"{name}output.dense")
        self._norm = encoder.read_norm(f"{name}output.LayerNorm")

    def apply(self, x: Floats, mask: Floats) -> Floats:
        attended = _dense(self._heads(x, mask), self._attended)
        x = _normalized(x + attended, self._attended_norm, self._encoder.epsilon)
        wide = _activated(_dense(x, self._wide), self._encoder.activation)
        return _normalized(x + _dense(wide, self._narrow), self._norm, self._encoder.epsilon)

    def _heads(self, x: Floats, mask: Floats) -> Floats:
        query, key, value = (self._split(_dense(x, each)) for each in (self._query, self._key, self._value))
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(query.shape[-1])) + mask
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        joined: Floats = (weights @ value).transpose(0, 2, 1, 3).reshape(x.shape)
        return joined

    def _split(self, x: Floats) -> Floats:
        texts, tokens, size = x.shape
        heads = self._encoder.heads
        return x.reshape(texts, tokens, heads, size // heads).transpose(0, 2, 1, 3)


def _as_floats(stored: npt.NDArray[np.generic], number_type: str) -> Floats:
    if number_type == "BF16":  # the upper half of a float32
        return (stored.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return np.array(stored, dtype=np.float32)


def _dense(x: Floats, weights: tuple[Floats, Floats]) -> Floats:
    product: Floats = x @ weights[0] + weights[1]
    return product


def _normalized(x: Floats, weights: tuple[Floats, Floats], epsilon: float) -> Floats:
    centred = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.float32(epsilon))
    normalized: Floats = centred / deviation * weights[0] + weights[1]
    return normalized


def _activated(x: Floats, activation: str) -> Floats:
    if activation == "relu":
        return np.maximum(x, np.float32(0))
    if activation == "gelu":
        curve = _error_function(x * np.float32(np.sqrt(0.5)))
    else:
        curve = np.tanh(np.float32(np.sqrt(2 / np.pi)) * (x + np.float32(0.044715) * x**3))
    activated: Floats = x * np.float32(0.5) * (1 + curve)
    return activated


def _error_function(x: Floats) -> Floats:
    """Return erf to 1.5e-7: Abramowitz and Stegun, formula 7.1.26."""
    t = 1 / (1 + np.float32(0.3275911) * np.abs(x))
    series: Any = np.float32(0)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(factor)) * t
    curve: Floats = np.sign(x) * (1 - series * np.exp(-np.square(x)))
    return curve


def _mean(x: Floats, is_token: npt.NDArray[np.bool_]) -> Floats:
    counted = is_token[:, :, None].astype(np.float32)
    mean: Floats = (x * counted).sum(axis=1) / counted.sum(axis=1)
    return mean


def _with_length_one(rows: Floats) -> Floats:
    lengths: Floats = np.linalg.norm(rows, axis=1, keepdims=True).astype(np.float32)
    return (rows / np.maximum(lengths, np.float32(1e-12))).astype(np.float32)
