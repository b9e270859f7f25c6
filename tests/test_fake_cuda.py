"""Everything runs on a device beside the CPU, with the same numbers, and nothing is left behind."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from test_training import recurrent, small_data, transformer
from torch import Tensor, nn

import d2lmini as d2l
from tools.portability.fake_cuda import FakeCuda, FakeCudaTensor, fake_cuda_device

GPU = fake_cuda_device()
SIZE = (16, 16, 16, 16, [16], 16, 32)  # keys, queries, values, hidden; norm; FFN: in, hidden


def tokens() -> Tensor:
    return torch.tensor([[4, 5, 6, 7], [7, 6, 5, 4]])


def features(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def whole(model: Callable[..., nn.Module]) -> tuple[nn.Module, tuple[Tensor, ...]]:
    _, source_vocab, target_vocab = small_data()
    return model(source_vocab, target_vocab), (tokens(), tokens(), torch.tensor([4, 2]))


LENGTHS = torch.tensor([3, 2])
# Each model, with what its forward takes.
MODELS: dict[str, Callable[[], tuple[nn.Module, tuple[Any, ...]]]] = {
    "AddNorm": lambda: (d2l.AddNorm(16, 0), (features(2, 4, 16), features(2, 4, 16))),
    "AdditiveAttention": lambda: (
        d2l.AdditiveAttention(16, 16, 8, 0),
        (features(2, 1, 16), features(2, 4, 16), features(2, 4, 6), LENGTHS),
    ),
    "ALiBi": lambda: (d2l.ALiBi(4), (5,)),
    "AttentionLayer": lambda: (d2l.AttentionLayer(16), (features(2, 4, 16),)),
    "AttentionLayer, fused": lambda: (d2l.AttentionLayer(16, fused=True), (features(2, 4, 16),)),
    "ConvolutionLayer": lambda: (d2l.ConvolutionLayer(16), (features(2, 4, 16),)),
    "DecoderBlock": lambda: (
        d2l.DecoderBlock(*SIZE, 2, 0, 0),
        (features(2, 4, 16), [features(2, 4, 16), LENGTHS, [None]]),
    ),
    "DotProductAttention": lambda: (
        d2l.DotProductAttention(0),
        (features(2, 4, 16), features(2, 4, 16), features(2, 4, 16), LENGTHS),
    ),
    "EncoderBlock": lambda: (d2l.EncoderBlock(*SIZE, 2, 0), (features(2, 4, 16), LENGTHS)),
    "EncoderDecoder": lambda: whole(transformer),
    "EncoderDecoder, recurrent": lambda: whole(recurrent),
    "EncoderDecoder, recurrent without attention": lambda: (
        d2l.EncoderDecoder(d2l.Seq2SeqEncoder(9, 8, 8, 2), d2l.Seq2SeqDecoder(9, 8, 8, 2)),
        (tokens(), tokens(), LENGTHS),
    ),
    "LanguageModel": lambda: (
        d2l.LanguageModel(9, 16, [d2l.PreNormBlock(16, 4, d2l.SwiGLU(16, 8), d2l.RMSNorm, num_kv_heads=2)]),
        (tokens(),),
    ),
    "LearnedPositionalEncoding": lambda: (d2l.LearnedPositionalEncoding(16, 0), (features(2, 4, 16),)),
    "MaskedSoftmaxCELoss": lambda: (d2l.MaskedSoftmaxCELoss(), (features(2, 4, 9), tokens(), LENGTHS)),
    "MultiHeadAttention": lambda: (
        d2l.MultiHeadAttention(16, 16, 16, 16, 4, 0),
        (*(features(2, 4, 16) for _ in range(3)), LENGTHS),
    ),
    "PositionWiseFFN": lambda: (d2l.PositionWiseFFN(16, 32, 16), (features(2, 4, 16),)),
    "PositionalEncoding": lambda: (d2l.PositionalEncoding(16, 0), (features(2, 4, 16),)),
    "RecurrentLayer": lambda: (d2l.RecurrentLayer(16), (features(2, 4, 16),)),
    "RelativePositionBias": lambda: (d2l.RelativePositionBias(16), (features(2, 4, 16),)),
    "RotaryEmbedding": lambda: (d2l.RotaryEmbedding(16), (features(2, 4, 16),)),
    "Seq2SeqEncoder": lambda: (d2l.Seq2SeqEncoder(9, 8, 8, 2), (tokens(),)),
    "TransformerEncoder": lambda: (d2l.TransformerEncoder(9, *SIZE, 2, 2, 0), (tokens(), LENGTHS)),
}
# of an EncoderDecoder and of a LanguageModel above
PARTS = {
    "Seq2SeqAttentionDecoder",
    "Seq2SeqDecoder",
    "TransformerDecoder",
    "PreNormBlock",
    "RMSNorm",
    "SwiGLU",
}
BASES = {"AttentionDecoder", "Decoder", "Encoder"}


def tensors(result: Any) -> list[Tensor]:
    return [leaf for leaf in torch.utils._pytree.tree_leaves(result) if isinstance(leaf, Tensor)]


def moved(value: Any) -> Any:
    return torch.utils._pytree.tree_map(
        lambda leaf: leaf.to(GPU) if isinstance(leaf, Tensor) else leaf, value
    )


def test_mixing_devices_fails_as_it_does_on_a_gpu() -> None:
    with FakeCuda():
        X = torch.ones(2, 3, device=GPU)
        Y = torch.ones(3, 2)
        for mixed in (lambda: X + Y.T, lambda: X @ Y, lambda: torch.cat([X, X.cpu()])):
            with pytest.raises(RuntimeError, match="same device"):
                mixed()
        assert (X * torch.tensor(2.0)).sum().item() == 12  # one number goes with any device
        X[torch.tensor([0])] = 5
        assert X.tolist() == [[5, 5, 5], [1, 1, 1]] and "gpu" in str(X)
        with pytest.raises(RuntimeError, match="numpy"):
            X.numpy()


def test_every_model_is_tried() -> None:
    exported = {
        name
        for name in d2l.__all__
        if inspect.isclass(value := getattr(d2l, name)) and issubclass(value, nn.Module)
    }
    covered = {name.split(",")[0] for name in MODELS}
    assert exported == covered | PARTS | BASES


@pytest.mark.parametrize("name", MODELS)
def test_model_stays_on_its_device(name: str) -> None:
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    expected = tensors(model(*inputs))
    torch.manual_seed(0)
    model, inputs = MODELS[name]()  # anew: a decoder's state grew
    with FakeCuda():
        results = tensors(model.to(GPU)(*moved(inputs)))
        assert len(results) == len(expected) > 0
        for result, wanted in zip(results, expected, strict=True):
            assert isinstance(result, FakeCudaTensor)
            torch.testing.assert_close(result.cpu(), wanted)
        learning = [result.sum() for result in results if result.requires_grad]
        if learning:
            sum(learning).backward()
            assert all(w.grad is None or w.grad.device == GPU for w in model.parameters())


@pytest.mark.parametrize("model", (transformer, recurrent))
def test_training_and_decoding_stay_on_their_device(model: Any) -> None:
    told = []
    for device in (torch.device("cpu"), GPU):
        with FakeCuda():
            data, *vocabularies = small_data()
            net = model(*vocabularies)
            training = d2l.train_seq2seq(net, data, 0.01, 3, vocabularies[1], device)
            assert all(weights.device == device for weights in net.parameters())
            asked = (net, "he's calm .", *vocabularies, 8, device)
            text, weights = d2l.predict_seq2seq(*asked, True)
            told.append((training.losses, text, d2l.beam_search(*asked, 2), d2l.beam_tree(*asked, 2).nodes))
            assert len(weights) > 0
    (losses, *here), (there, *others) = told
    torch.testing.assert_close(torch.tensor(losses), torch.tensor(there), rtol=1e-3, atol=1e-3)
    assert here[0] == others[0]
