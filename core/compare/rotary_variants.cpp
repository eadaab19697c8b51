// Rotary positions that are applied differently from ours: another sign, other positions, other pairs,
// other tensors.
#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "core/attention/attention_sizes.h"
#include "core/attention/heads.h"
#include "core/attention/latent_attention.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_path.h"
#include "core/compare/program_variants.h"

namespace headwise {
namespace {

using Id = TensorId;

constexpr const char* neighbours_text =
    "rotary position embedding rotates neighbouring columns (2j, 2j + 1) together, not halves (j, j + D/2)";
constexpr const char* halves_text =
    "rotary position embedding rotates halves (j, j + D/2) together, not neighbouring columns (2j, 2j + 1)";

// How a program rotates the columns of a head: a rotation, its direction and its positions.
struct Turn : Rotation {
  std::optional<double> base;
  bool by_neighbour_angles = false;  // column d by the angle of pair d/2, while halves are rotated
  double direction = 1.0;            // −1: the opposite one
  double first =
      -1.0;  // the sign of sin θ in the first of the two columns, usually the opposite of the second's
  std::function<double(Index h, Index t)> position = {};
};

// x (N,H,T,D), rotated.
Tensor rotated(const Tensor& x, const Turn& turn) {
  const Cells cell(x);
  return filled4(x.shape(), [&](Index n, Index h, Index t, Index d) {
    if (d >= 2 * turn.count()) return cell(n, h, t, d);
    const Index pair = turn.pair_of(d);
    const bool first = d == pair * turn.step();
    // repeat_interleave of the angles with rotate_half
    const Index angle_of = turn.by_neighbour_angles ? d / 2 : pair;
    const double angle = turn.position(h, t) * turn.inverse_frequencies[static_cast<std::size_t>(angle_of)];
    const double partner = cell(n, h, t, first ? d + turn.apart() : d - turn.apart());
    const double sign = turn.direction * (first ? turn.first : 1.0);
    return turn.factor * (cell(n, h, t, d) * std::cos(angle) + sign * partner * std::sin(angle));
  });
}

// Ours, as the trace has it: another variant may have changed the frequencies.
Turn usual_turn(const Trace& so_far, bool of_queries) {
  const AttentionOptions& o = so_far.options;
  const Index queries = required(so_far, Id::q_heads).shape().size(2);
  const Index past = rotary_first_key(o), keys = past + required(so_far, Id::k_heads).shape().size(2);
  const auto first = static_cast<double>(of_queries ? rotary_first_query(o, queries, keys) : past);
  Turn turn{rotation_of(o), o.rotary_base};
  turn.position = [first](Index, Index t) { return first + static_cast<double>(t); };
  return turn;
}

// Heads as they are rotated: normalised where the norm comes first.
const Tensor& unturned(const Trace& so_far, Id from) {
  if (from == Id::q_heads) from = made_of(Id::q_rotary, so_far.options);
  if (from == Id::k_heads) from = made_of(Id::k_rotary, so_far.options);
  return required(so_far, from);
}

using TurnChange = std::function<void(Turn&, bool of_queries)>;

// `to` is `from` rotated as ours rotates queries, or keys, with a change.
StageChange rotated_as(Id to, Id from, bool of_queries, const TurnChange& change = {}) {
  return {to, [=](const Trace& so_far) {
            Turn turn = usual_turn(so_far, of_queries);
            if (change) change(turn, of_queries);
            return rotated(unturned(so_far, from), turn);
          }};
}

// What the variants are made for.
struct RotaryPlan {
  Rotation ours;
  Index queries = 0, keys = 0, past = 0;
};

// The same change of the rotation for queries and keys, for queries only and for keys only.
void add_rotations(ProgramVariants& variants, const std::string& text, const TurnChange& change) {
  for (const auto& [who, queries, keys] : {std::tuple{"", true, true}, std::tuple{", in q alone", true, false},
                                           std::tuple{", in k alone", false, true}}) {
    ProgramVariant variant{text + who};
    if (queries) variant.stages.push_back(rotated_as(Id::q_rotary, Id::q_heads, true, change));
    if (keys) variant.stages.push_back(rotated_as(Id::k_rotary, Id::k_heads, false, change));
    variants.push_back(std::move(variant));
  }
}

// By how many positions a program may be off. With a past, its new tokens are most often counted from 0.
std::vector<Index> shifts(Index past) {
  std::vector<Index> by{1, -1, 2};
  if (past > 1) by.insert(by.begin(), -past);
  return by;
}

std::string shift_text(Index by, Index past) {
  if (past == 0) return fmt::format("rotary positions are counted from {}, not from 0", by);
  return fmt::format("{}: rotary positions after the past begin at {}, not at {}",
                     by == -past ? std::string("the rotary positions of the new tokens ignore the past")
                                 : fmt::format("the cache position is off by {}", by),
                     past + by, past);
}

void add_conventions(const RotaryPlan& plan, ProgramVariants& variants) {
  const Index pairs = plan.ours.count();
  add_rotations(variants, "the rotation goes the other way: the sign of sin θ is opposite",
                [](Turn& turn, bool) { turn.direction = -1.0; });
  if (pairs > 1) {
    const bool halves = plan.ours.pairs == RotaryPairs::halves;
    const RotaryPairs other = halves ? RotaryPairs::neighbours : RotaryPairs::halves;
    add_rotations(variants, halves ? neighbours_text : halves_text,
                  [other](Turn& turn, bool) { turn.pairs = other; });
    if (halves)
      add_rotations(variants,
                    "the rotary angles are laid out for neighbouring columns (θ0, θ0, θ1, θ1, …) while "
                    "halves are rotated",
                    [](Turn& turn, bool) { turn.by_neighbour_angles = true; });
  }
  for (const Index by : shifts(plan.past)) {
    add_rotations(variants, shift_text(by, plan.past), [by](Turn& turn, bool) {
      turn.position = [own = turn.position, by](Index h, Index t) {
        return own(h, t) + static_cast<double>(by);
      };
    });
  }
  if (plan.ours.factor != 1.0)
    add_rotations(
        variants,
        fmt::format("cos and sin are not multiplied by {:.9g}, the attention_factor of a scaled RoPE",
                    plan.ours.factor),
        [](Turn& turn, bool) { turn.factor = 1.0; });
  add_rotations(variants, "the rotation lacks the minus of rotate_half: both columns of a pair add sin θ",
                [](Turn& turn, bool) { turn.first = 1.0; });
  add_rotations(variants, "the rotary positions count the heads, not the tokens", [](Turn& turn, bool) {
    turn.position = [](Index h, Index) { return static_cast<double>(h); };
  });
  add_rotations(variants, "the rotary positions run backwards", [plan](Turn& turn, bool of_queries) {
    const auto last = static_cast<double>((of_queries ? plan.queries : plan.keys) - 1);
    turn.position = [last](Index, Index t) { return last - static_cast<double>(t); };
  });
  add_rotations(variants, "every token has the same rotary position",
                [](Turn& turn, bool) { turn.position = [](Index, Index) { return 1.0; }; });
  for (const double factor : {2.0, 0.5, 0.25, 0.125}) {
    add_rotations(variants, fmt::format("rotary positions are multiplied by {:g}", factor),
                  [factor](Turn& turn, bool) {
                    for (double& frequency : turn.inverse_frequencies) frequency *= factor;
                  });
  }
  if (pairs > 1) {
    add_rotations(variants, "the rotary frequencies stand in the reverse order", [](Turn& turn, bool) {
      turn.inverse_frequencies = {turn.inverse_frequencies.rbegin(), turn.inverse_frequencies.rend()};
    });
    add_rotations(variants,
                  "the exponent of the rotary frequencies lacks its 2: base^(−j/D), not base^(−2j/D)",
                  [](Turn& turn, bool) {
                    for (double& frequency : turn.inverse_frequencies) frequency = std::sqrt(frequency);
                  });
    add_rotations(variants,
                  "the exponent of the rotary frequencies is doubled: base^(−4j/D), not base^(−2j/D)",
                  [](Turn& turn, bool) {
                    for (double& frequency : turn.inverse_frequencies) frequency *= frequency;
                  });
  }
}

// Within each head of (…,H·D) or (…,D), column d from column source[d].
StageChange columns_from(Id id, std::vector<Index> source) {
  return {id, [id, source = std::move(source)](const Trace& so_far) {
            const Tensor& x = *so_far.tensor(id);
            const auto width = static_cast<Index>(source.size());
            Tensor result = x;
            for (Index i = 0; i < x.size(); ++i)
              result.set_flat(i, x.flat(i - i % width + source[static_cast<std::size_t>(i % width)]));
            return result;
          }};
}

// Checkpoints keep the columns that are rotated together as halves (transformers) or as neighbours (Meta's
// Llama); converting them reorders the rows of W_q and W_k. Here that was forgotten, or done once too often.
void add_row_orders(const RotaryPlan& plan, const AttentionOptions& o, ProgramVariants& variants) {
  const Index pairs = plan.ours.count();
  if (pairs < 2 || plan.ours.pairs != RotaryPairs::halves) return;
  std::vector<Index> to_halves(static_cast<std::size_t>(o.head_dim));
  std::iota(to_halves.begin(), to_halves.end(), Index{0});
  std::vector<Index> to_neighbours = to_halves;
  for (Index j = 0; j < pairs; ++j) {
    for (const Index second : {0, 1}) {
      to_halves[static_cast<std::size_t>(j + second * pairs)] = 2 * j + second;
      to_neighbours[static_cast<std::size_t>(2 * j + second)] = j + second * pairs;
    }
  }
  const bool module = o.op == Op::multi_head_attention;
  const Id q = module ? Id::q : Id::q_heads, k = module ? Id::k : Id::k_heads;
  const char* what = module ? "the rows of W_" : "the columns of ";
  const auto add = [&](const std::string& text, std::vector<StageChange> stages, std::string detail = "") {
    variants.push_back({text, std::move(stages), {}, std::move(detail)});
  };
  for (const bool halves : {true, false}) {
    const std::vector<Index>& source = halves ? to_halves : to_neighbours;
    if (!halves && to_halves == to_neighbours) break;
    const char* how =
        halves ? "reordered from neighbouring columns to halves (0, 2, 4, …, 1, 3, 5, … of each head)"
               : "reordered from halves to neighbouring columns (0, D/2, 1, D/2 + 1, … of each head)";
    add(fmt::format("{}k alone are {}", what, how), {columns_from(k, source)});
    add(fmt::format("{}q alone are {}", what, how), {columns_from(q, source)});
    // The scores of the first are those of the other convention, and have its name.
    if (halves)
      add(neighbours_text, {columns_from(q, source), columns_from(k, source)},
          fmt::format("{}q and of k are reordered for it", module ? "the rows of W_" : "the columns of "));
    else
      add(fmt::format("{}q and {}k are {}, and rotated as halves", what, module ? "W_" : "", how),
          {columns_from(q, source), columns_from(k, source)});
  }
}

// Like partial_rotary_factor: only the first columns of a head, with the frequencies of that many columns.
void add_partial_rotations(const AttentionOptions& o, ProgramVariants& variants) {
  if (!o.rotary_base) return;
  for (const Index part : {Index{2}, Index{4}}) {
    if (o.head_dim % (2 * part) != 0) continue;
    const Index width = o.head_dim / part;
    add_rotations(variants,
                  fmt::format("only the first {} of {} columns of a head are rotated by their positions",
                              width, o.head_dim),
                  [width](Turn& turn, bool) {
                    if (turn.base) turn.inverse_frequencies = rotary_inverse_frequencies(width, *turn.base);
                  });
  }
}

// Which tensors are rotated, and how often.
void add_targets(ProgramVariants& variants) {
  const auto as_heads = [](Id id, Id heads) {
    return StageChange{id, [heads](const Trace& so_far) { return unturned(so_far, heads); }};
  };
  variants.push_back(
      {"q alone is rotated by its positions (rotary), k is not", {as_heads(Id::k_rotary, Id::k_heads)}});
  variants.push_back(
      {"k alone is rotated by its positions (rotary), q is not", {as_heads(Id::q_rotary, Id::q_heads)}});
  // For programs that return q and k all the same.
  variants.push_back({"q and k are not rotated by their positions",
                      "--set attention.rotary_base=null --set attention.rotary_inverse_frequencies=null",
                      {},
                      {as_heads(Id::q_rotary, Id::q_heads), as_heads(Id::k_rotary, Id::k_heads)}});
  const StageChange values = rotated_as(Id::v_heads, Id::v_heads, false);
  variants.push_back({"v is rotated by its positions (rotary), too", {values}});
  variants.push_back({"v alone is rotated by its positions (rotary), q and k are not",
                      {as_heads(Id::q_rotary, Id::q_heads), as_heads(Id::k_rotary, Id::k_heads), values}});
  variants.push_back(
      {"q and k are rotated by their positions twice (rotary)",
       {rotated_as(Id::q_rotary, Id::q_rotary, true), rotated_as(Id::k_rotary, Id::k_rotary, false)}});
}

// Rotated over the whole width, before the split: the frequencies of E columns, not of D.
void add_before_split(const AttentionInputs& inputs, const AttentionOptions& o, ProgramVariants& variants) {
  if (o.op != Op::multi_head_attention || o.num_heads == 1 || !o.rotary_base) return;
  const double base = *o.rotary_base;
  const AttentionSizes sizes = attention_sizes(inputs);
  const auto joined = [base](Id rotary, Id x, Index first) {
    return StageChange{rotary, [base, x, first](const Trace& so_far) {
                         const Tensor& rows = required(so_far, x);
                         const Index width = rows.shape().size(2);
                         const double own = so_far.options.rotary_base.value_or(base);
                         Rotation rotation = rotation_of(so_far.options);
                         rotation.inverse_frequencies = rotary_inverse_frequencies(width, own);
                         const Tensor whole = rotary_embedding(rows, rotation, first);
                         const Index heads = width / so_far.options.head_dim;
                         return split_heads(whole, heads, x == Id::q ? "H" : "G", "D");
                       }};
  };
  variants.push_back(
      {"q and k are rotated by their positions over their whole width, before they are split into heads",
       {joined(Id::q_rotary, Id::q, rotary_first_query(o, sizes.queries, sizes.keys)),
        joined(Id::k_rotary, Id::k, rotary_first_key(o))}});
}

// Latents have a past of keys that are rotated already, and one key for all heads.
void add_latent_shifts(const AttentionInputs& inputs, const AttentionOptions& o, ProgramVariants& variants) {
  if (!has_rotary_embedding(o)) return;
  const AttentionSizes sizes = attention_sizes(inputs);
  if (sizes.past == 0) return;
  for (const Index by : shifts(sizes.past)) {
    const StageChange queries{Id::q_rotary, [by](const Trace& so_far) {
                                const AttentionOptions& p = so_far.options;
                                const AttentionSizes s = attention_sizes(p, so_far.tensors);
                                return rotary_embedding(required(so_far, Id::q_heads), rotation_of(p),
                                                        rotary_first_query(p, s.queries, s.keys) + by);
                              }};
    const StageChange keys{Id::k_rot, [by](const Trace& so_far) {
                             const AttentionOptions& p = so_far.options;
                             const Tensor columns =
                                 columns_of(required(so_far, Id::kv_a), p.kv_lora_rank.value_or(0),
                                            required(so_far, Id::k_rot).shape());
                             return rotary_embedding(columns, rotation_of_keys(p), rotary_first_key(p) + by);
                           }};
    const std::string text = shift_text(by, sizes.past);
    variants.push_back({text, {keys, queries}});
    variants.push_back({text + ", in q alone", {queries}});
    variants.push_back({text + ", in k alone", {keys}});
  }
}

}  // namespace

void add_rotary_variants(const AttentionInputs& inputs, const std::optional<StretchedRope>& stretched,
                         ProgramVariants& variants) {
  const AttentionOptions o = resolved_options(inputs);
  if (is_latent(o)) return add_latent_shifts(inputs, o, variants);
  const TraceTensors& t = inputs.tensors;
  const auto with_base = [](std::optional<double> base) {
    return [base](AttentionInputs& other) {
      other.options.rotary_base = base;
      other.options.rotary_inverse_frequencies.clear();
      other.options.rotary_factor = 1.0;
    };
  };
  if (has_rotary_embedding(o)) {
    variants.push_back({"q and k are not rotated by their positions",
                        "--set attention.rotary_base=null --set attention.rotary_inverse_frequencies=null",
                        with_base(std::nullopt)});
    const AttentionSizes sizes = attention_sizes(inputs);
    const RotaryPlan plan{rotation_of(o), sizes.queries, sizes.new_keys(), sizes.past};
    add_conventions(plan, variants);
    add_row_orders(plan, o, variants);
    add_targets(variants);
    add_partial_rotations(o, variants);
    add_before_split(inputs, o, variants);
  }
  if (o.head_dim == 0 || o.head_dim % 2 != 0 || o.add_zero_attn || t.bias_k || t.static_k) return;
  for (const double base : {1e4, 5e5, 1e6, 1e5, 1e3, 100.0}) {
    if (o.rotary_base == base && o.rotary_factor == 1.0) continue;
    if (stretched && stretched->base == base) continue;  // named for what it is: no scaling
    std::string no_list =
        o.rotary_inverse_frequencies.empty()
            ? ""
            : " --set attention.rotary_inverse_frequencies=null --set attention.rotary_scaling=null";
    if (o.rotary_factor != 1.0) no_list += " --set attention.rotary_factor=1";
    variants.push_back({fmt::format("q and k are rotated by their positions (rotary, base {:g})", base),
                        fmt::format("--set attention.rotary_base={:.0f}{}", base, no_list), with_base(base)});
  }
}

}  // namespace headwise
