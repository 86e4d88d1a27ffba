"""The golden data's oracle: transformers' own deepseek_v4, float32, eager attention and experts, on the CPU."""

import os
import traceback

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import numpy as np
import torch
import transformers
from transformers import DeepseekV4Config, DeepseekV4ForCausalLM, DynamicCache
from transformers.models.deepseek_v4 import modeling_deepseek_v4 as modeling

from dsv4_numpy import rope_frequencies
from dsv4_tensors import CSA, SLIDING, transformers_name
from golden_file import margin, pad_choices

ORIGIN = (
    f"transformers {transformers.__version__} DeepseekV4ForCausalLM, torch {torch.__version__}, float32, CPU, "
    "eager attention and experts"
)


def build(case, weights):
    """The case's model with exactly the generator's weights; fails if a parameter is left over or missing."""
    torch.set_num_threads(1)
    cfg = DeepseekV4Config(**{k: v for k, v in case["config"].items() if k != "model_type"})
    cfg._attn_implementation = "eager"
    cfg._experts_implementation = "eager"
    model = DeepseekV4ForCausalLM(cfg).float().eval()
    assert model.config._attn_implementation == "eager", model.config._attn_implementation
    if getattr(model.config, "_experts_implementation", "eager") != "eager":
        model.set_experts_implementation("eager")

    target = dict(model.state_dict())
    done = set()

    def put(name, value):
        if name not in target and ".scorer." in name:
            name = name.replace(".scorer.", ".")
        tensor = target[name]
        value = torch.from_numpy(np.ascontiguousarray(value))
        assert tuple(tensor.shape) == tuple(value.shape), (name, tuple(tensor.shape), tuple(value.shape))
        with torch.no_grad():
            tensor.copy_(value.to(tensor.dtype))
        done.add(name)

    for name, value in weights.items():
        hf = transformers_name(name)
        if hf is not None:
            put(hf, value)
    experts = case["config"]["n_routed_experts"]
    for layer in range(case["config"]["num_hidden_layers"]):
        part = {w: [weights[f"layers.{layer}.ffn.experts.{e}.{w}.weight"] for e in range(experts)] for w in ("w1", "w2", "w3")}
        inner = f"model.layers.{layer}.mlp.experts."
        put(inner + "gate_up_proj", np.stack([np.concatenate([a, b]) for a, b in zip(part["w1"], part["w3"])]))
        put(inner + "down_proj", np.stack(part["w2"]))
    missing = set(target) - done
    assert not missing, f"parameters that nothing was loaded into: {sorted(missing)[:5]}"

    for table, kind in (("main", SLIDING), ("compress", CSA)):
        theirs = getattr(model.model.rotary_emb, f"{table}_inv_freq").double().numpy()
        ours = rope_frequencies(case["config"], kind)
        assert np.allclose(theirs, ours, rtol=1e-5), f"{table} rope table differs: {theirs} against {ours}"
        assert getattr(model.model.rotary_emb, f"{table}_attention_scaling", 1.0) == 1.0, f"{table} rope is scaled"
    return model


