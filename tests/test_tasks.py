"""The tasks of code exercises: right functions of an unusual style pass, and frequent slips have a name."""

from collections.abc import Callable
from typing import Any

import pytest

import d2lmini as d2l
from d2lmini.language import LANGUAGES
from d2lmini.notebook import tasks
from d2lmini.notebook.content import exercise_content, plain

pytestmark = pytest.mark.usefixtures("own_folder")

# what the first cell of a chapter imports; each function is called f
HEAD = "import math, torch\nfrom collections import Counter\nfrom torch import nn\nF = nn.functional\n"
UNUSUAL = {
    "self-attention/code-scaled-attention": (
        """
def f(Q, K, V):
    s = torch.einsum("...nd,...md->...nm", Q, K).div(math.sqrt(K.size(-1))).exp()
    w = s / s.sum(-1, True)
    return w.matmul(V), w
""",
        """
def f(Q, K, V):
    w = F.softmax(Q.double() @ K.double().mT * Q.shape[-1] ** -0.5, -1)
    return [w @ V.double(), w]
""",
        """
def f(Q, K, V):
    if Q.dim() > 2:
        return tuple(map(torch.stack, zip(*map(f, Q, K, V))))
    w = torch.stack([(K @ q / len(q) ** 0.5).softmax(0) for q in Q])
    return w @ V, w
""",
    ),
    "self-attention/design-query": (
        """
def f(X):
    return [[0, 0], [1, 0]]
""",
        """
def f(X):
    return torch.outer(X[4], X[0] - 0.3 * X[3]).double()
""",
        """
def f(X):
    return nn.Parameter(torch.tensor([[7., -7.], [3., -2.]]))
""",
    ),
    "multi-head-attention/code-attention": (
        """
def f(Q, K, V, mask=None):
    e = (Q @ K.mT / Q.shape[-1] ** 0.5).exp()
    e = e if mask is None else e * mask
    w = e / e.sum(-1, keepdim=True).clamp(min=1e-9)
    return w @ V, w
""",
        """
def f(Q, K, V, mask=None):
    s = Q @ K.mT / Q.shape[-1] ** 0.5
    s = s if mask is None else torch.where(mask, s, -torch.inf)
    w = s.softmax(-1).nan_to_num()
    return w @ V, w
""",
        """
def f(Q, K, V, mask=None):
    s = Q @ K.mT / Q.shape[-1] ** 0.5
    m = torch.ones_like(s, dtype=bool) if mask is None else mask.expand(s.shape)
    w = (s + (m.double() - 1) * 1e9).softmax(-1) * m.any(-1, True)
    return w.float() @ V, w
""",
    ),
    "multi-head-attention/code-split-heads": (
        """
def f(X, h):
    return torch.cat([x.unflatten(-1, (h, -1)).transpose(0, 1) for x in X])
""",
        """
def f(X, h):
    return torch.stack(X.chunk(h, -1), 1).flatten(0, 1)
""",
        """
def f(X, h):
    return torch.stack([p for x in X for p in x.split(x.shape[-1] // h, -1)])
""",
    ),
    "complexity/code-path-lengths": (
        """
def f(n, k):
    return [[max(1, -(-abs(i - j) // (k // 2))) for j in range(n)] for i in range(n)]
""",
        """
def f(n, k):
    see = (torch.cdist(*[torch.arange(n).float()[:, None]] * 2) <= k // 2).double()
    now, layers = see, torch.ones(n, n)
    for _ in range(n):
        layers = layers + (now == 0)
        now = now @ see
    return layers
""",
        """
def f(n, k):
    p = torch.arange(n)
    d = (p.view(1, -1) - p.view(-1, 1)).abs()
    return torch.maximum((2 * d + k - 2) // (k - 1), torch.tensor(1))
""",
    ),
    "cost-in-practice/code-online-softmax": (
        """
def f(a, s, x, b, t, y):
    m = torch.stack([a, b]).amax(0)
    p, q = (a - m).exp(), (b - m).exp()
    return [m, p * s + q * t, p * x + q * y]
""",
        """
def f(a, s, x, b, t, y):
    m = torch.where(a > b, a, b)
    p, q = math.e ** (a - m).double(), math.e ** (b - m).double()
    return m, s * p + t * q, x * p + y * q
""",
        """
def f(a, s, x, b, t, y):
    both = torch.cat([a, b], 1)
    m = both.max(1, True)[0]
    p = (both - m).exp()
    total = (p * torch.cat([s, t], 1)).sum(1, True)
    return m, total, torch.einsum("nk,knd->nd", p, torch.stack([x, y]))
""",
    ),
    "writing/code-cached-step": (
        """
def f(x, K, V, W_q, W_k, W_v):
    g, t, w = K.shape
    K = torch.cat([K, (x @ W_k).reshape(g, 1, w)], 1)
    V = torch.cat([V, (x @ W_v).reshape(g, 1, w)], 1)
    Q = (x @ W_q).reshape(-1, 1, w)
    copies = [X.repeat_interleave(len(Q) // g, 0) for X in (K, V)]
    return F.scaled_dot_product_attention(Q, *copies)[:, 0], K, V
""",
        """
def f(x, K, V, W_q, W_k, W_v):
    g, t, w = K.shape
    q, k, v = (x[0].double() @ W.double() for W in (W_q, W_k, W_v))
    K = torch.stack([torch.vstack([K[s].double(), k[s * w : s * w + w]]) for s in range(g)])
    V = torch.stack([torch.vstack([V[s].double(), v[s * w : s * w + w]]) for s in range(g)])
    h, rows = len(q) // w, []
    for i in range(h):
        s = i // (h // g)
        p = (K[s] @ q[i * w : i * w + w] / w**0.5).exp()
        rows.append(p @ V[s] / p.sum())
    return torch.stack(rows), K, V
""",
        """
def f(x, K, V, W_q, W_k, W_v):
    g, t, w = K.shape
    K, V = (torch.cat([C, (x @ W).unflatten(1, (g, w)).transpose(0, 1)], 1) for C, W in ((K, W_k), (V, W_v)))
    Q = (x @ W_q).unflatten(1, (g, -1, w))[0]
    p = torch.einsum("gqw,gtw->gqt", Q, K).div(w**0.5).softmax(2)
    return torch.einsum("gqt,gtw->gqw", p, V).flatten(0, 1), K, V
""",
    ),
    "long-sequences/code-linear-attention": (
        """
def f(Q, K, V):
    Q, K = F.elu(Q) + 1, F.elu(K) + 1
    both = torch.cat([V, torch.ones(len(V), 1)], 1)
    o = Q @ (K.T @ both)
    return o[:, :-1] / o[:, -1:]
""",
        """
def f(Q, K, V):
    p = lambda x: torch.where(x > 0, x + 1, x.exp())
    S = (p(K)[:, :, None] * V[:, None, :]).sum(0)
    return p(Q) @ S / (p(Q) * p(K).sum(0)).sum(1, True)
""",
        """
def f(Q, K, V):
    Q, K = F.elu(Q.double()) + 1, F.elu(K.double()) + 1
    S = z = 0
    for k, v in zip(K, V.double()):
        S, z = S + torch.outer(k, v), z + k
    return torch.stack([q @ S / (q @ z) for q in Q])
""",
    ),
    "long-sequences/code-local-mask": (
        """
def f(n, r):
    m = torch.ones(n, n, dtype=torch.bool)
    return m.tril(r // 2) & m.triu(-(r // 2))
""",
        """
def f(n, r):
    return [[abs(i - j) <= r // 2 for j in range(n)] for i in range(n)]
""",
        """
def f(n, r):
    m = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        m[i, max(0, i - r // 2) : i + r // 2 + 1] = True
    return m
""",
    ),
    "positional-encoding/code-sinusoids": (
        """
def f(n, d):
    def entry(i, c):
        return (math.cos if c % 2 else math.sin)(i / 10000 ** (c // 2 * 2 / d))
    return [[entry(i, c) for c in range(d)] for i in range(n)]
""",
        """
def f(n, d):
    j = torch.arange((d + 1) // 2, dtype=torch.float64)
    z = torch.exp(1j * torch.arange(n)[:, None] * torch.exp(-2 * j / d * math.log(10000)))
    return torch.stack([z.imag, z.real], -1).flatten(1)[:, :d]
""",
        """
def f(n, d):
    c = torch.arange(d)
    a = torch.outer(torch.arange(n).double(), 1e4 ** (-(c - c % 2) / d))
    return torch.sin(a + c % 2 * math.pi / 2)
""",
    ),
    "relative-positions/code-rotate": (
        """
def f(X, i):
    w = 1e4 ** (-torch.arange(0, X.shape[1], 2) / X.shape[1])
    z = torch.view_as_complex(X.unflatten(1, (-1, 2)).contiguous())
    return torch.view_as_real(z * torch.exp(1j * torch.outer(i.float(), w))).flatten(1)
""",
        """
def f(X, i):
    Y, d = X.clone(), X.shape[1]
    for t in range(len(X)):
        for c in range(0, d, 2):
            p = float(i[t]) * 1e4 ** (-c / d)
            a, b = X[t, c].item(), X[t, c + 1].item()
            Y[t, c] = a * math.cos(p) - b * math.sin(p)
            Y[t, c + 1] = a * math.sin(p) + b * math.cos(p)
    return Y
""",
        """
def f(X, i):
    d = X.shape[1]
    p = i.double()[:, None] / 1e4 ** (torch.arange(0, d, 2) / d)
    p = p.repeat_interleave(2, 1)
    side = torch.stack([-X[:, 1::2], X[:, ::2]], -1).flatten(1)
    return X * p.cos() + side * p.sin()
""",
    ),
    "relative-positions/code-alibi": (
        """
def f(n, H):
    rows = [[[-abs(i - j) / 2 ** (8 * h / H) for j in range(n)] for i in range(n)] for h in range(1, H + 1)]
    return torch.tensor(rows)
""",
        """
def f(n, H):
    i = torch.arange(n, dtype=torch.float64)
    slope = 0.5 ** (torch.arange(1.0, H + 1).double() * 8 / H)
    return torch.einsum("h,ij->hij", -slope, torch.cdist(i[:, None], i[:, None]))
""",
        """
def f(n, H):
    step = 2 ** (-8 / H)
    i = torch.arange(n)
    far = torch.maximum(i, i[:, None]) - torch.minimum(i, i[:, None])
    return torch.stack([far * -(step ** (h + 1)) for h in range(H)])
""",
    ),
    "subwords/code-merge": (
        """
def f(t, n):
    t = t.tolist()
    c = Counter(zip(t[:-1], t[1:]))
    p = sorted(c, key=lambda p: (c[p] * -1, p[0], p[1]))[0]
    i, m = 0, []
    while i < len(t):
        hit = tuple(t[i : i + 2]) == p
        m += [n] if hit else [t[i]]
        i += 2 if hit else 1
    return torch.tensor(p), torch.tensor(m)
""",
        """
def f(t, n):
    p = torch.stack([t[:-1], t[1:]], 1)
    pairs, counts = p.unique(dim=0, return_counts=True)  # in the order of their numbers
    best = pairs[counts.argmax()]
    hit = (p == best).all(1)
    for i in range(1, len(hit)):
        hit[i] &= ~hit[i - 1]
    new = torch.where(torch.cat([hit, torch.tensor([False])]), n, t)
    return best, new[~torch.cat([torch.tensor([False]), hit])]
""",
        """
def f(t, n):
    t, count = t.tolist(), {}
    for a, b in zip(t, t[1:]):
        count[a, b] = count.get((a, b), 0) + 1
    most = max(count.values())
    a, b = min(pair for pair in count if count[pair] == most)
    out = []
    while t:
        out.append(n if t[:2] == [a, b] else t[0])
        t = t[2:] if t[:2] == [a, b] else t[1:]
    return torch.tensor([a, b]), torch.tensor(out)
""",
    ),
    "transformer-block/code-pre-norm": (
        """
def f(X, a, f, p, q):
    return (lambda Y: f(q(Y)) + Y)(a(p(X)) + X)
""",
        """
def f(X, *parts):
    for layer, norm in zip(parts[:2], parts[2:]):
        X = torch.add(X, layer(norm(X))).double().float()
    return X
""",
        """
def f(X, a, f, p, q):
    X = X.clone()
    for layer, norm in ((a, p), (f, q)):
        X += layer(norm(X))
    return X
""",
    ),
    "transformer-block/code-add-norm": (
        """
def f(X, Y, g, b):
    return F.layer_norm(X + Y, g.shape, g, b, eps=1e-5)
""",
        """
def f(X, Y, g, b):
    Z = (X + Y).double()
    Z = Z - Z.mean(-1, True)
    return g * Z * ((Z * Z).mean(-1, True) + 1e-5).rsqrt() + b
""",
        """
def f(X, Y, g, b):
    Z = torch.add(X, Y)
    v, m = torch.var_mean(Z, -1, correction=0, keepdim=True)
    return torch.addcmul(b, g, (Z - m) / torch.sqrt(v + 1e-5))
""",
    ),
    "transformer/code-multi-head": (
        """
def f(X, Y, q, k, v, o, h):
    A = nn.MultiheadAttention(len(q), h, bias=False)
    A.in_proj_weight.data, A.out_proj.weight.data = torch.cat([q.T, k.T, v.T]), o.T
    return A(X, Y, Y, need_weights=False)[0].detach()
""",
        """
def f(X, Y, q, k, v, o, h):
    total, w = 0, X.shape[1] // h
    for i in range(h):
        c = slice(i * w, i * w + w)
        s = (X @ q[:, c]) @ (Y @ k[:, c]).T / math.sqrt(w)
        total = total + s.softmax(1) @ Y @ v[:, c] @ o[c]
    return total
""",
        """
def f(X, Y, q, k, v, o, h):
    Q, K, V = (torch.stack(Z.double().chunk(h, -1)) for Z in (X @ q, Y @ k, Y @ v))
    heads = F.scaled_dot_product_attention(Q, K, V)
    return torch.cat([*heads], -1) @ o.double()
""",
    ),
    "transformer/code-decoder-block": (
        """
def f(X, S, a, b, ffn, norms):
    n = len(X)
    Y = norms[0](a(X, X, X, torch.arange(n)[:, None] >= torch.arange(n)) + X)
    Z = norms[1](b(Y, S, S) + Y)
    return norms[2](ffn(Z) + Z)
""",
        """
def f(X, S, a, b, ffn, norms):
    rows = [a(X[t : t + 1], X[: t + 1], X[: t + 1]) for t in range(len(X))]
    for norm, part in zip(norms, (lambda Y: torch.cat(rows), lambda Y: b(Y, S, S), ffn)):
        X = norm(X + part(X))
    return X
""",
        """
def f(X, S, a, b, ffn, norms):
    first, second, third = norms
    X = first(X + a(X, X, X, mask=torch.tril(torch.ones(2 * [len(X)], dtype=bool))))
    X = second(X + b(queries=X, keys=S, values=S, mask=None)).double().float()
    return third(X + ffn(X))
""",
    ),
    "translation/code-greedy": (
        """
def f(model, bos, eos, steps):
    said = [bos]
    while len(said) <= steps:
        word = int(model(torch.tensor(said))[-1].argmax())
        if word == eos:
            break
        said.append(word)
    return said[1:]
""",
        """
def f(model, bos, eos, steps, said=()):
    word = model(torch.tensor([bos, *said]))[-1].max(0).indices.item() if steps else eos
    return said if word == eos else f(model, bos, eos, steps - 1, (*said, word))
""",
        """
def f(model, bos, eos, steps):
    said = torch.full((steps + 1,), bos)
    for t in range(steps):
        said[t + 1] = model(said[: t + 1])[t].argmax()
        if said[t + 1] == eos:
            return said[1 : t + 1]
    return said[1:]
""",
    ),
    "translation/code-bleu": (
        """
def f(pred, label, k):
    logs = min(0, 1 - len(label) / len(pred))
    for n in range(1, k + 1):
        said = [tuple(pred[i:i + n]) for i in range(len(pred) - n + 1)]
        left = [tuple(label[i:i + n]) for i in range(len(label) - n + 1)]
        hits = 0
        for gram in said:
            if gram in left:
                left.remove(gram)
                hits += 1
        if not hits:
            return 0
        logs += math.log(hits / len(said)) / 2**n
    return math.exp(logs)
""",
        """
def f(pred, label, k):
    grams = lambda s, n: Counter(zip(*(s[i:] for i in range(n))))
    hits = lambda n: sum(min(c, grams(label, n)[g]) for g, c in grams(pred, n).items())
    shares = [hits(n) / (len(pred) - n + 1) for n in range(1, k + 1)]
    short = torch.tensor(1 - len(label) / len(pred)).clamp(max=0).exp()
    return short * torch.prod(torch.tensor(shares) ** (0.5 ** torch.arange(1, k + 1)))
""",
        """
def f(pred, label, k):
    from d2lmini import bleu
    return bleu(" ".join(pred), " ".join(label), k)
""",
    ),
    "what-it-learned/code-share": (
        """
def f(W, length, o):
    asked = [q for q in range(length) if 0 <= q + o < length]
    return [sum(int(w[q].argmax()) == q + o for q in asked) / len(asked) for w in W]
""",
        """
def f(W, length, o):
    top = F.one_hot(W[:, :length, :length].argmax(-1), length)
    return torch.stack([d.float().mean() for d in top.diagonal(o, 1, 2)])
""",
        """
def f(W, length, o):
    q = torch.arange(max(0, -o), min(length, length - o))
    top = W[:, q] == W[:, q].max(-1, True).values
    return top[:, range(len(q)), q + o].double().mean(1)
""",
    ),
    "induction/code-induction-score": (
        """
def f(W, tokens):
    n, seen = len(tokens), []
    for i in range(n):
        keys = [j + 1 for j in range(i) if tokens[j] == tokens[i]]
        if keys:
            seen.append(W[:, i, keys].sum(dim=1))
    return torch.stack(seen).mean(dim=0)
""",
        """
def f(W, tokens):
    behind = torch.zeros_like(W[0])
    behind[:, 1:] = (tokens[:, None] == tokens[None, :-1]).float()
    behind = behind.tril()
    return torch.einsum("hij,ij->h", W, behind) / (behind.sum(dim=1) > 0).sum()
""",
        """
def f(W, tokens):
    equal = tokens.unsqueeze(1).eq(tokens).tril(diagonal=-1)
    queries, keys = equal.nonzero(as_tuple=True)
    return [float(w[queries, keys + 1].sum()) / len(queries.unique()) for w in W]
""",
    ),
    "language-model/code-sampler": (
        """
def f(scores, T, p):
    left, total = torch.softmax(scores / T, dim=0), 0.0
    for i in left.argsort(descending=True):
        share = float(left[i])
        left[i], total = (share, total + share) if total < p else (0.0, total)
    return left / left.sum()
""",
        """
def f(scores, T, p):
    q = (scores / T - torch.logsumexp(scores / T, 0)).exp()
    before = torch.where(q[None] > q[:, None], q[None], 0).sum(dim=1)
    q = q * (before < p)
    return q / q.sum()
""",
        """
def f(scores, T, p):
    import d2lmini
    return d2lmini.token_probabilities(scores, temperature=T, top_p=p)
""",
    ),
    "language-model/code-generate": (
        """
def f(net, start, count):
    scores, state = net(start.unsqueeze(0), None)
    text = []
    for i in range(count):
        text.append(scores[0, -1].argmax().item())
        if i < count - 1:
            scores, state = net(torch.tensor([text[-1:]]), state)
    return text
""",
        """
def f(net, start, count):
    def go(unread, state, left):
        if not left:
            return []
        scores, state = net(unread, state)
        token = scores[:, -1:].argmax(dim=-1)
        return [int(token), *go(token, state, left - 1)]
    return torch.tensor(go(start.view(1, -1), None, count))
""",
        """
def f(net, start, count):
    whole, state, read = start, None, 0
    while len(whole) < len(start) + count:
        scores, state = net(whole[None, read:], state)
        read = len(whole)
        whole = torch.cat([whole, scores[0, -1:].argmax(-1)])
    return whole[-count:]
""",
    ),
    "since-2017/code-rms-norm": (
        """
def f(X, gain):
    return F.rms_norm(X, gain.shape, gain, 1e-6)
""",
        """
def f(X, gain):
    d = X.shape[-1]
    return torch.einsum("...d,...,d->...d", X, ((X * X).sum(-1) / d + 1e-6).rsqrt(), gain)
""",
        """
def f(X, gain):
    if X.dim() > 1:
        return torch.stack([f(x, gain) for x in X])
    return X * gain / math.sqrt(sum(x * x for x in X.tolist()) / len(X) + 1e-6)
""",
    ),
    "since-2017/code-block-step": (
        """
def f(x, K, V, R, g1, W_q, W_k, W_v, W_o, g2, W_gate, W_up, W_down):
    g, t, w = K.shape
    y = F.rms_norm(x, g1.shape, g1, 1e-6)
    q, k, v = ((y @ W).reshape(-1, 1, w) for W in (W_q, W_k, W_v))
    K, V = torch.cat([K, k @ R], 1), torch.cat([V, v], 1)
    heard = F.scaled_dot_product_attention((q @ R)[None], K[None], V[None], enable_gqa=True)
    x = x + heard.reshape(1, -1) @ W_o
    y = F.rms_norm(x, g2.shape, g2, 1e-6)
    return x + F.silu(y @ W_gate) * (y @ W_up) @ W_down, K, V
""",
        """
def f(x, K, V, R, g1, W_q, W_k, W_v, W_o, g2, W_gate, W_up, W_down):
    def norm(X, gain):
        return X * torch.rsqrt((X**2).mean(-1, keepdim=True) + 1e-6) * gain
    g, t, w = K.shape
    Y = norm(x, g1)[0]
    new_K, new_V, out = torch.zeros(g, t + 1, w), torch.zeros(g, t + 1, w), []
    for s in range(g):
        new_K[s] = torch.vstack([K[s], Y @ W_k[:, s * w:(s + 1) * w] @ R])
        new_V[s] = torch.vstack([V[s], Y @ W_v[:, s * w:(s + 1) * w]])
    h = W_q.shape[1] // w
    for i in range(h):
        q, s = Y @ W_q[:, i * w:(i + 1) * w] @ R, i // (h // g)
        out.append((new_K[s] @ q / math.sqrt(w)).softmax(0) @ new_V[s])
    x = x + torch.cat(out) @ W_o
    Y = norm(x, g2)
    return x + (F.silu(Y @ W_gate) * (Y @ W_up)) @ W_down, new_K, new_V
""",
        """
def f(x, K, V, R, *weights):
    g1, W_q, W_k, W_v, W_o, g2, W_gate, W_up, W_down = (W.double() for W in weights)
    x, K, V, R = (X.double() for X in (x, K, V, R))
    g, _, w = K.shape
    Y = F.rms_norm(x, g1.shape, g1, 1e-6)
    K = torch.cat((K, torch.einsum("nd,dgw,wv->gnv", Y, W_k.unflatten(1, (g, w)), R)), 1)
    V = torch.cat((V, torch.einsum("nd,dgw->gnw", Y, W_v.unflatten(1, (g, w)))), 1)
    Q = torch.einsum("nd,dghw,wv->ghv", Y, W_q.unflatten(1, (g, -1, w)), R)
    A = (torch.einsum("ghw,gtw->ght", Q, K) * w**-0.5).softmax(-1)
    x = x + torch.einsum("ght,gtw,ghwd->d", A, V, W_o.unflatten(0, (g, -1, w)))
    Y = F.rms_norm(x, g2.shape, g2, 1e-6)
    return [x + torch.mm(F.silu(Y @ W_gate).mul(Y @ W_up), W_down), K, V]
""",
    ),
}


