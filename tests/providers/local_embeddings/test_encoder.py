"""The encoder makes the vectors that a slow and independent forward pass makes, whatever stands beside a text."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

from conversations.providers.local_embeddings.encoder import TextEncoder
from conversations.providers.local_embeddings.model_folder import ModelFolderError, read_model_folder
from tests.support.tiny_model import POSITIONS, slow_vector, token_numbers, write_safetensors, write_tiny_model

TEXTS = ["The night train leaves Bergen at ten", "Ada waits", "", "my sister " * 20]


def encoder_of(folder):
    return TextEncoder(read_model_folder(folder))


@pytest.mark.parametrize("pooling", ["mean_tokens", "cls_token"])
def test_its_vectors_are_those_of_the_slow_forward_pass(tmp_path, pooling):
    tensors = write_tiny_model(tmp_path / "tiny", pooling=pooling)
    tokens = list(map(token_numbers, TEXTS))
    expected = [slow_vector(tensors, each, pooling=pooling) for each in tokens]
    rows = encoder_of(tmp_path / "tiny").encode(tokens)
    assert np.allclose(rows, expected, atol=2e-5)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.abs(rows[0] - rows[1]).max() > 0.05


def test_a_vector_does_not_hang_on_the_texts_beside_it_and_is_the_same_each_time(tmp_path):
    write_tiny_model(tmp_path / "tiny")
    encoder, tokens = encoder_of(tmp_path / "tiny"), list(map(token_numbers, TEXTS))
    together = encoder.encode(tokens)
    assert np.array_equal(together, encoder_of(tmp_path / "tiny").encode(tokens))
    assert np.allclose(together, [encoder.encode([each])[0] for each in tokens], atol=1e-5)


@pytest.mark.parametrize(("number_type", "tolerance"), [("F16", 5e-3), ("BF16", 5e-2)])
def test_weights_in_half_precision_give_nearly_the_same(tmp_path, number_type, tolerance):
    tensors = write_tiny_model(tmp_path / "tiny")
    tokens = list(map(token_numbers, TEXTS))
    exact = encoder_of(tmp_path / "tiny").encode(tokens)
    write_half(tmp_path / "tiny" / "model.safetensors", tensors, number_type)
    assert np.allclose(encoder_of(tmp_path / "tiny").encode(tokens), exact, atol=tolerance)


def write_half(path, tensors, number_type):
    """Write the same tensors in two bytes a number."""
    write_safetensors(path, tensors)
    content = path.read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + size])
    for each in header.values():
        each["dtype"], each["data_offsets"] = number_type, [offset // 2 for offset in each["data_offsets"]]
    numbers = np.frombuffer(content[8 + size :], dtype="<f4")
    half = numbers.astype("<f2") if number_type == "F16" else (numbers.view("<u4") >> 16).astype("<u2")
    written = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(written)) + written + half.tobytes())


def test_names_may_have_the_prefix_of_a_model_inside_another(tmp_path):
    tensors = write_tiny_model(tmp_path / "tiny")
    plain = encoder_of(tmp_path / "tiny").encode([token_numbers(TEXTS[0])])
    prefixed = {f"bert.{name}": values for name, values in tensors.items()}
    write_safetensors(tmp_path / "tiny" / "model.safetensors", prefixed)
    assert np.array_equal(encoder_of(tmp_path / "tiny").encode([token_numbers(TEXTS[0])]), plain)


def test_positions_of_roberta_begin_behind_the_padding(tmp_path):
    tensors = write_tiny_model(tmp_path / "tiny", model_type="xlm-roberta", pad_token_id=1)
    folder = read_model_folder(tmp_path / "tiny")
    assert (folder.first_position, folder.most_tokens) == (2, POSITIONS - 2)
    shifted = tensors | {
        "embeddings.position_embeddings.weight": tensors["embeddings.position_embeddings.weight"][2:],
    }
    tokens = token_numbers(TEXTS[0])
    assert np.allclose(TextEncoder(folder).encode([tokens]), [slow_vector(shifted, tokens)], atol=2e-5)


def test_the_label_changes_with_the_weights_and_not_with_the_place(tmp_path):
    for name, seed in (("a/tiny", 1), ("b/tiny", 1), ("c/tiny", 2)):
        write_tiny_model(tmp_path / name, seed=seed)
    first, copied, other = (read_model_folder(tmp_path / name / "tiny").label for name in "abc")
    assert first == copied != other
    assert first.startswith("tiny@")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model_type": "mpnet"}, "its architecture is mpnet, and only bert, roberta, xlm-roberta can be run"),
        ({"hidden_act": "silu"}, "its activation is silu"),
        ({"position_embedding_type": "relative_key"}, "its positions are relative_key"),
        ({"num_hidden_layers": 3}, "model.safetensors has no weights encoder.layer.2.attention.self.query.weight"),
        ({"hidden_size": 64}, "the sizes in config.json are not those of model.safetensors"),
    ],
)
def test_what_can_not_be_run_is_named(tmp_path, config, message):
    write_tiny_model(tmp_path / "tiny", **config)
    with pytest.raises(ModelFolderError, match=message):
        read_model_folder(tmp_path / "tiny")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tokenizer.json", None, "tiny lacks tokenizer.json"),
        ("config.json", "{", "config.json can't be read as JSON"),
        ("config.json", '{"model_type": "bert"}', "config.json does not say max_position_embeddings"),
        ("model.safetensors", "short", "model.safetensors is no safetensors file"),
        ("modules.json", '[{"type": "sentence_transformers.models.Dense"}]', "it has the module Dense"),
        ("1_Pooling/config.json", '{"pooling_mode_max_tokens": true}', "its pooling is max_tokens"),
    ],
)
def test_what_is_missing_or_damaged_is_named(tmp_path, name, content, message):
    write_tiny_model(tmp_path / "tiny")
    path = tmp_path / "tiny" / name
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(ModelFolderError, match=message):
        read_model_folder(tmp_path / "tiny")


def test_weights_that_are_cut_off_are_named(tmp_path):
    write_tiny_model(tmp_path / "tiny")
    path = tmp_path / "tiny" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ModelFolderError, match="not whole"):
        read_model_folder(tmp_path / "tiny")