class Recorder:
    """Takes what passes through the modules of a forward, as numpy arrays over [rows, length, …].

    A component that cannot be taken (another version's module returns something else) is noted in `trouble` and left
    out: the logits and the choices are worth having without it.
    """

    def __init__(self, model, case):
        self.case, self.values, self.handles, self.trouble = case, {}, [], set()
        self.attention_inputs = []
        put = self.put
        for i, layer in enumerate(model.model.layers):
            p, a, f = f"layers.{i}.", f"layers.{i}.attn.", f"layers.{i}.ffn."
            attn, mlp = layer.self_attn, layer.mlp
            for site, module in (("attn_hc", layer.attn_hc), ("ffn_hc", layer.ffn_hc)):
                self.on(module, lambda m, x, y, n=p + site: [put(f"{n}.{part}", v) for part, v in zip(("post", "comb", "collapsed"), y)])
            self.on(layer.ffn_hc, lambda m, x, y, n=p + "attn_streams": put(n, x[0]))
            self.on(layer.input_layernorm, lambda m, x, y, n=p + "attn_norm": put(n, y))
            self.on(layer.post_attention_layernorm, lambda m, x, y, n=p + "ffn_norm": put(n, y))
            self.on(attn.q_a_norm, lambda m, x, y, n=a + "q_residual": put(n, y))
            self.on(attn.o_a_proj, lambda m, x, y, n=a: (put(n + "context", x[0]), put(n + "o_a", y)))
            self.on(attn.o_b_proj, lambda m, x, y, n=a + "out": put(n, y))
            self.on(layer, lambda m, x, y, n=p + "streams": put(n, y[0] if isinstance(y, tuple) else y))
            self.on(mlp.gate, lambda m, x, y, n=f: (put(n + "router_logits", y[0]), put(n + "weights", y[1]), put(n + "selected", y[2])))
            self.on(mlp.experts, lambda m, x, y, n=f + "routed": put(n, y))
            self.on(mlp.shared_experts, lambda m, x, y, n=f + "shared": put(n, y))
            self.on(mlp, lambda m, x, y, n=f + "out": put(n, y))
            if case["config"]["layer_types"][i] == CSA:
                indexer = attn.compressor.indexer
                self.on(indexer, lambda m, x, y, n=a + "indexer.selected": put(n, y))
                scorer = getattr(indexer, "scorer", None)
                if scorer is not None:
                    self.on(scorer, lambda m, x, y, n=a + "indexer.": (put(n + "query", x[0]), put(n + "keys", x[1]), put(n + "scores", y)))
                self.on(
                    (scorer or indexer).weights_proj,
                    lambda m, x, y, n=a + "indexer.weights": put(n, y * case["config"]["index_n_heads"] ** -0.5),
                )
        self.on(model.model.hc_head, lambda m, x, y: put("head.collapsed", y))
        self.on(model.model.norm, lambda m, x, y: put("final_norm", y))
        self.on(model.model.embed_tokens, lambda m, x, y: put("embed", y))

    def put(self, name, value):
        self.values[name] = value.detach().numpy().copy()

    def on(self, module, hook):
        def guarded(m, x, y):
            try:
                hook(m, x, y)
            except Exception as error:
                self.trouble.add(f"{type(m).__name__}: {error!r}")

        self.handles.append(module.register_forward_hook(guarded))

    def close(self):
        for handle in self.handles:
            handle.remove()

    def choices(self, rows, length):
        """{tensor stem: [rows, length, k]}."""
        cfg, out = self.case["config"], {}
        for layer, kind in enumerate(cfg["layer_types"]):
            if kind == CSA:
                k = cfg["index_topk"]
                got = self.values[f"layers.{layer}.attn.indexer.selected"].reshape(rows * length, -1)
                out[f"index/{layer}"] = pad_choices(got, k).reshape(rows, length, k)
            if cfg["mlp_layer_types"][layer] == "moe":
                k = cfg["num_experts_per_tok"]
                got = self.values[f"layers.{layer}.ffn.selected"].reshape(rows * length, k)
                out[f"experts/{layer}"] = pad_choices(got, k).reshape(rows, length, k)
        return out

    def observed(self, position, rows, length):
        """{component: array} of the last row at one position, in the engine's names and shapes."""
        cfg, out = self.case["config"], {}
        b, s = rows - 1, position
        for name, value in self.values.items():
            last = name.rsplit(".", 1)[-1]
            if last in ("keys", "selected", "weights") and ".ffn." in name or last in ("keys", "selected"):
                continue
            if last in ("router_logits", "routed"):
                value = value.reshape(rows, length, -1)
            out[name] = value[b, s]
        for layer, kind in enumerate(cfg["layer_types"]):
            a, f = f"layers.{layer}.attn.", f"layers.{layer}.ffn."
            heads, c = cfg["num_attention_heads"], cfg["head_dim"]
            out[a + "context"] = out[a + "context"].reshape(heads, c)
            out[a + "o_a"] = out[a + "o_a"].reshape(-1)
            q, keys = self.attention_inputs[layer]
            out[a + "q"], out[a + "kv"] = q[b, :, s], keys[b, 0, s]
            if kind != SLIDING:
                m = cfg["compress_rates"][kind]
                closed = (s + 1) // m
                if (s + 1) % m == 0:
                    out[a + "compressor.entry"] = keys[b, 0, length + closed - 1]
                if kind == CSA:
                    if a + "indexer.keys" in self.values and (s + 1) % m == 0:
                        out[a + "indexer.key"] = self.values[a + "indexer.keys"][b, closed - 1]
                    if a + "indexer.scores" in out:
                        out[a + "indexer.scores"] = out[a + "indexer.scores"][:closed]
                        if closed == 0:
                            del out[a + "indexer.scores"]
            logits = out.pop(f + "router_logits").astype(np.float64)
            out[f + "router_scores"] = np.sqrt(np.logaddexp(0, logits))
            dense = np.zeros(cfg["n_routed_experts"])
            flat = b * length + s
            k = cfg["num_experts_per_tok"]
            np.add.at(dense, self.values[f + "selected"].reshape(-1, k)[flat], self.values[f + "weights"].reshape(-1, k)[flat])
            out[f + "expert_weights"] = dense
        return {name: np.ascontiguousarray(value, np.float32) for name, value in out.items()}


