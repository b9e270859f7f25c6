"""Sentence pairs to tensors, and files that come over a network that breaks."""

import errno
import hashlib
import io
import platform
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

import d2lmini as d2l
from d2lmini import data
from d2lmini.download import cache_folder, fetch

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


def test_choices_are_named():
    with pytest.raises(ValueError, match="target: got 'de'; choose one of 'fr', 'vi', 'zh'"):
        d2l.load_data_nmt(2, 5, target="de")
    with pytest.raises(ValueError, match="origin: got 'web'"):
        d2l.read_data_nmt(origin="web")
    with pytest.raises(ValueError, match="num_examples: got 0"):
        d2l.load_data_nmt(2, 5, 0)


# -- files as they are -------------------------------------------------------------------------------------

REAL = (
    "\ufeffHi.\t嗨。\tCC-BY 2.0 (France) Attribution: tatoeba.org #538123 (CM) & #891077 (M)\r\n".encode()
    + b"I make \x80100 a day.\tbroken\r\n"
    + "Run!\t跑！\r\nRun!\t快跑！\nno tab here\n\nI try.\t让我来。".encode()
)


def test_a_file_with_attributions_crlf_and_a_broken_line(tmp_path, capsys):
    path = tmp_path / "cmn.txt"
    path.write_bytes(REAL)
    text = d2l.read_data_nmt("zh", origin="tatoeba", path=path)
    assert text == "Hi.\t嗨。\nRun!\t跑！\nRun!\t快跑！\nI try.\t让我来。"
    assert "left out 2 of 6 lines" in capsys.readouterr().out
    held_out = d2l.held_out_nmt("zh", origin="tatoeba", path=path, num_examples=1)
    assert held_out == [("Run!", ["跑！", "快跑！"]), ("I try.", ["让我来。"])]
    assert d2l.held_out_nmt("zh", origin="tatoeba", path=path, num_examples=2) == [("I try.", ["让我来。"])]
    _, source_vocab, target_vocab = d2l.load_data_nmt(
        2, 5, target="zh", origin="tatoeba", path=path, min_freq=1
    )
    assert source_vocab["run"] and target_vocab["跑"]


def test_a_zip_and_what_is_no_list_of_pairs(tmp_path):
    path = tmp_path / "cmn-eng.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_about.txt", "about")
        archive.writestr("cmn.txt", REAL)
    assert d2l.read_data_nmt("zh", origin="tatoeba", path=path).startswith("Hi.\t嗨。")
    with pytest.raises(ValueError, match=r"holds no vie.txt, but _about.txt, cmn.txt"):
        d2l.read_data_nmt("vi", origin="tatoeba", path=path)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(ValueError, match="has more than 100 bytes"):
        patch.setattr(data, "_MOST_BYTES", 100)
        d2l.read_data_nmt("zh", origin="tatoeba", path=path)
    page = tmp_path / "page.txt"
    page.write_text("<html>\n<body>Not found</body>\n</html>")
    with pytest.raises(ValueError, match="0 sentence pairs"):
        d2l.read_data_nmt("vi", origin="tatoeba", path=page)


# -- over a network ----------------------------------------------------------------------------------------


