"""A DeepSeek-V4 decode step in numpy float64, written from the specification alone.

It is the second opinion of the golden data: it shares no line with transformers or with engine/reference. The state
is kept as the engines keep it (rings addressed by position, entries written when a window closes). All rows are at
one position.
"""

import math

import numpy as np

from dsv4_tensors import CSA, HCA, SLIDING


def rope_frequencies(cfg, kind):
    """Angles a position, one a pair: the plain table for sliding layers, the compress table (with YaRN) otherwise."""
    r = int(cfg["head_dim"] * cfg["partial_rotary_factor"])
    i = np.arange(r // 2)
    if kind == SLIDING:
        return cfg["rope_theta"] ** (-2.0 * i / r)
    base = cfg["compress_rope_theta"]
    f = base ** (-2.0 * i / r)
    yarn = cfg.get("rope_parameters")
    if not yarn:
        return f

    def dimension(turns):
        return r * math.log(yarn["original_max_position_embeddings"] / (2 * math.pi * turns)) / (2 * math.log(base))

    low = max(math.floor(dimension(yarn["beta_fast"])), 0)
    high = min(math.ceil(dimension(yarn["beta_slow"])), r - 1)
    ramp = np.clip((i - low) / (high - low if high != low else 0.001), 0, 1)
    return f / yarn["factor"] * ramp + f * (1 - ramp)


def rms(x, eps, weight=None):
    y = x / np.sqrt(np.mean(x * x, -1, keepdims=True) + eps)
    return y if weight is None else y * weight


def rotate(x, position, f, sign=1):
    r = 2 * len(f)
    n = x.shape[-1]
    a, b = x[..., n - r :: 2], x[..., n - r + 1 :: 2]
    cos, sin = np.cos(position * f), sign * np.sin(position * f)
    out = x.copy()
    out[..., n - r :: 2], out[..., n - r + 1 :: 2] = a * cos - b * sin, b * cos + a * sin
    return out


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def top(values, k):
    """The k largest of each row in index order, and the gap between the k-th and the next (inf when none is left)."""
    order = np.argsort(-values, -1, kind="stable")
    chosen = np.sort(order[..., :k], -1)
    if values.shape[-1] <= k:
        return chosen, np.full(values.shape[0], np.inf)
    ranked = np.take_along_axis(values, order, -1)
    return chosen, ranked[..., k - 1] - ranked[..., k]


class Model:
    """`force`: optional {(layer, "index" | "experts"): int array [rows, length, k]}, choices to take in place of the model's own."""

    def __init__(self, cfg, weights, rows, length, force=None):
        self.cfg, self.w, self.rows, self.force = cfg, weights, rows, force or {}
        self.w = {k: v.astype(np.float64) if v.dtype == np.float32 else v for k, v in weights.items()}
        c, index_dim = cfg["head_dim"], cfg["index_head_dim"]
        self.state = []
        for kind in cfg["layer_types"]:
            s = {"window": np.zeros((rows, cfg["sliding_window"], c))}
            for part, dim in (("compressor", c), ("indexer.compressor", index_dim)):
                if kind == CSA or (kind == HCA and part == "compressor"):
                    m = cfg["compress_rates"][kind]
                    width, ring = (2 * dim, 2 * m) if kind == CSA else (dim, m)
                    s[part] = (np.zeros((rows, ring, width)), np.zeros((rows, ring, width)), np.zeros((rows, length // m + 1, dim)))
            self.state.append(s)
        self.seen = {}  # component name -> array [rows, ...] of the current step

    def hyper_connection(self, streams, site, name):
        cfg, n = self.cfg, self.cfg["hc_mult"]
        fn, base, scale = (self.w[f"{site}_{part}"] for part in ("fn", "base", "scale"))
        f = streams.reshape(self.rows, -1)
        mix = rms(f, cfg["rms_norm_eps"]) @ fn.T
        eps = cfg["hc_eps"]
        pre = sigmoid(mix[:, :n] * scale[0] + base[:n]) + eps
        if len(scale) == 1:
            return np.einsum("bn,bnd->bd", pre, streams)
        post = 2 * sigmoid(mix[:, n : 2 * n] * scale[1] + base[n : 2 * n])
        comb = softmax((mix[:, 2 * n :] * scale[2] + base[2 * n :]).reshape(-1, n, n), -1) + eps
        comb = comb / (comb.sum(1, keepdims=True) + eps)
        for _ in range(cfg["hc_sinkhorn_iters"] - 1):
            comb = comb / (comb.sum(2, keepdims=True) + eps)
            comb = comb / (comb.sum(1, keepdims=True) + eps)
        collapsed = np.einsum("bn,bnd->bd", pre, streams)
        self.seen.update({f"{name}.post": post, f"{name}.comb": comb, f"{name}.collapsed": collapsed})
        return post, comb, collapsed

    def compress(self, x, prefix, state, m, dim, overlap, p, f, seen_as):
        kv_ring, gate_ring, entries = state
        ring = kv_ring.shape[1]
        kv_ring[:, p % ring] = x @ self.w[prefix + "wkv.weight"].T
        gate_ring[:, p % ring] = x @ self.w[prefix + "wgate.weight"].T + self.w[prefix + "ape"][p % m]
        if (p + 1) % m:
            return
        kv, gate = np.zeros((self.rows, ring, dim)), np.full((self.rows, ring, dim), -np.inf)
        for j in range(ring):
            q = p - ring + 1 + j
            part = slice(dim, 2 * dim) if overlap and j >= m else slice(0, dim)
            if q >= 0:
                kv[:, j], gate[:, j] = kv_ring[:, q % ring, part], gate_ring[:, q % ring, part]
        entry = (softmax(gate, 1) * kv).sum(1)
        window = p // m
        entries[:, window] = rotate(rms(entry, self.cfg["rms_norm_eps"], self.w[prefix + "norm.weight"]), window * m, f)
        self.seen[seen_as] = entries[:, window].copy()

    def attention(self, layer, x, p):
        cfg, w, rows = self.cfg, self.w, self.rows
        kind, s = cfg["layer_types"][layer], self.state[layer]
        a, seen = f"layers.{layer}.attn.", self.seen
        heads, c, eps, window = cfg["num_attention_heads"], cfg["head_dim"], cfg["rms_norm_eps"], cfg["sliding_window"]
        f = rope_frequencies(cfg, kind)
        qa = rms(x @ w[a + "wq_a.weight"].T, eps, w[a + "q_norm.weight"])
        q = rotate(rms((qa @ w[a + "wq_b.weight"].T).reshape(rows, heads, c), eps), p, f)
        kv = rotate(rms(x @ w[a + "wkv.weight"].T, eps, w[a + "kv_norm.weight"]), p, f)
        seen.update({a + "q_residual": qa, a + "q": q, a + "kv": kv})
        s["window"][:, p % window] = kv
        keys = [s["window"][:, : min(p + 1, window)]]
        if kind != SLIDING:
            m = cfg["compress_rates"][kind]
            self.compress(x, a + "compressor.", s["compressor"], m, c, kind == CSA, p, f, a + "compressor.entry")
            closed = (p + 1) // m
            entries = s["compressor"][2][:, :closed]
        if kind == HCA:
            keys.append(entries)
        if kind == CSA:
            index_heads, dim = cfg["index_n_heads"], cfg["index_head_dim"]
            self.compress(x, a + "indexer.compressor.", s["indexer.compressor"], m, dim, True, p, f, a + "indexer.key")
            qi = rotate((qa @ w[a + "indexer.wq_b.weight"].T).reshape(rows, index_heads, dim), p, f)
            wi = x @ w[a + "indexer.weights_proj.weight"].T * index_heads**-0.5
            seen.update({a + "indexer.query": qi, a + "indexer.weights": wi})
            if closed:
                dots = np.einsum("bhd,btd->bht", qi, s["indexer.compressor"][2][:, :closed]) * dim**-0.5
                scores = np.einsum("bh,bht->bt", wi, np.maximum(dots, 0))
                chosen, gap = top(scores, min(cfg["index_topk"], closed))
                seen.update({a + "indexer.scores": scores, a + "indexer.gap": gap, a + "indexer.spread": np.ptp(scores, -1)})
                if (layer, "index") in self.force:
                    forced = self.force[layer, "index"][:, p]
                    chosen = np.array([np.sort(row[row >= 0]) for row in forced])
                seen[a + "indexer.selected"] = chosen
                keys.append(np.take_along_axis(entries, chosen[..., None], 1))
        keys = np.concatenate(keys, 1)
        logits = np.einsum("bhc,bic->bhi", q, keys) * c**-0.5
        sink = np.broadcast_to(w[a + "attn_sink"][None, :, None], (rows, heads, 1))
        p_all = softmax(np.concatenate([logits, sink], -1), -1)
        o = rotate(np.einsum("bhi,bic->bhc", p_all[..., :-1], keys), p, f, -1)
        groups = cfg["o_groups"]
        wo_a = w[a + "wo_a.weight"].reshape(groups, cfg["o_lora_rank"], -1)
        o_a = np.einsum("bgi,goi->bgo", o.reshape(rows, groups, -1), wo_a).reshape(rows, -1)
        out = o_a @ w[a + "wo_b.weight"].T
        seen.update({a + "context": o, a + "o_a": o_a, a + "out": out})
        return out

    def feed_forward(self, x, w1, w3, w2):
        limit = self.cfg["swiglu_limit"]
        gate, up = np.minimum(w1 @ x, limit), np.clip(w3 @ x, -limit, limit)
        return w2 @ (gate * sigmoid(gate) * up)

    def experts(self, layer, x, ids, p):
        cfg, w, rows = self.cfg, self.w, self.rows
        ffn, k = f"layers.{layer}.ffn.", self.cfg["num_experts_per_tok"]
        scores = np.sqrt(np.logaddexp(0, x @ w[ffn + "gate.weight"].T))
        self.seen[ffn + "router_scores"] = scores
        if cfg["mlp_layer_types"][layer] == "hash_moe":
            chosen = w[ffn + "gate.tid2eid"][ids]
        else:
            biased = scores + w[ffn + "gate.bias"]
            chosen, gap = top(biased, k)
            self.seen.update({ffn + "gap": gap, ffn + "spread": np.ptp(biased, -1)})
            if (layer, "experts") in self.force:
                chosen = self.force[layer, "experts"][:, p]
        self.seen[ffn + "selected"] = chosen
        weight = np.take_along_axis(scores, chosen, -1)
        weight = weight / (weight.sum(-1, keepdims=True) + 1e-20) * cfg["routed_scaling_factor"]
        by_expert, routed, shared = np.zeros_like(scores), np.zeros_like(x), np.zeros_like(x)
        for b in range(rows):
            for e, share in zip(chosen[b], weight[b]):
                by_expert[b, e] += share
                e_ = f"{ffn}experts.{e}."
                routed[b] += share * self.feed_forward(x[b], w[e_ + "w1.weight"], w[e_ + "w3.weight"], w[e_ + "w2.weight"])
            s_ = ffn + "shared_experts."
            shared[b] = self.feed_forward(x[b], w[s_ + "w1.weight"], w[s_ + "w3.weight"], w[s_ + "w2.weight"])
        self.seen.update({ffn + "expert_weights": by_expert, ffn + "routed": routed, ffn + "shared": shared, ffn + "out": routed + shared})
        return routed + shared

    def step(self, ids, p):
        """One token a row, all at position p. Returns logits [rows, vocab]; `seen` holds the step's components."""
        cfg, w, eps = self.cfg, self.w, self.cfg["rms_norm_eps"]
        self.seen = {}
        embed = w["embed.weight"][ids]
        streams = np.repeat(embed[:, None], cfg["hc_mult"], 1)
        self.seen["embed"] = embed
        for layer in range(cfg["num_hidden_layers"]):
            name = f"layers.{layer}."
            for site, block in (("attn", lambda x: self.attention(layer, x, p)), ("ffn", lambda x: self.experts(layer, x, ids, p))):
                post, comb, x = self.hyper_connection(streams, f"{name}hc_{site}", f"{name}{site}_hc")
                x = rms(x, eps, w[f"{name}{site}_norm.weight"])
                self.seen[f"{name}{site}_norm"] = x
                y = block(x)
                streams = post[:, :, None] * y[:, None] + np.einsum("bjk,bjd->bkd", comb, streams)
                self.seen[name + ("attn_streams" if site == "attn" else "streams")] = streams
        collapsed = self.hyper_connection(streams, "hc_head", "")
        final = rms(collapsed, eps, w["norm.weight"])
        logits = final @ w["head.weight"].T
        self.seen.update({"head.collapsed": collapsed, "final_norm": final, "logits": logits})
        return logits
