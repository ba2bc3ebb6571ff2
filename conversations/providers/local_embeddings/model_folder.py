"""The folder of an embeddings model that the operator brings: read and checked, without loading its weights.

    config.json, tokenizer.json, model.safetensors     needed
    1_Pooling/config.json                              how a text's vector is made of its tokens' (else their mean)
    modules.json, sentence_bert_config.json            the modules behind each other; the longest text

It is a sentence-transformer with the architecture of BERT, of which MiniLM, e5 and bge are, or of XLM-RoBERTa.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

NEEDED = ("config.json", "tokenizer.json", "model.safetensors")
ARCHITECTURES = ("bert", "roberta", "xlm-roberta")
ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")
NUMBER_TYPES = ("F32", "F16", "BF16")
PREFIXES = ("", "bert.", "roberta.", "0.auto_model.")
MODULES = ("Transformer", "Pooling", "Normalize")
MOST_HEADER_BYTES = 2**26
MOST_TOKENS = 512
FINGERPRINT_SAMPLES = 64
SAMPLE_BYTES = 4_096
Pooling = Literal["mean", "cls"]


class ModelFolderError(ValueError):
    """A folder can't be used; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor in a safetensors file: its numbers are the bytes *start* to *stop*."""

    number_type: str
    shape: tuple[int, ...]
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """An encoder of texts with its sizes; *tensors* by their names without *prefix*.

    The first token's position is *first_position*. Texts are cut to *most_tokens*.
    """

    path: Path
    layers: int
    heads: int
    dimensions: int
    norm_epsilon: float
    activation: str
    first_position: int
    most_tokens: int
    pooling: Pooling
    tensors: Mapping[str, Tensor]

    @property
    def label(self) -> str:
        """The key that distinguishes its vectors from another model's, also under the same name of a folder."""
        return f"{self.path.name}@{_fingerprint(self.path)}"


def read_model_folder(path: Path) -> ModelFolder:
    """Read and check a folder. Raises `ModelFolderError`."""
    if not path.is_dir():
        raise ModelFolderError(f"{path} is not a folder")
    if lacking := [name for name in NEEDED if not (path / name).is_file()]:
        raise ModelFolderError(f"{path} lacks {' and '.join(lacking)}")
    config = _read_json(path / "config.json")
    _check_architecture(config)
    _check_modules(path)
    tensors = _read_tensors(path / "model.safetensors")
    folder = _model(path, config, _without_prefix(tensors))
    _check_tensors(folder)
    return folder


