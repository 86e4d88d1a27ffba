# A standard transformer layer, captured: scaled-dot-product attention, rotary embedding, dropout, a concatenation.
# CORPUS-NEEDS: transformers
# CORPUS-TIMEOUT: 120
import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRotaryEmbedding

torch.manual_seed(0)
config = LlamaConfig(
    hidden_size=128, intermediate_size=256, num_attention_heads=4, num_key_value_heads=2, num_hidden_layers=1, vocab_size=64
)
config._attn_implementation = "sdpa"
layer = LlamaDecoderLayer(config, layer_idx=0).cuda().eval()
rotary = LlamaRotaryEmbedding(config=config).cuda()
x = torch.randn(2, 16, 128, device="cuda")
positions = torch.arange(16, device="cuda")[None]
out = torch.zeros(2, 16, 256, device="cuda")


@torch.no_grad()
def step():
    hidden = layer(x, attention_mask=None, position_ids=positions, position_embeddings=rotary(x, positions))
    hidden = hidden[0] if isinstance(hidden, tuple) else hidden
    hidden = torch.nn.functional.dropout(hidden, p=0.1, training=True)
    out.copy_(torch.cat([hidden, x], dim=-1))


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
for _ in range(5):
    graph.replay()
torch.cuda.synchronize()
assert torch.isfinite(out).all()
print("as meant: five replays of a layer")
