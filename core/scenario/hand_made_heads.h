// Parameters that are constructed, not trained, so that every head has something to show and the reason can
// be read off W_q and W_k. They depend only on the embedding's layout (core/scenario/embeddings.h)
// and work for any text.
//
//   head  looks at                 how
//   0     the previous word          W_q rotates each position pair back by one position, W_k takes the pairs
//                                    as they are: the dot product is Σ_p cos(ω_p·(i−1−j)), largest at j = i−1
//   1     the same word elsewhere    W_q = W_k on pairs of the word's code, and opposite signs on a few
//                                     position pairs, which push the word itself away; a word that occurs
//                                     once mostly sees itself
//     2     the first word             W_q builds the code of position 0 from the constant column, for every
//                                     query
//   3     itself                     W_q = W_k on the position pairs
//   4     all words alike            W_q = 0: all scores are 0, the softmax is the mean
//   5 …   whatever they happen to    normal random numbers: scaled scores with deviation 1.5
//
// Rotation of a pair by one position: sin(ω(i−1)) = cos ω·sin ωi − sin ω·cos ωi, cos(ω(i−1)) = sin ω·sin ωi +
// cos ω·cos ωi, a 2×2 block of W_q. The sharpness is chosen so that the previous word gets 0.9 of the softmax
// at the default scale 1/√D in texts of up to 512 words (fewer if the heads are narrow). Grouped heads share
// W_k: a group whose roles need both words and positions has pairs of both kinds,
// and a head's W_q is 0 where it does not look.
//
// W_v copies the word's code: row g·Dv + d reads word column (g·Dv + d) mod 2·word_pairs, so a head's output
// is a piece of the code of the word it attends to. out_proj.weight mixes the heads and nothing else: output
// column b·Dv + d is Σ_h c[b,h] · head h's column d, with the cosines c[b,h] = √(2/H)·cos(π·b·(h + ½)/H), and
// √(1/H) for b = 0. So the first Dv columns are the sum of all heads, those after them how the heads differ,
// from the first half against the second to every head against its neighbours. The c are orthonormal: with E
// = H·Dv nothing is lost and every row of concat keeps its length. The biases are 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/scenario/weight_initialisation.h"
#include "core/tensor/tensor.h"

namespace headwise {

enum class HeadRole { previous_word, same_word, first_word, itself, average, random };

// The role of head h: the table above, in order; fewer heads get the first roles.
HeadRole hand_made_role(Index head);

struct HeadDescription {
  HeadRole role{};
  std::string name;    // "previous word"
  std::string reason;  // one line, shown next to W_q and W_k
};

std::vector<HeadDescription> describe_hand_made_heads(Index num_heads);  // one per head

// One projection, (H·D,E), (G·D,E) or (G·Dv,E). Needs kdim = vdim = E. `seed` is for the random heads. Throws
// Error(usage) if the heads are too narrow, or the embedding has too few position pairs, for their roles.
Tensor hand_made_projection(Projection which, const AttentionOptions& options, std::uint64_t seed, DType dtype);
Tensor hand_made_out_weight(const AttentionOptions& options, DType dtype);  // (E,H·Dv)

}  // namespace headwise