def teacher_forced(case, model, tokens):
    """One forward over all tokens: causality makes the logits of each position those of a decode step."""
    rows, length = tokens.shape
    recorder = Recorder(model, case)
    original = modeling.eager_attention_forward

    def attention(module, query, key, *args, **kwargs):
        recorder.attention_inputs.append((query.detach().numpy().copy(), key.detach().numpy().copy()))
        return original(module, query, key, *args, **kwargs)

    modeling.eager_attention_forward = attention
    try:
        with torch.no_grad():
            logits = model(input_ids=torch.from_numpy(tokens.astype(np.int64)), use_cache=False).logits.numpy()
    finally:
        modeling.eager_attention_forward = original
        recorder.close()
    assert len(recorder.attention_inputs) == case["config"]["num_hidden_layers"], "eager_attention_forward was not called"
    out = {"logits": logits, **recorder.choices(rows, length)}
    for p in case["observe"]:
        try:
            for name, value in recorder.observed(p, rows, length).items():
                out[f"act/{name}/{p}"] = value
        except Exception:
            recorder.trouble.add(traceback.format_exc())
        out[f"act/logits/{p}"] = logits[-1, p]
    for trouble in sorted(recorder.trouble):
        print(f"{case['name']}: {trouble}", flush=True)
    return out


def greedy(case, model, prompt, count, record=None):
    """With transformers' cache: the prompt in one piece (token by token when choices are recorded), then single steps."""
    cache = DynamicCache(config=model.config)
    new, margins, all_logits = [], [], []
    recorder = Recorder(model, case) if record is not None else None
    pieces = [[t] for t in prompt] if recorder else [list(prompt)]
    with torch.no_grad():
        while len(new) < count:
            piece = pieces.pop(0) if pieces else [new[-1]]
            out = model(input_ids=torch.tensor([piece]), past_key_values=cache, use_cache=True)
            if recorder:
                for name, chosen in recorder.choices(1, 1).items():
                    record.setdefault(name, []).append(chosen[0, 0])
            if pieces:
                continue
            logits = out.logits[0, -1].numpy()
            new.append(int(logits.argmax()))
            margins.append(margin(logits))
            all_logits.append(logits)
    if recorder:
        recorder.close()
    return new, margins, all_logits


def run(case, weights, tokens):
    model = build(case, weights)
    return teacher_forced(case, model, tokens), lambda *a: greedy(case, model, *a)