class Server(ThreadingHTTPServer):
    """Serves `content`; breaks off after `break_after` bytes of an answer, if set."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.break_after, self.ranges, self.asked = b"", None, True, []
        self.status, self.says_length = 200, True
        self.url = f"http://127.0.0.1:{self.server_address[1]}/pairs.zip"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, start = self.server, 0
        wanted = self.headers.get("Range")
        server.asked.append(wanted)
        if wanted and server.ranges:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            if start >= len(server.content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(server.content)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206)
            self.send_header(
                "Content-Range", f"bytes {start}-{len(server.content) - 1}/{len(server.content)}"
            )
        else:
            self.send_response(server.status)
        body = server.content[start:]
        if server.says_length:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: server.break_after])

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def zipped(pairs):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("vie.txt", "\n".join(f"Sentence {i}.\tCâu {i}." for i in range(pairs)))
    return buffer.getvalue()


def test_a_broken_download_is_taken_up_where_it_ended(server, tmp_path):
    server.content, server.break_after = bytes(range(256)) * 1000, 100_000
    wanted = tmp_path / "new folder" / "pairs.zip"
    sha1 = hashlib.sha1(server.content).hexdigest()
    with pytest.raises(ConnectionError, match=r"pairs.zip.*try again to get the rest"):
        fetch(server.url, wanted, sha1=sha1)
    assert not wanted.exists()
    server.break_after = None
    assert fetch(server.url, wanted, sha1=sha1).read_bytes() == server.content
    assert server.asked == [None, "bytes=100000-"]
    assert [path.name for path in wanted.parent.iterdir()] == ["pairs.zip"]
    fetch(server.url, wanted, sha1=sha1)
    assert len(server.asked) == 2, "what is there is not fetched again"


def test_a_server_without_ranges_starts_over(server, tmp_path):
    server.content, server.ranges = b"0123456789", False
    (tmp_path / "x.part").write_bytes(b"0123")
    assert fetch(server.url, tmp_path / "x").read_bytes() == b"0123456789"


@pytest.mark.parametrize(("left", "asked"), [(b"0123456789", 1), (b"0123456789 and more", 2)])
def test_a_part_that_is_complete_or_too_long(server, tmp_path, left, asked):
    server.content = b"0123456789"
    (tmp_path / "x.part").write_bytes(left)
    assert fetch(server.url, tmp_path / "x").read_bytes() == b"0123456789"
    assert len(server.asked) == asked


def test_a_wrong_file_is_refused_and_forgotten(server, tmp_path):
    server.content = b"<html>an error page</html>"
    with pytest.raises(ValueError, match="its checksum is"):
        fetch(server.url, tmp_path / "x", sha1="0" * 40)
    with pytest.raises(ValueError, match="at most 5 are taken"):
        fetch(server.url, tmp_path / "x", largest=5)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("says_length", [True, False])
@pytest.mark.parametrize("left", [b"", b"0123"])
def test_a_file_that_is_too_large_leaves_nothing_behind(server, tmp_path, says_length, left):
    server.content, server.says_length = bytes(300_000), says_length
    if left:
        (tmp_path / "x.part").write_bytes(left)
    with pytest.raises(ValueError, match=r"200000 (bytes, the most that )?are taken"):
        fetch(server.url, tmp_path / "x", largest=200_000)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_a_full_disk_is_no_question_of_the_network(server, tmp_path):
    server.content = bytes(100_000)
    (tmp_path / "x.part").symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"cannot write what comes from .*Make room.*x\.part") as refusal:
        fetch(server.url, tmp_path / "x")
    assert refusal.value.errno == errno.ENOSPC and "online" not in str(refusal.value)


def test_a_file_that_is_not_there_is_no_question_of_the_network(server, tmp_path):
    server.status, server.content = 404, b"<html>no such page</html>"
    with pytest.raises(ConnectionError, match="the host answers 404 Not Found") as refusal:
        fetch(server.url, tmp_path / "x")
    assert "online" not in str(refusal.value) and "origin" not in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


def test_without_a_network_the_message_says_what_to_do(tmp_path, monkeypatch):
    nobody = "http://127.0.0.1:9/x.zip"
    with pytest.raises(ConnectionError, match="Is this computer online") as refusal:
        fetch(nobody, tmp_path / "x")
    assert "origin" not in str(refusal.value)
    monkeypatch.setitem(data._TATOEBA, "vi", ("vie.txt", nobody, None))
    with pytest.raises(ConnectionError, match=r"Is this computer online.*origin='course'"):
        d2l.read_data_nmt("vi", origin="tatoeba", path=tmp_path)


def test_files_are_kept_where_the_system_keeps_its_caches(tmp_path, monkeypatch):
    for variable in ("LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    assert cache_folder() == Path.home() / ".cache" / "d2lmini"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "d2lmini"
    monkeypatch.setattr(platform, "system", lambda: "Windows")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache_folder() == tmp_path / "local" / "d2lmini"


@pytest.mark.parametrize("content", [zipped(5), b"<html>an error page</html>" * 100, zipped(2000)[:-30]])
def test_a_changing_source_is_checked_for_what_it_holds(server, tmp_path, monkeypatch, content):
    monkeypatch.setitem(data._TATOEBA, "vi", ("vie.txt", server.url, None))
    server.content = content
    with pytest.raises(ValueError, match="is not the file wanted"):
        d2l.read_data_nmt("vi", origin="tatoeba", path=tmp_path)
    assert list(tmp_path.iterdir()) == []
    server.content = zipped(2000)
    assert d2l.read_data_nmt("vi", origin="tatoeba", path=tmp_path).count("\n") == 1999
