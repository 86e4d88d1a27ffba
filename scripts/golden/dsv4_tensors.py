"""Every tensor of a DeepSeek-V4 model, in upstream names: the same list as engine/checkpoint/model_tensors.cpp.

A configuration here is a plain dict with the keys of `dsv4_cases.py`; a tensor is (name, shape, role).
"""

SLIDING, CSA, HCA = "sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"


def compressor_width(cfg, layer_type, head_dim):
    """CSA keeps two series side by side (this window's and the next one's), HCA one."""
    return 2 * head_dim if layer_type == CSA else head_dim


def model_tensors(cfg):
    """All (name, shape, role) in the order in which a checkpoint writer emits them."""
    d, n = cfg["hidden_size"], cfg["hc_mult"]
    heads, c, q_lora = cfg["num_attention_heads"], cfg["head_dim"], cfg["q_lora_rank"]
    groups, o_lora = cfg["o_groups"], cfg["o_lora_rank"]
    experts, k, inner = cfg["n_routed_experts"], cfg["num_experts_per_tok"], cfg["moe_intermediate_size"]
    index_heads, index_dim, vocab = cfg["index_n_heads"], cfg["index_head_dim"], cfg["vocab_size"]

    yield "embed.weight", (vocab, d), "embedding"
    for layer, kind in enumerate(cfg["layer_types"]):
        p = f"layers.{layer}."
        yield p + "attn_norm.weight", (d,), "norm"
        yield p + "ffn_norm.weight", (d,), "norm"
        for site in ("attn", "ffn"):
            yield p + f"hc_{site}_fn", ((2 + n) * n, n * d), "hc_mixer"
            yield p + f"hc_{site}_base", ((2 + n) * n,), "hc_base"
            yield p + f"hc_{site}_scale", (3,), "hc_scale"
        yield p + "attn.wq_a.weight", (q_lora, d), "projection"
        yield p + "attn.q_norm.weight", (q_lora,), "norm"
        yield p + "attn.wq_b.weight", (heads * c, q_lora), "projection"
        yield p + "attn.wkv.weight", (c, d), "projection"
        yield p + "attn.kv_norm.weight", (c,), "norm"
        yield p + "attn.attn_sink", (heads,), "sink"
        yield p + "attn.wo_a.weight", (groups * o_lora, heads // groups * c), "projection"
        yield p + "attn.wo_b.weight", (d, groups * o_lora), "projection"
        if kind != SLIDING:
            width = compressor_width(cfg, kind, c)
            yield p + "attn.compressor.wkv.weight", (width, d), "linear"
            yield p + "attn.compressor.wgate.weight", (width, d), "linear"
            yield p + "attn.compressor.ape", (cfg["compress_rates"][kind], width), "position_bias"
            yield p + "attn.compressor.norm.weight", (c,), "norm"
        if kind == CSA:
            width = compressor_width(cfg, kind, index_dim)
            yield p + "attn.indexer.wq_b.weight", (index_heads * index_dim, q_lora), "projection"
            yield p + "attn.indexer.weights_proj.weight", (index_heads, d), "linear"
            yield p + "attn.indexer.compressor.wkv.weight", (width, d), "linear"
            yield p + "attn.indexer.compressor.wgate.weight", (width, d), "linear"
            yield p + "attn.indexer.compressor.ape", (cfg["compress_rates"][kind], width), "position_bias"
            yield p + "attn.indexer.compressor.norm.weight", (index_dim,), "norm"
        yield p + "ffn.gate.weight", (experts, d), "linear"
        if cfg["mlp_layer_types"][layer] == "hash_moe":
            yield p + "ffn.gate.tid2eid", (vocab, k), "hash_table"
        else:
            yield p + "ffn.gate.bias", (experts,), "router_bias"
        for e in range(experts):
            yield p + f"ffn.experts.{e}.w1.weight", (inner, d), "expert"
            yield p + f"ffn.experts.{e}.w2.weight", (d, inner), "expert"
            yield p + f"ffn.experts.{e}.w3.weight", (inner, d), "expert"
        yield p + "ffn.shared_experts.w1.weight", (inner, d), "projection"
        yield p + "ffn.shared_experts.w2.weight", (d, inner), "projection"
        yield p + "ffn.shared_experts.w3.weight", (inner, d), "projection"
    yield "norm.weight", (d,), "norm"
    yield "hc_head_fn", (n, n * d), "hc_mixer"
    yield "hc_head_base", (n,), "hc_base"
    yield "hc_head_scale", (1,), "hc_scale"
    yield "head.weight", (vocab, d), "linear"


def transformers_name(name):
    """The state-dict name of transformers' DeepseekV4ForCausalLM, or None for an expert (those are packed)."""
    if ".ffn.experts." in name:
        return None
    if name == "head.weight":
        return "lm_head.weight"
    whole = {
        "embed.weight": "embed_tokens.weight",
        "norm.weight": "norm.weight",
        "hc_head_fn": "hc_head.hc_fn",
        "hc_head_base": "hc_head.hc_base",
        "hc_head_scale": "hc_head.hc_scale",
    }
    if name in whole:
        return "model." + whole[name]
    layer, rest = name.split(".", 2)[1:]
    parts = {
        "attn_norm.weight": "input_layernorm.weight",
        "ffn_norm.weight": "post_attention_layernorm.weight",
        "hc_attn_fn": "attn_hc.fn",
        "hc_attn_base": "attn_hc.base",
        "hc_attn_scale": "attn_hc.scale",
        "hc_ffn_fn": "ffn_hc.fn",
        "hc_ffn_base": "ffn_hc.base",
        "hc_ffn_scale": "ffn_hc.scale",
        "attn.wq_a.weight": "self_attn.q_a_proj.weight",
        "attn.q_norm.weight": "self_attn.q_a_norm.weight",
        "attn.wq_b.weight": "self_attn.q_b_proj.weight",
        "attn.wkv.weight": "self_attn.kv_proj.weight",
        "attn.kv_norm.weight": "self_attn.kv_norm.weight",
        "attn.attn_sink": "self_attn.sinks",
        "attn.wo_a.weight": "self_attn.o_a_proj.weight",
        "attn.wo_b.weight": "self_attn.o_b_proj.weight",
        "attn.compressor.wkv.weight": "self_attn.compressor.kv_proj.weight",
        "attn.compressor.wgate.weight": "self_attn.compressor.gate_proj.weight",
        "attn.compressor.ape": "self_attn.compressor.position_bias",
        "attn.compressor.norm.weight": "self_attn.compressor.kv_norm.weight",
        "attn.indexer.wq_b.weight": "self_attn.compressor.indexer.q_b_proj.weight",
        "attn.indexer.weights_proj.weight": "self_attn.compressor.indexer.scorer.weights_proj.weight",
        "attn.indexer.compressor.wkv.weight": "self_attn.compressor.indexer.kv_proj.weight",
        "attn.indexer.compressor.wgate.weight": "self_attn.compressor.indexer.gate_proj.weight",
        "attn.indexer.compressor.ape": "self_attn.compressor.indexer.position_bias",
        "attn.indexer.compressor.norm.weight": "self_attn.compressor.indexer.kv_norm.weight",
        "ffn.gate.weight": "mlp.gate.weight",
        "ffn.gate.bias": "mlp.gate.e_score_correction_bias",
        "ffn.gate.tid2eid": "mlp.gate.tid2eid",
        "ffn.shared_experts.w1.weight": "mlp.shared_experts.gate_proj.weight",
        "ffn.shared_experts.w3.weight": "mlp.shared_experts.up_proj.weight",
        "ffn.shared_experts.w2.weight": "mlp.shared_experts.down_proj.weight",
    }
    return f"model.layers.{layer}.{parts[rest]}"
