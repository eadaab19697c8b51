#include "core/scenario/hand_made_heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

#include "core/scenario/embeddings.h"
#include "core/tensor/error.h"
#include "core/tensor/random.h"

namespace headwise {
namespace {

// Lengths of text that the sharpness is tried for, longest first: the first for which no scaled score exceeds
// `largest_score` is taken. 64 is where exp still has its full range in f32, and maps of other heads remain
// visible in comparison.
constexpr std::array<Index, 6> reaches{512, 256, 128, 64, 32, 16};
constexpr double largest_score = 64.0;
constexpr double previous_share = 0.9;     // of the softmax, over the whole reach
constexpr double elsewhere_margin = 2.2;   // scaled scores: the same word elsewhere over itself, e^2.2 = 9
constexpr double other_word_margin = 2.5;  // the word itself over other words
constexpr double random_deviation = 1.5;   // of scaled scores

struct RoleEntry {
  HeadRole role;
  const char *name, *reason;
};

constexpr std::array<RoleEntry, 6> roles{{
    {HeadRole::previous_word, "previous word",
     "W_q rotates the position's sine-cosine pairs back by one position, W_k uses them unchanged: they match "
     "best one position to the left"},
    {HeadRole::same_word, "same word elsewhere",
     "W_q and W_k use the same pairs of the word's code, so equal words match; opposite signs on a few "
     "position pairs push the word itself away"},
    {HeadRole::first_word, "first word",
     "W_q turns the constant column into the code of position 0, the same query for every word; W_k uses the "
     "position's pairs"},
    {HeadRole::itself, "itself",
     "W_q and W_k use the same position pairs: they match best at the same position"},
    {HeadRole::average, "average of all",
     "W_q is 0, so every score is 0 and the softmax gives every word the same weight"},
    {HeadRole::random, "random", "W_q and W_k are random numbers: what it attends to has no meaning"},
}};

bool needs_positions(HeadRole role) {
  return role == HeadRole::previous_word || role == HeadRole::first_word || role == HeadRole::itself;
}

// What the key head of a group provides, and how sharply its query heads look.
struct GroupPlan {
  bool random = true;               // no role of the group needs anything from its key
  PositionKernel positions;         // in the first pairs of the key's rows
  Index word_pairs = 0;             // in the rows after them
  double position_sharpness = 0.0;  // β of previous word, first word and itself
  double push = 0.0;                // β of the position pairs of the same-word head, taken negative
  double word_sharpness = 0.0;      // β of each word pair
  // The key's pairs are multiplied by these; a query's by β·√D over them,
  // so that both sides have similar magnitudes.
  double position_gain = 1.0, word_gain = 1.0;
};

[[noreturn]] void no_room(const AttentionOptions& o, const std::string& what) {
  throw Error(ExitStatus::usage,
              {.where = "parameters.source = hand_made",
               .what = "the heads are too narrow for " + what,
               .got = fmt::format("head_dim = {}, embed_dim = {}", o.head_dim, o.embed_dim),
               .expected = "head_dim of at least 8 and embed_dim of at least 32",
               .remedy = "choose fewer heads or a larger embed_dim, or parameters.source = random"});
}

// Strides beyond 32 skip all the frequencies that distinguish adjacent positions at any width in use.
Index widest_stride(Index count, const EmbeddingLayout& layout) {
  if (count == 1) return 1;
  return std::min<Index>(32, (layout.position_pairs - 1) / (count - 1));
}

// The best position code of at most `most` pairs for previous word, first word and itself: of all numbers of
// pairs (halved, as slow pairs raise every score and distinguish little) and all strides the one with the
// smallest scores.
bool plan_positions(GroupPlan& plan, Index most, const EmbeddingLayout& layout) {
  for (const Index reach : reaches) {
    double best = largest_score;
    for (Index count = most; count >= 1; count /= 2) {
      for (Index stride = 1; stride <= widest_stride(count, layout); ++stride) {
        const PositionKernel kernel = PositionKernel::strided(count, stride, layout.position_pairs);
        const double sharpness = kernel.sharpness(reach, previous_share, best / kernel.peak());
        if (sharpness * kernel.peak() >= best) continue;
        best = sharpness * kernel.peak();
        plan.positions = kernel;
        plan.position_sharpness = sharpness;
      }
    }
    if (best < largest_score) return true;
  }
  return false;
}

// Position pairs that distinguish a word from the same word elsewhere,
// and word pairs that distinguish it from other words.
bool plan_same_word(GroupPlan& plan, Index position_count, Index token_count, const EmbeddingLayout& layout) {
  // Codes of two words agree by chance with deviation 1/√(2·pairs); this much is tolerated.
  const double chance = std::min(0.6, 3.5 / std::sqrt(2.0 * static_cast<double>(token_count)));
  for (const Index reach : reaches) {
    double best = largest_score;
    for (Index stride = 1; stride <= widest_stride(position_count, layout); ++stride) {
      const PositionKernel kernel = PositionKernel::strided(position_count, stride, layout.position_pairs);
      const double push = elsewhere_margin / (kernel.peak() - kernel.largest_beside(reach));
      const double range = push * (kernel.peak() - kernel.smallest(reach));
      const double top = (range + other_word_margin) / (1.0 - chance);
      if (top >= best) continue;
      best = top;
      plan.positions = kernel;
      plan.push = push;
      plan.word_sharpness = top / static_cast<double>(token_count);
    }
    if (best < largest_score) {
      plan.word_pairs = token_count;
      return true;
    }
  }
  return false;
}

// A group with both kinds of roles: the same pairs have to serve previous word too.
bool share_positions(GroupPlan& plan) {
  for (const Index reach : reaches) {
    const double bound = largest_score / plan.positions.peak();
    plan.position_sharpness = plan.positions.sharpness(reach, previous_share, bound);
    if (plan.position_sharpness < bound) return true;
  }
  return false;
}

// What the heads of a group need from the key that they share.
struct GroupNeeds {
  bool positions = false, words = false;
};

GroupNeeds needs_of(Index group, const AttentionOptions& o) {
  const Index per_group = o.num_heads / o.num_kv_heads;
  GroupNeeds needs;
  for (Index head = group * per_group; head < (group + 1) * per_group; ++head) {
    const HeadRole role = hand_made_role(head);
    if (role == HeadRole::random) break;  // and so are all after it
    needs.positions = needs.positions || needs_positions(role);
    needs.words = needs.words || role == HeadRole::same_word;
  }
  return needs;
}

GroupPlan plan_group(const GroupNeeds& needs, const AttentionOptions& o, const EmbeddingLayout& layout) {
  GroupPlan plan;
  if (!needs.positions && !needs.words) return plan;
  plan.random = false;
  const Index pairs = o.head_dim / 2;
  if (!needs.words) {
    if (!plan_positions(plan, std::min(pairs, layout.position_pairs), layout)) no_room(o, "previous word");
  } else {
    // Three eighths of the pairs distinguish positions (half, if positions are needed for themselves too).
    const Index wanted = needs.positions ? (pairs + 1) / 2 : (3 * pairs + 7) / 8;
    const Index position_count = std::min(std::max<Index>(wanted, 2), layout.position_pairs);
    const Index token_count = std::min(pairs - position_count, layout.word_pairs);
    if (position_count < 2 || token_count < 1 || !plan_same_word(plan, position_count, token_count, layout))
      no_room(o, "same word elsewhere");
    if (needs.positions && !share_positions(plan)) no_room(o, "previous word and same word in one group");
  }
  const double root = std::sqrt(static_cast<double>(o.head_dim));
  plan.position_gain = std::sqrt(std::max(plan.position_sharpness, plan.push) * root);
  plan.word_gain = std::sqrt(plan.word_sharpness * root);
  return plan;
}

// The plan of a group depends on a few sizes alone, and a search finds it: each is made once.
const GroupPlan& plan_of(Index group, const AttentionOptions& o) {
  static std::mutex making;
  static std::map<std::array<Index, 4>, GroupPlan> plans;
  const GroupNeeds needs = needs_of(group, o);
  const std::lock_guard lock(making);
  const std::array<Index, 4> key{needs.positions ? 1 : 0, needs.words ? 1 : 0, o.head_dim, o.embed_dim};
  const auto made = plans.find(key);
  if (made != plans.end()) return made->second;
  return plans.emplace(key, plan_group(needs, o, embedding_layout(o.embed_dim))).first->second;
}

// One head's D rows of a projection; `row(r, c)` is a cell.
class HeadRows {
 public:
  HeadRows(Tensor& tensor, Index first) : tensor_(tensor), first_(first), cols_(tensor.shape().size(1)) {}
  void set(Index row, Index column, double value) {
    tensor_.set_flat((first_ + row) * cols_ + column, value);
  }
  Index cols() const { return cols_; }

