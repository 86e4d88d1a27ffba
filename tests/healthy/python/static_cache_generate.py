# transformers generates with a static cache: the decode step is compiled in mode reduce-overhead, and its graphs keep the
# cache's tensors.
# CORPUS-NEEDS: transformers
# CORPUS-TIMEOUT: 300
import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=256,
    hidden_size=128,
    intermediate_size=256,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=256,
    bos_token_id=1,
    eos_token_id=None,
    pad_token_id=0,
)
model = LlamaForCausalLM(config).cuda().eval()
model.generation_config.cache_implementation = "static"
prompt = torch.randint(2, 256, (1, 7), device="cuda")
for _ in range(2):
    out = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=16, do_sample=False)
assert out.shape[1] == 7 + 16
print("as meant: sixteen tokens, twice")
