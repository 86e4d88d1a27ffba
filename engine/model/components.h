// The names of what a decode step computes, in the order in which it computes it: the probe of the reference,
// dumps, golden data and `dsv4 compare` all use them. Inside a layer they follow "layers.L.".
#pragma once

namespace dsv4::component {

inline constexpr char kEmbed[] = "embed";  // [D]

// Per layer. "attn" names the first site, "ffn" the second.
inline constexpr char kAttnPost[] = "attn_hc.post";              // [N]
inline constexpr char kAttnComb[] = "attn_hc.comb";              // [N, N], row = old stream
inline constexpr char kAttnCollapsed[] = "attn_hc.collapsed";    // [D]
inline constexpr char kAttnNorm[] = "attn_norm";                 // [D]
inline constexpr char kQResidual[] = "attn.q_residual";          // [q_lora], normalised
inline constexpr char kQ[] = "attn.q";                           // [H, c], rotated
inline constexpr char kKv[] = "attn.kv";                         // [c], rotated
inline constexpr char kEntry[] = "attn.compressor.entry";        // [c], at tokens that close a window
inline constexpr char kIndexKey[] = "attn.indexer.key";          // [dI], at tokens that close a window
inline constexpr char kIndexQuery[] = "attn.indexer.query";      // [nI, dI], rotated
inline constexpr char kIndexWeights[] = "attn.indexer.weights";  // [nI], scaled by nI^-1/2
inline constexpr char kIndexScores[] = "attn.indexer.scores";    // [closed entries]
inline constexpr char kContext[] = "attn.context";               // [H, c], rotated back
inline constexpr char kOutputA[] = "attn.o_a";                   // [groups * o_lora]
inline constexpr char kAttnOut[] = "attn.out";                   // [D]
inline constexpr char kAttnStreams[] = "attn_streams";           // [N, D] after the first site
inline constexpr char kFfnPost[] = "ffn_hc.post";
inline constexpr char kFfnComb[] = "ffn_hc.comb";
inline constexpr char kFfnCollapsed[] = "ffn_hc.collapsed";
inline constexpr char kFfnNorm[] = "ffn_norm";
inline constexpr char kRouterScores[] = "ffn.router_scores";    // [E], before the bias
inline constexpr char kExpertWeights[] = "ffn.expert_weights";  // [E], zero where not chosen
inline constexpr char kRouted[] = "ffn.routed";                 // [D]
inline constexpr char kShared[] = "ffn.shared";                 // [D]
inline constexpr char kFfnOut[] = "ffn.out";                    // [D]
inline constexpr char kStreams[] = "streams";                   // [N, D] after the layer

inline constexpr char kHeadCollapsed[] = "head.collapsed";  // [D]
inline constexpr char kFinalNorm[] = "final_norm";          // [D]
inline constexpr char kLogits[] = "logits";                 // [V]

}  // namespace dsv4::component
