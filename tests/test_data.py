"""Sentence pairs to tensors."""

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

import d2lmini as d2l

# -- tokens ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        ("I'm OK, thanks.", "i'm|ok|,|thanks|."),
        ("I’m home", "i'm|home"),
        ("Va\u202f!", "va|!"),
        ("Arrête-toi !", "arrête-toi|!"),
        ("Đó là của chúng tôi.", "đó|là|của|chúng|tôi|."),
        (
            "Tie\u0302\u0301ng Vie\u0323\u0302t",
            "tiếng|việt",
        ),  # letters and accents apart, as some keyboards write
        ("我用 PyTorch 2.6。", "我|用|pytorch|2.6|。"),
        ("“猫”和dog", "“|猫|”|和|dog"),
        ("猫 和 狗", "猫|和|狗"),
        ("<bos> go . <eos>", "<bos>|go|.|<eos>"),
        ("Hm...", "hm|.|.|."),
        ("", ""),
    ],
)
def test_what_a_token_is(sentence, tokens):
    assert d2l.split_tokens(sentence) == [token for token in tokens.split("|") if token]


@given(
    st.text(alphabet=st.sampled_from("aé đ'-.,!?…5 \u0301我。，<>_İſ\u00a0") | st.characters(codec="utf-8"))
)
def test_splitting_what_is_split_changes_nothing(sentence):
    tokens = d2l.split_tokens(sentence)
    assert d2l.split_tokens(" ".join(tokens)) == tokens
    assert d2l.split_tokens(d2l.join_tokens(tokens)) == tokens
    assert not any(token.isspace() for token in tokens)


def test_preprocessing_is_that_of_d2l_on_its_own_example():
    raw = "Go.\tVa !\nHi.\tSalut !\nRun!\tCours\u202f!\nWho?\tQui ?\nWow!\tÇa alors\u202f!\n"
    wanted = "go .\tva !\nhi .\tsalut !\nrun !\tcours !\nwho ?\tqui ?\nwow !\tça alors !\n"
    assert d2l.preprocess_nmt(raw) == wanted
    source, target = d2l.tokenize_nmt(wanted, 2)
    assert source == [["go", "."], ["hi", "."]] and target == [["va", "!"], ["salut", "!"]]
    assert len(d2l.tokenize_nmt(wanted)[0]) == 5


def test_sentences_are_strings():
    with pytest.raises(TypeError, match="sentence: got list"):
        d2l.split_tokens(["go"])


# -- vocabulary and arrays ---------------------------------------------------------------------------------


def test_vocabulary():
    vocab = d2l.Vocab(
        [["b", "a", "a"], ["c", "a", "b", "<pad>", "<pad>"]], min_freq=2, reserved_tokens=["<pad>", "<bos>"]
    )
    assert vocab.idx_to_token == ["<unk>", "<pad>", "<bos>", "a", "b"]
    assert vocab[["a", ["c", "b"]]] == [3, [0, 4]] and vocab.unk == 0 and len(vocab) == 5
    assert vocab.to_tokens(torch.tensor([[3, 4]])) == [["a", "b"]]
    assert vocab.token_freqs[:2] == [("a", 3), ("b", 2)]
    with pytest.raises(IndexError, match="indices: got 5"):
        vocab.to_tokens(5)
    assert len(d2l.Vocab()) == 1
    repeated = d2l.Vocab(["a"], reserved_tokens=["<unk>", "<pad>", "<pad>", "a"])
    assert repeated.idx_to_token == ["<unk>", "<pad>", "a"]
    assert [repeated[token] for token in repeated.idx_to_token] == [0, 1, 2]


@pytest.mark.parametrize("number", [1.5, "1", None, torch.tensor([0.0, 1.0])])
def test_the_number_of_a_token_is_an_integer(number):
    with pytest.raises(TypeError, match=r"indices: got .*; the number of a token is an integer"):
        d2l.Vocab(["a"]).to_tokens(number)
    assert d2l.Vocab(["a"]).to_tokens(np.int64(1)) == "a"


def test_arrays_are_cut_and_filled_and_know_their_lengths():
    vocab = d2l.Vocab([["a", "b", "c"]], reserved_tokens=["<pad>", "<bos>", "<eos>"])
    array, valid_len = d2l.build_array_nmt([["a"], ["a", "b", "c"]], vocab, 3)
    assert array.tolist() == [[4, 3, 1], [4, 5, 6]]
    assert valid_len.tolist() == [2, 3]
    assert d2l.build_array_nmt([], vocab, 3)[0].shape == (0, 3)
    with pytest.raises(ValueError, match="num_steps: got 0"):
        d2l.build_array_nmt([["a"]], vocab, 0)
    for reserved, lacks in (([], "<eos>"), (["<eos>"], "<pad>")):
        with pytest.raises(ValueError, match=f"vocab: got a vocabulary without {lacks}; .*reserved_tokens="):
            d2l.build_array_nmt([["a"]], d2l.Vocab(["a"], reserved_tokens=reserved), 3)


def test_batches_are_shuffled_reproducibly_and_hold_every_row_once():
    rows = torch.arange(10)
    torch.manual_seed(3)
    first = [X.tolist() for X, _ in d2l.load_array((rows, rows), 4)]
    torch.manual_seed(3)
    assert first == [X.tolist() for X, _ in d2l.load_array((rows, rows), 4)]
    order = [row for batch in first for row in batch]
    assert sorted(order) == list(range(10)) != order
    assert next(iter(d2l.load_array((rows,), 4, is_train=False)))[0].tolist() == [0, 1, 2, 3]
    assert len(d2l.load_array((rows,), 4)) == 3
    with pytest.raises(ValueError, match="batch_size: got 0"):
        d2l.load_array((rows,), 0)


