# One decode step of DeepSeek-V4 as transformers has it, on a small random model of four layers: every hidden wait of the
# model's own code. --sync-debug FILE counts, for comparison, what the framework's own sync mode warns about.
# CORPUS-AUDIT: --region decode-step
# CORPUS-ARGS: --experts eager
# CORPUS-VARIANTS: faulty
# CORPUS-NEEDS: transformers
# CORPUS-TIMEOUT: 240
# EXPECT-ELSEWHERE: *transformers/* 6
import argparse
import collections
import json
import warnings

import torch
from transformers import DeepseekV4Config, DeepseekV4ForCausalLM, DynamicCache

LAYERS = ["sliding_attention", "heavily_compressed_attention", "compressed_sparse_attention", "sliding_attention"]
PROMPT, STEPS = 24, 4


def small_config():
    return DeepseekV4Config(
        vocab_size=256,
        hidden_size=128,
        moe_intermediate_size=64,
        num_hidden_layers=len(LAYERS),
        num_attention_heads=8,
        num_key_value_heads=1,
        head_dim=64,
        partial_rotary_factor=16 / 64,
        q_lora_rank=48,
        o_groups=2,
        o_lora_rank=32,
        layer_types=LAYERS,
        compress_rates={"compressed_sparse_attention": 4, "heavily_compressed_attention": 16},
        mlp_layer_types=["hash_moe", "moe", "moe", "moe"],
        n_routed_experts=8,
        num_experts_per_tok=2,
        sliding_window=16,
        index_n_heads=8,
        index_head_dim=32,
        index_topk=4,
        max_position_embeddings=1024,
        num_nextn_predict_layers=0,
    )


def small_model(experts):
    torch.manual_seed(0)
    config = small_config()
    config._attn_implementation = "eager"
    if experts != "default":
        config._experts_implementation = experts
    model = DeepseekV4ForCausalLM(config).float().eval().cuda()
    with torch.no_grad():
        for name, buffer in model.named_buffers():
            if name.endswith("tid2eid"):  # all zeros at first: one expert would get every token
                buffer.copy_(torch.stack([torch.randperm(8)[: buffer.shape[-1]] for _ in range(buffer.shape[0])]))
    return config, model


@torch.no_grad()
def decode(model, config, steps, step_hook):
    ids = torch.randint(2, 256, (1, PROMPT), device="cuda")
    cache = DynamicCache(config=config)
    token = model(input_ids=ids, past_key_values=cache, use_cache=True).logits[:, -1:].argmax(-1)
    for _ in range(steps):
        torch.cuda.synchronize()
        with step_hook():
            token = model(input_ids=token, past_key_values=cache, use_cache=True).logits[:, -1:].argmax(-1)
    return token


class SyncMode:
    """Counts the framework's warnings by the line that they name, a step."""

    def __init__(self):
        self.steps = []

    def __call__(self):
        return self

    def __enter__(self):
        self.caught = warnings.catch_warnings(record=True)
        self.warned = self.caught.__enter__()
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")

    def __exit__(self, *error):
        torch.cuda.set_sync_debug_mode("default")
        self.steps.append(collections.Counter(f"{w.filename}:{w.lineno}" for w in self.warned))
        self.caught.__exit__(*error)


def main(arguments=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", nargs="?")
    parser.add_argument("--experts", default="eager", help="eager, or default for the library's own choice")
    parser.add_argument("--sync-debug", metavar="FILE", help="write what the framework's sync mode warns about")
    options = parser.parse_args(arguments)
    config, model = small_model(options.experts)
    if options.sync_debug:
        mode = SyncMode()
        decode(model, config, STEPS, mode)
        last = mode.steps[-1]
        with open(options.sync_debug, "w", encoding="utf-8") as file:
            json.dump({"experts": options.experts, "lines": dict(sorted(last.items()))}, file, indent=1)
        for line, count in sorted(last.items()):
            print(f"{count:4d} {line}")
        print(f"{sum(last.values())} warnings on {len(last)} lines a step")
        return
    token = decode(model, config, STEPS, lambda: torch.cuda.nvtx.range("decode-step"))
    torch.cuda.synchronize()
    print("as meant: the last token is", token.item())


if __name__ == "__main__":
    main()