def _model(path: Path, config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> ModelFolder:
    is_roberta = config["model_type"] != "bert"
    first_position = config.get("pad_token_id", 1) + 1 if is_roberta else 0
    try:
        most_tokens = config["max_position_embeddings"] - first_position
        return ModelFolder(
            path,
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            dimensions=config["hidden_size"],
            norm_epsilon=config.get("layer_norm_eps", 1e-12),
            activation=config.get("hidden_act", "gelu"),
            first_position=first_position,
            most_tokens=min(most_tokens, MOST_TOKENS, _longest_text(path)),
            pooling=_pooling(path),
            tensors=tensors,
        )
    except KeyError as error:
        raise ModelFolderError(f"config.json does not say {error.args[0]}") from error


def _check_architecture(config: Mapping[str, Any]) -> None:
    given = config.get("model_type")
    if given not in ARCHITECTURES:
        raise ModelFolderError(f"its architecture is {given}, and only {', '.join(ARCHITECTURES)} can be run")
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise ModelFolderError(f"its positions are {config['position_embedding_type']}, and only absolute can be run")
    if (activation := config.get("hidden_act", "gelu")) not in ACTIVATIONS:
        raise ModelFolderError(f"its activation is {activation}, and only {', '.join(ACTIVATIONS)} can be run")


def _check_modules(path: Path) -> None:
    if not (path / "modules.json").is_file():
        return
    kinds = [str(module.get("type", "")).rpartition(".")[2] for module in _read_json(path / "modules.json")]
    if others := [kind for kind in kinds if kind not in MODULES]:
        raise ModelFolderError(f"it has the module {others[0]}, and only {', '.join(MODULES)} can be run")


def _pooling(path: Path) -> Pooling:
    if not (path / "1_Pooling" / "config.json").is_file():
        return "mean"
    config = _read_json(path / "1_Pooling" / "config.json")
    chosen = [name.removeprefix("pooling_mode_") for name, value in config.items() if value is True]
    modes = [mode for mode in chosen if mode in ("cls_token", "mean_tokens") or mode.endswith(("_token", "_tokens"))]
    if modes == ["cls_token"]:
        return "cls"
    if modes != ["mean_tokens"]:
        raise ModelFolderError(f"its pooling is {' and '.join(modes) or 'unknown'}, and only mean or cls can be run")
    return "mean"


def _longest_text(path: Path) -> int:
    if not (path / "sentence_bert_config.json").is_file():
        return MOST_TOKENS
    return _read_json(path / "sentence_bert_config.json").get("max_seq_length") or MOST_TOKENS


def _read_tensors(path: Path) -> dict[str, Tensor]:
    """Return what the header of a safetensors file lists: https://github.com/huggingface/safetensors#format."""
    size = path.stat().st_size
    with path.open("rb") as file:
        try:
            (header_bytes,) = struct.unpack("<Q", file.read(8))
            if header_bytes > min(size, MOST_HEADER_BYTES):
                raise ValueError("the header is longer than the file")
            header = json.loads(file.read(header_bytes))
            first = 8 + header_bytes
            return {
                name: Tensor(each["dtype"], tuple(each["shape"]), *(first + end for end in each["data_offsets"]))
                for name, each in header.items()
                if name != "__metadata__"
            }
        except (struct.error, ValueError, TypeError, KeyError, AttributeError) as error:
            raise ModelFolderError(f"{path.name} is no safetensors file, or is not whole") from error


def _without_prefix(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    prefix = next((each for each in PREFIXES if f"{each}{WORDS}" in tensors), "")
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}


WORDS, POSITIONS, TYPES = (f"embeddings.{name}_embeddings.weight" for name in ("word", "position", "token_type"))
NORMS = ("LayerNorm.weight", "LayerNorm.bias")
LAYER = tuple(
    f"{name}.{part}"
    for name in (
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        "attention.output.LayerNorm",
        "intermediate.dense",
        "output.dense",
        "output.LayerNorm",
    )
    for part in ("weight", "bias")
)


def _check_tensors(folder: ModelFolder) -> None:
    """Check that all weights are there, in numbers that can be read, and as many as their shapes say."""
    needed = [WORDS, POSITIONS, TYPES, *(f"embeddings.{name}" for name in NORMS)]
    needed += [f"encoder.layer.{layer}.{name}" for layer in range(folder.layers) for name in LAYER]
    size = (folder.path / "model.safetensors").stat().st_size
    for name in needed:
        tensor = folder.tensors.get(name)
        if tensor is None:
            raise ModelFolderError(f"model.safetensors has no weights {name}")
        if tensor.number_type not in NUMBER_TYPES:
            raise ModelFolderError(f"{name} is in {tensor.number_type}, and only {', '.join(NUMBER_TYPES)} can be read")
        if tensor.stop > size:
            raise ModelFolderError("model.safetensors is not whole")
    if folder.tensors[WORDS].shape[1] != folder.dimensions or folder.dimensions % folder.heads:
        raise ModelFolderError("the sizes in config.json are not those of model.safetensors")


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise ModelFolderError(f"{path.name} can't be read as JSON") from error


def _fingerprint(path: Path) -> str:
    """Return a digest of the small files and of samples of the weights, which are too large to read at a start."""
    digest = hashlib.sha256()
    for name in ("config.json", "1_Pooling/config.json", "tokenizer.json"):
        digest.update((path / name).read_bytes() if (path / name).is_file() else b"")
    weights = path / "model.safetensors"
    size = weights.stat().st_size
    digest.update(str(size).encode())
    with weights.open("rb") as file:
        for sample in range(FINGERPRINT_SAMPLES):
            file.seek(sample * size // FINGERPRINT_SAMPLES)
            digest.update(file.read(SAMPLE_BYTES))
    return digest.hexdigest()[:12]