# -- the course's sentences --------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ("fr", "vi", "zh"))
@pytest.mark.parametrize("reverse", (False, True))
def test_pairs_in_every_direction(target, reverse):
    batches, source_vocab, target_vocab = d2l.load_data_nmt(64, 10, target=target, reverse=reverse)
    assert len(batches.dataset) == 600
    X, X_valid_len, Y, Y_valid_len = next(iter(batches))
    assert X.shape == Y.shape == (64, 10) and X_valid_len.shape == Y_valid_len.shape == (64,)
    assert (X.gather(1, X_valid_len[:, None] - 1) == source_vocab["<eos>"]).all()
    assert target_vocab[["<unk>", "<pad>", "<bos>", "<eos>"]] == [0, 1, 2, 3]
    for row, n in zip(Y, Y_valid_len, strict=True):
        assert (row[n:] == target_vocab["<pad>"]).all() and (row[:n] != target_vocab["<pad>"]).all()
    english = source_vocab if not reverse else target_vocab
    assert "the" in english.token_to_idx


def test_a_sample_is_fair_seeded_and_holds_what_d2l_translates():
    pairs = [line.split("\t") for line in d2l.read_data_nmt("zh").split("\n")]
    rows = d2l.sample_rows(600, 0)
    drawn = [pairs[row] for row in rows]
    assert rows == d2l.sample_rows(600, 0) != d2l.sample_rows(600, 1)
    for seed in range(3):
        chosen = d2l.sample_rows(600, seed)
        assert {6, 98, 227, 352} < set(chosen) <= set(range(3513)) and len(chosen) == 600
        assert abs(sum(chosen) / 600 - 3512 / 2) < 4 * 3513 / (12 * 600) ** 0.5  # the whole file, evenly
    lengths = [len(d2l.split_tokens(source)) for source, _ in drawn]
    assert max(lengths) >= 7  # the first 600 have 4 at most
    assert d2l.sample_rows(4, 0) == [6, 98, 227, 352] and d2l.sample_rows(3513, 0) == list(range(3513))

    batches, source_vocab, target_vocab = d2l.load_data_nmt(600, 10, 600, target="zh", sample=0)
    texts = [[d2l.split_tokens(pair[i]) for pair in drawn] for i in (0, 1)]
    for tokens, vocab, tensor in zip(texts, (source_vocab, target_vocab), (0, 2), strict=True):
        assert torch.equal(batches.dataset.tensors[tensor], d2l.build_array_nmt(tokens, vocab, 10)[0])
        assert vocab.idx_to_token == d2l.Vocab(tokens, 2, ["<pad>", "<bos>", "<eos>"]).idx_to_token
    back, source_vocab, _ = d2l.load_data_nmt(600, 10, 600, target="zh", reverse=True, sample=0)
    assert torch.equal(back.dataset.tensors[0], batches.dataset.tensors[2])
    assert source_vocab.idx_to_token == target_vocab.idx_to_token


def test_without_a_seed_the_first_pairs_are_taken_as_in_d2l():
    batches, source_vocab, _ = d2l.load_data_nmt(64, 10, 600)
    first = [d2l.split_tokens(line.split("\t")[0]) for line in d2l.read_data_nmt().split("\n")[:600]]
    assert torch.equal(batches.dataset.tensors[0], d2l.build_array_nmt(first, source_vocab, 10)[0])


@pytest.mark.parametrize("number", [3, 3514])
def test_a_sample_has_room_for_the_four_and_no_more_than_all(number):
    with pytest.raises(ValueError, match=f"num_examples: got {number}; a sample has 4 to 3513 pairs"):
        d2l.load_data_nmt(2, 5, number, sample=0)


def test_held_out_sentences_are_new_and_their_words_are_not():
    for target in ("fr", "vi", "zh"):
        held_out = d2l.held_out_nmt(target)
        trained = {line.split("\t")[0] for line in d2l.read_data_nmt(target).split("\n")}
        assert len(held_out) >= 50
        assert not trained & {source for source, _ in held_out}
        assert any(len(references) > 1 for _, references in held_out)
        words = d2l.Vocab(d2l.tokenize(trained))
        assert all(word in words.token_to_idx for source, _ in held_out for word in d2l.split_tokens(source))
        back = d2l.held_out_nmt(target, reverse=True)
        assert {source for _, sources in back for source in sources} == {source for source, _ in held_out}


@pytest.mark.parametrize("target", ("fr", "vi", "zh"))
def test_every_direction_has_its_99_first_wordings(target):
    forward, back = d2l.held_out_nmt(target), d2l.held_out_nmt(target, reverse=True, first=True)
    assert d2l.held_out_nmt(target, first=True) == forward and len(forward) == len(back) == 99
    assert [answers[0] for _, answers in forward] == [source for source, _ in back]
    assert all(pair in d2l.held_out_nmt(target, reverse=True) for pair in back)


def test_sentences_with_a_word_missing_on_either_side_are_set_apart():
    source, target = d2l.Vocab([["a", "b"]]), d2l.Vocab([["x", "y"]])
    known = [("a b", ["z", "x y"]), ("b", ["y"])]
    unknown = [("a c", ["x"]), ("a", ["z", "x z"]), ("<unk>!", ["x"])]
    assert d2l.split_known([*known, *unknown], source, target) == (known, unknown)


def test_choices_are_named():
    with pytest.raises(ValueError, match="target: got 'de'; choose one of 'fr', 'vi', 'zh'"):
        d2l.load_data_nmt(2, 5, target="de")
    with pytest.raises(ValueError, match="num_examples: got 0"):
        d2l.load_data_nmt(2, 5, 0)