def written(source: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(compile(HEAD + source, "<reader>", "exec"), names)
    function: Callable[..., Any] = names["f"]
    return function


def told(capsys: pytest.CaptureFixture[str], name: str, source: str) -> str:
    d2l.check(name, written(source))
    return capsys.readouterr().out


def test_every_task_has_three_unusual_solutions() -> None:
    assert set(UNUSUAL) == set(tasks.NAMES)
    assert all(len(sources) == len(set(sources)) == 3 for sources in UNUSUAL.values())


@pytest.mark.parametrize(("name", "source"), [(name, one) for name in UNUSUAL for one in UNUSUAL[name]])
def test_an_unusual_solution_is_right(capsys: pytest.CaptureFixture[str], name: str, source: str) -> None:
    assert "Correct." in told(capsys, name, source)


@pytest.mark.parametrize("name", tasks.NAMES)
def test_every_wrong_solution_is_wrong_somewhere(name: str) -> None:
    """It differs from the right one on a case, or is caught by what it does; and no two say the same."""
    task = tasks.load_task(name)
    for bug, spellings in task.bugs.items():
        for wrong in spellings:
            seen = [str(wrong(*case)) != str(task.right(*case)) for case in task.cases + task.edges]
            assert any(seen) or task.caught(lambda *case, f=wrong: f(*case)[0]) == bug


@pytest.mark.parametrize("language", LANGUAGES[1:])
@pytest.mark.parametrize("name", tasks.NAMES)
def test_every_bug_is_named_in_the_language_of_the_reader(
    capsys: pytest.CaptureFixture[str], name: str, language: str
) -> None:
    d2l.use_language(language)
    replies = {bug: plain(text) for bug, text in exercise_content(name, language)["bugs"].items()}
    assert len(set(replies.values())) == len(replies)
    for bug, (wrong, *_) in tasks.load_task(name).bugs.items():
        d2l.check(name, wrong, seconds=60)
        assert replies[bug] in capsys.readouterr().out


def test_plain_numbers_stand_for_a_tensor(capsys: pytest.CaptureFixture[str]) -> None:
    greedy, bleu = "translation/code-greedy", "translation/code-bleu"
    source = exercise_content(greedy, "en")["solution_code"].replace("def greedy", "def f")
    assert "Correct." in told(capsys, greedy, source.replace("tokens[1:]", "tokens[1:].tolist()"))
    assert "Correct." in told(capsys, greedy, source.replace("tokens[1:]", "list(tokens[1:])"))
    mask = exercise_content("long-sequences/code-local-mask", "en")["solution_code"].replace(
        "def local_mask", "def f"
    )
    assert "Correct." in told(capsys, "long-sequences/code-local-mask", mask.replace("r // 2", "r // 2,"))
    out = told(capsys, greedy, source.replace("tokens[1:]", "tokens[1:].tolist() + [7]"))
    assert "tokens should have the shape" in out
    assert "it is 0.000" in told(capsys, bleu, "def f(pred, label, k):\n    return 0")
    assert "it returned str" in told(capsys, bleu, "def f(pred, label, k):\n    return '0.5'")


@pytest.mark.parametrize("rows", ["[[0, 1], [1, 1]]", "[[0, 1], [0.62, 0.62]]"])
def test_a_tie_of_two_tokens_is_told_as_a_tie(capsys: pytest.CaptureFixture[str], rows: str) -> None:
    out = told(capsys, "self-attention/design-query", f"def f(X):\n    return torch.tensor({rows})")
    assert "Nobody comes out on top" in out