 private:
  Tensor& tensor_;
  Index first_, cols_;
};

void set_random(HeadRows& rows, Index first, Index count, const CounterRandom& random) {
  // Then q and k entries have the variance σ²·E/2 (an embedding has E/2 pairs of length 1), and so do scaled
  // scores.
  const double deviation = std::sqrt(2.0 * random_deviation / static_cast<double>(rows.cols()));
  for (Index r = 0; r < count; ++r)
    for (Index c = 0; c < rows.cols(); ++c)
      rows.set(r, c, deviation * random.normal(static_cast<std::uint64_t>((first + r) * rows.cols() + c)));
}

// Rows 2m, 2m+1 read the pair at `column`, rotated back by `radians`.
void set_rotation(HeadRows& rows, Index m, Index column, double radians, double gain) {
  rows.set(2 * m, column, gain * std::cos(radians));
  rows.set(2 * m, column + 1, -gain * std::sin(radians));
  rows.set(2 * m + 1, column, gain * std::sin(radians));
  rows.set(2 * m + 1, column + 1, gain * std::cos(radians));
}

void set_key(HeadRows& rows, const GroupPlan& plan, const EmbeddingLayout& layout) {
  const auto positions = static_cast<Index>(plan.positions.pairs.size());
  for (Index m = 0; m < positions; ++m) {
    const Index pair = plan.positions.pairs[static_cast<std::size_t>(m)];
    set_rotation(rows, m, layout.position_column() + 2 * pair, 0.0, plan.position_gain);
  }
  for (Index w = 0; w < plan.word_pairs; ++w) set_rotation(rows, positions + w, 2 * w, 0.0, plan.word_gain);
}

void set_query(HeadRows& rows, HeadRole role, const GroupPlan& plan, const EmbeddingLayout& layout,
               double root) {
  const auto positions = static_cast<Index>(plan.positions.pairs.size());
  const double position_gain = plan.position_sharpness * root / plan.position_gain;
  for (Index m = 0; m < positions; ++m) {
    const auto i = static_cast<std::size_t>(m);
    const Index column = layout.position_column() + 2 * plan.positions.pairs[i];
    if (role == HeadRole::previous_word)
      set_rotation(rows, m, column, plan.positions.frequencies[i], position_gain);
    if (role == HeadRole::itself) set_rotation(rows, m, column, 0.0, position_gain);
    // Position 0 is (sin 0, cos 0) = (0, 1) in every pair.
    if (role == HeadRole::first_word) rows.set(2 * m + 1, layout.constant_column(), position_gain);
    if (role == HeadRole::same_word)
      set_rotation(rows, m, column, 0.0, -plan.push * root / plan.position_gain);
  }
  if (role != HeadRole::same_word) return;
  for (Index w = 0; w < plan.word_pairs; ++w)
    set_rotation(rows, positions + w, 2 * w, 0.0, plan.word_sharpness * root / plan.word_gain);
}

Tensor query_weight(const AttentionOptions& o, std::uint64_t seed, DType dtype) {
  Tensor weight({{"H·D", projection_rows(o).q}, {"E", o.embed_dim}}, dtype);
  const CounterRandom random(seed, "q_proj_weight");
  const Index per_group = o.num_heads / o.num_kv_heads;
  const EmbeddingLayout layout = embedding_layout(o.embed_dim);
  for (Index head = 0; head < o.num_heads; ++head) {
    const GroupPlan& plan = plan_of(head / per_group, o);
    HeadRows rows(weight, head * o.head_dim);
    const HeadRole role = hand_made_role(head);
    if (role == HeadRole::random)
      set_random(rows, head * o.head_dim, o.head_dim, random);
    else
      set_query(rows, role, plan, layout, std::sqrt(static_cast<double>(o.head_dim)));
  }
  return weight;
}

Tensor key_weight(const AttentionOptions& o, std::uint64_t seed, DType dtype) {
  Tensor weight({{"G·D", projection_rows(o).k}, {"kdim", o.embed_dim}}, dtype);
  const CounterRandom random(seed, "k_proj_weight");
  for (Index group = 0; group < o.num_kv_heads; ++group) {
    const GroupPlan& plan = plan_of(group, o);
    HeadRows rows(weight, group * o.head_dim);
    if (plan.random)
      set_random(rows, group * o.head_dim, o.head_dim, random);
    else
      set_key(rows, plan, embedding_layout(o.embed_dim));
  }
  return weight;
}

Tensor value_weight(const AttentionOptions& o, DType dtype) {
  Tensor weight({{"G·Dv", projection_rows(o).v}, {"vdim", o.embed_dim}}, dtype);
  const Index word_columns = std::max<Index>(1, 2 * embedding_layout(o.embed_dim).word_pairs);
  for (Index row = 0; row < weight.shape().size(0); ++row)
    weight.set_flat(row * o.embed_dim + row % word_columns, 1.0);
  return weight;
}

}  // namespace

HeadRole hand_made_role(Index head) {
  return head < static_cast<Index>(roles.size()) ? roles[static_cast<std::size_t>(head)].role
                                                 : HeadRole::random;
}

std::vector<HeadDescription> describe_hand_made_heads(Index num_heads) {
  std::vector<HeadDescription> all;
  for (Index head = 0; head < num_heads; ++head) {
    const RoleEntry& entry = roles[static_cast<std::size_t>(hand_made_role(head))];
    all.push_back({entry.role, entry.name, entry.reason});
  }
  return all;
}

Tensor hand_made_projection(Projection which, const AttentionOptions& o, std::uint64_t seed, DType dtype) {
  return which == Projection::q   ? query_weight(o, seed, dtype)
         : which == Projection::k ? key_weight(o, seed, dtype)
                                  : value_weight(o, dtype);
}

Tensor hand_made_out_weight(const AttentionOptions& o, DType dtype) {
  Tensor weight(
      {{"E", o.embed_dim}, {"H·Dv", checked_multiply(o.num_heads, o.v_head_dim, "out_proj.weight")}}, dtype);
  const Index columns = weight.shape().size(1);
  const auto heads = static_cast<double>(o.num_heads);
  for (Index e = 0; e < o.embed_dim && columns > 0; ++e) {
    const Index block = e / o.v_head_dim % o.num_heads, d = e % o.v_head_dim;
    for (Index head = 0; head < o.num_heads; ++head) {
      const double angle =
          std::numbers::pi * static_cast<double>(block) * (static_cast<double>(head) + 0.5) / heads;
      const double share = block == 0 ? std::sqrt(1.0 / heads) : std::sqrt(2.0 / heads) * std::cos(angle);
      weight.set_flat(e * columns + head * o.v_head_dim + d, share);
    }
  }
  return weight;
}

}  // namespace headwise
