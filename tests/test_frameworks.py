"""The page about NumPy, JAX and Keras: the names in its tables exist, and it says what it needs.

Its cells are executed with all others. What it needs besides is in tests/frameworks.txt.
"""

import importlib
import importlib.util
import re
from functools import reduce
from typing import Any

import numpy as np
import pytest
import torch

import course
import d2lmini as d2l
from book.chapters import path_of, read, source
from d2lmini.language import LANGUAGES, words

MODULES = {
    "d2l": "d2lmini",
    "jax": "jax",
    "jnp": "jax.numpy",
    "keras": "keras",
    "nn": "torch.nn",
    "np": "numpy",
    "ops": "keras.ops",
    "torch": "torch",
}
NAME = re.compile(rf"(?<![\w.])({'|'.join(MODULES)})((?:\.[A-Za-z_]\w*)+)")


def cell(language: str, name: str) -> str:
    cells = read(path_of(language, "frameworks"))["cells"]
    return next(source(cell) for cell in cells if cell["id"] == name)


def tables(language: str) -> list[list[str]]:
    """The rows of both tables, a cell each: the old names, then those of today."""
    text = cell(language, "editions") + "\n" + cell(language, "editions-mxnet")
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]


@pytest.mark.slow  # the pages themselves run always
def test_names_of_today_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    named = {found for _, *today in tables("en") for found in NAME.findall(" ".join(today))}
    assert {module for module, _ in named} == set(MODULES)
    for module, path in named:
        reduce(getattr, path[1:].split("."), importlib.import_module(MODULES[module]))


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_tables_name_the_same_in_each_language(language: str) -> None:
    code = [[re.findall("`[^`]*`", entry) for entry in row] for row in tables(language)]
    assert code == [[re.findall("`[^`]*`", entry) for entry in row] for row in tables("en")]


@pytest.fixture
def keras_on_jax(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    return importlib.import_module("keras")


@pytest.mark.slow
def test_the_mask_is_taken_in_the_shapes_that_the_page_names(keras_on_jax: Any) -> None:
    import jax

    X = np.random.default_rng(0).standard_normal((2, 4, 8), dtype=np.float32)
    valid_lens = np.array([3, 2])
    real = np.arange(4) < valid_lens[:, None]
    layer = keras_on_jax.layers.MultiHeadAttention(2, key_dim=4)
    by_value, by_pair = layer(X, X, value_mask=real), layer(X, X, attention_mask=real[:, None])
    np.testing.assert_allclose(by_value, by_pair, rtol=0, atol=1e-6)
    one_head = X[:, :, None]
    Y = jax.nn.dot_product_attention(one_head, one_head, one_head, mask=real[:, None, None])[:, :, 0]
    reference = d2l.DotProductAttention(dropout=0)(
        *torch.tensor(X).expand(3, -1, -1, -1), torch.tensor(valid_lens)
    )
    np.testing.assert_allclose(Y, reference, rtol=0, atol=1e-6)


def test_opening_the_mask_mends_pytorchs_layer_too() -> None:
    """Zeros over NaN leave NaN in the gradient of each parameter; after opening there is none."""
    X = torch.randn(2, 4, 8)
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    ignored = torch.tensor([[False] * 4, [True] * 4])  # the second sentence is empty
    blind = ignored.all(dim=-1, keepdim=True)
    for mask, spoiled in ((ignored, True), (ignored & ~blind, False)):
        layer.zero_grad()
        Y = torch.where(blind[..., None], torch.tensor(0.0), layer(X, X, X, mask)[0])
        Y.sum().backward()
        assert (Y[1] == 0).all() and Y[0].isfinite().all()
        assert layer.in_proj_weight.grad is not None
        assert layer.in_proj_weight.grad.isnan().any().item() == spoiled


@pytest.mark.slow  # the pages themselves run always
@pytest.mark.parametrize("name", ["Qwen3", "Llama"])
def test_todays_block_is_that_of_transformers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the page's own renaming; one token after the other, with the caches of both, in another size."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    transformers = importlib.import_module("transformers")
    sizes = {"vocab_size": 23, "hidden_size": 96, "intermediate_size": 256, "num_hidden_layers": 3}
    heads = {"num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 16}
    page: dict[str, Any] = {}
    exec(cell("en", "lm-names"), page)
    torch.manual_seed(0)
    qk_norm = d2l.RMSNorm if name == "Qwen3" else None
    blocks = [
        d2l.PreNormBlock(96, 6, d2l.SwiGLU(96, 256), d2l.RMSNorm, num_kv_heads=2, qk_norm=qk_norm)
        for _ in range(3)
    ]
    ours = d2l.LanguageModel(23, 96, blocks, d2l.RMSNorm).eval()
    for weight in ours.parameters():
        torch.nn.init.normal_(weight, 1 if weight.dim() == 1 else 0, 0.2)
    config = getattr(transformers, f"{name}Config")(**sizes, **heads)
    theirs = getattr(transformers, f"{name}ForCausalLM")(config).eval()
    text = torch.randint(23, (2, 12))

    def gap(reorder: Any) -> float:
        theirs.load_state_dict(page["renamed"](ours, reorder))
        state, cache, gaps = None, None, []
        with torch.no_grad():
            for token in text.split(1, dim=1):
                Y, state = ours(token, state)
                answer = theirs(token, past_key_values=cache, use_cache=True)
                cache = answer.past_key_values
                gaps.append((Y - answer.logits).abs().max().item())
        return max(gaps)

    assert gap(page["halves"]) < 1e-5
    assert gap(lambda W: W) > 0.1


@pytest.mark.usefixtures("own_folder")  # English again afterwards
@pytest.mark.parametrize("language", LANGUAGES)
def test_where_a_package_is_missing_a_sentence_says_what_to_type(
    language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "keras" else object())
    for variable in ("KERAS_BACKEND", "JAX_PLATFORMS"):
        monkeypatch.setenv(variable, "")  # the cell sets them: put back afterwards
    code, globals_ = cell(language, "packages"), {"d2l": d2l, "importlib": importlib}
    d2l.use_language(language)
    with pytest.raises(SystemExit, match="%pip install jax keras transformers") as refused:
        exec(code, globals_)
    assert (
        str(refused.value)
        == words(language)["plots"]["This page also needs: %pip install jax keras transformers"]
    )
    assert "keras" not in globals_


def test_only_those_who_execute_notebooks_install_them() -> None:
    assert course.FRAMEWORKS in course.EVERYTHING
    assert not any(course.FRAMEWORKS in needs for needs in (course.READING, course.WORKING, course.PRINTING))
