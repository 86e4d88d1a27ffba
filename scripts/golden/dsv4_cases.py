"""The tiny models that the golden data is made of, and which tokens are fed to them.

Together they have every layer type, both clamps, YaRN on and off, windows and ratios at their edges, one and several
rows, repeated experts in the hash table, and separate large eps values. A case's `observe` lists the positions of the
last row whose activations are kept: the first token, tokens at which windows close, and the last one.
"""

from dsv4_tensors import CSA, HCA, SLIDING

_YARN = {"rope_type": "yarn", "factor": 16.0, "beta_fast": 32.0, "beta_slow": 1.0}


def _config(layers, hash_layers, csa=4, hca=16, yarn=True, original=64, rope_dim=8, **changed):
    cfg = {
        "model_type": "deepseek_v4",
        "vocab_size": 128,
        "hidden_size": 64,
        "moe_intermediate_size": 32,
        "num_hidden_layers": len(layers),
        "num_attention_heads": 4,
        "num_key_value_heads": 1,
        "head_dim": 32,
        "q_lora_rank": 32,
        "o_groups": 2,
        "o_lora_rank": 16,
        "layer_types": [{"S": SLIDING, "C": CSA, "H": HCA}[x] for x in layers],
        "compress_rates": {CSA: csa, HCA: hca},
        "mlp_layer_types": ["hash_moe"] * hash_layers + ["moe"] * (len(layers) - hash_layers),
        "n_routed_experts": 8,
        "num_experts_per_tok": 2,
        "n_shared_experts": 1,
        "scoring_func": "sqrtsoftplus",
        "norm_topk_prob": True,
        "routed_scaling_factor": 1.5,
        "swiglu_limit": 10.0,
        "sliding_window": 16,
        "index_n_heads": 8,
        "index_head_dim": 16,
        "index_topk": 4,
        "hc_mult": 4,
        "hc_sinkhorn_iters": 20,
        "hc_eps": 1e-6,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "compress_rope_theta": 160000.0,
        "max_position_embeddings": 2048,
        "num_nextn_predict_layers": 0,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "tie_word_embeddings": False,
    }
    cfg.update(changed)
    cfg["partial_rotary_factor"] = rope_dim / cfg["head_dim"]
    if yarn:
        cfg["rope_parameters"] = {**_YARN, "original_max_position_embeddings": original}
    return cfg


def _case(name, config, seed, rows, length, observe, storage="f32", prompts=(), long_greedy=0):
    return {
        "name": name,
        "config": config,
        "seed": seed,
        "rows": rows,
        "length": length,
        "storage": storage,
        "observe": sorted(set(observe)),
        "prompts": list(prompts),
        "long_greedy": long_greedy,
    }


CASES = [
    # Flash's order of layers: two sliding, then CSA and HCA in turn, three hash-routed layers.
    _case("flash_order", _config("SSCHCHC", 3), 1, 2, 220, (0, 3, 15, 16, 219), prompts=(1, 3, 4, 5, 15, 16, 17, 33), long_greedy=1024),
    # Pro's order, at the real ratios and window: the first HCA window closes at token 127.
    _case("pro_order", _config("HHCHC", 2, hca=128, sliding_window=128, routed_scaling_factor=2.5), 2, 1, 300, (0, 126, 127, 128, 299)),
    # Both clamps of the experts bite; plain RoPE.
    _case("clamps", _config("CHS", 1, yarn=False, swiglu_limit=0.5), 3, 1, 210, (3, 31, 209), prompts=(1, 7, 8)),
    # The two eps are large and different, so that one in the other's place shows.
    _case("eps", _config("SCHC", 1, hc_eps=0.02, rms_norm_eps=0.05), 4, 1, 205, (0, 63, 204)),
    # Smallest window, ratio and selection.
    _case("edges", _config("CCH", 0, hca=8, sliding_window=4, index_topk=1), 5, 2, 200, (2, 3, 4, 7, 199)),
    # Several rows, more experts, no hash layer.
    _case("rows", _config("HCSC", 0, n_routed_experts=16, num_experts_per_tok=3, index_topk=8), 6, 4, 200, (30, 31, 32, 199)),
    # Two streams and few Sinkhorn rounds (far from converged).
    _case("two_streams", _config("SCH", 1, hc_mult=2, hc_sinkhorn_iters=2, yarn=False), 7, 1, 200, (0, 15, 199)),
    # Weights as the published checkpoints store them: FP8 blocks, FP4 experts, BF16.
    _case(
        "quantised",
        _config("SHC", 1, hidden_size=160, moe_intermediate_size=64, num_attention_heads=8, o_groups=4, swiglu_limit=1.0),
        8,
        1,
        200,
        (0, 15, 199),
        storage="checkpoint",
    ),
    # Wider heads, an odd window, and YaRN's real original length, where its ramp has several steps.
    _case(
        "wide",
        _config(
            "CHCS",
            2,
            hca=32,
            original=65536,
            max_position_embeddings=1048576,
            head_dim=64,
            rope_dim=16,
            num_attention_heads=8,
            o_groups=4,
            sliding_window=33,
            index_head_dim=32,
            index_topk=16,
        ),
        9,
        1,
        256,
        (31, 32, 33, 255),
    ),
    # Sliding layers only, all hash-routed.
    _case("sliding_hash", _config("SS", 2, sliding_window=8), 10, 1, 200, (0, 7, 8, 15, 199)),
]
