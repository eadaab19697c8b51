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

std::string pairs_text(bool neighbours, const char* width) {
  const std::string halves = fmt::format("halves (j, j + {}/2)", width);
  constexpr const char* adjacent = "neighbouring columns (2j, 2j + 1)";
  return neighbours ? fmt::format("rotary position embedding rotates {} together, not {}", adjacent, halves)
                    : fmt::format("rotary position embedding rotates {} together, not {}", halves, adjacent);
}

// How a program rotates the columns of a head: a rotation, its direction and its positions.
struct Turn : Rotation {
  std::optional<double> base;
  bool by_neighbour_angles = false;  // column d by the angle of pair d/2, while halves are rotated
  double direction = 1.0;            // −1: the opposite one
  // the sign of sin θ in the first of the two columns, usually the opposite of the second's
  double sign_of_first = -1.0;
  std::function<double(Index h, Index t)> position = {};
};

// x (N,H,T,D), rotated.
Tensor rotated(const Tensor& x, const Turn& turn) {
  const Cells cell(x);
  return filled4(x.shape(), [&](Index n, Index h, Index t, Index d) {
    const Index column = d - turn.first;
    if (column < 0 || column >= 2 * turn.count()) return cell(n, h, t, d);
    const Index pair = turn.pair_of(d);
    const bool first = column == pair * turn.step();
    // repeat_interleave of the angles with rotate_half
    const Index angle_of = turn.by_neighbour_angles ? column / 2 : pair;
    const double angle = turn.position(h, t) * turn.inverse_frequencies[static_cast<std::size_t>(angle_of)];
    const double partner = cell(n, h, t, first ? d + turn.apart() : d - turn.apart());
    const double sign = turn.direction * (first ? turn.sign_of_first : 1.0);
    return turn.factor * (cell(n, h, t, d) * std::cos(angle) + sign * partner * std::sin(angle));
  });
}

// Of latents, k_rot holds all of a key that is rotated.
Id rotary_id(const AttentionOptions& o, bool of_queries) {
  return of_queries ? Id::q_rotary : is_latent(o) ? Id::k_rot : Id::k_rotary;
}

// What is rotated, before it is.
Tensor unrotated(const Trace& so_far, bool of_queries) {
  const AttentionOptions& o = so_far.options;
  const Id id = rotary_id(o, of_queries);
  if (id == Id::k_rot)
    return columns_of(required(so_far, Id::kv_a), o.kv_lora_rank.value_or(0), required(so_far, id).shape());
  return required(so_far, made_of(id, o));
}

// Ours, as the trace has it: another variant may have changed the frequencies.
Turn usual_turn(const Trace& so_far, bool of_queries) {
  const AttentionOptions& o = so_far.options;
  const AttentionSizes s = attention_sizes(o, so_far.tensors);
  const auto first =
      static_cast<double>(of_queries ? rotary_first_query(o, s.queries, s.keys) : rotary_first_key(o));
  Turn turn{of_queries ? rotation_of(o) : rotation_of_keys(o), o.rotary_base};
  turn.position = [first](Index, Index t) { return first + static_cast<double>(t); };
  return turn;
}

using TurnChange = std::function<void(Turn&, bool of_queries)>;

// Rotated as ours rotates queries, or keys, with a change.
StageChange rotated_as(const AttentionOptions& o, bool of_queries, const TurnChange& change) {
  return {rotary_id(o, of_queries), [=](const Trace& so_far) {
            Turn turn = usual_turn(so_far, of_queries);
            change(turn, of_queries);
            return rotated(unrotated(so_far, of_queries), turn);
          }};
}

// A tensor rotated as it stands.
StageChange also_rotated(Id id, bool of_queries) {
  return {id,
          [=](const Trace& so_far) { return rotated(required(so_far, id), usual_turn(so_far, of_queries)); }};
}

// What the variants are made for.
struct RotaryPlan {
  const AttentionOptions& options;
  Rotation ours;
  Index queries = 0, keys = 0, past = 0;

  // The letter of the columns that are rotated.
  const char* width() const { return is_latent(options) ? "R" : "D"; }
};

// The same change of the rotation for queries and keys, which may be a setting, for queries only and for keys
// only.
void add_rotations(const RotaryPlan& plan, ProgramVariants& variants, const std::string& text,
                   const TurnChange& change, const std::string& setting = "") {
  for (const auto& [who, queries, keys] : {std::tuple{"", true, true}, std::tuple{", in q alone", true, false},
                                           std::tuple{", in k alone", false, true}}) {
    ProgramVariant variant{text + who};
    if (queries && keys) variant.remedy = setting;
    if (queries) variant.stages.push_back(rotated_as(plan.options, true, change));
    if (keys) variant.stages.push_back(rotated_as(plan.options, false, change));
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
  add_rotations(plan, variants, "the rotation goes the other way: the sign of sin θ is opposite",
                [](Turn& turn, bool) { turn.direction = -1.0; });
  if (pairs > 1) {
    const bool halves = plan.ours.pairs == RotaryPairs::halves;
    const RotaryPairs other = halves ? RotaryPairs::neighbours : RotaryPairs::halves;
    add_rotations(
        plan, variants, pairs_text(halves, plan.width()), [other](Turn& turn, bool) { turn.pairs = other; },
        fmt::format("--set attention.rotary_pairs={}", halves ? "neighbours" : "halves"));
    if (halves)
      add_rotations(plan, variants,
                    "the rotary angles are laid out for neighbouring columns (θ0, θ0, θ1, θ1, …) while "
                    "halves are rotated",
                    [](Turn& turn, bool) { turn.by_neighbour_angles = true; });
  }
  for (const Index by : shifts(plan.past)) {
    add_rotations(plan, variants, shift_text(by, plan.past), [by](Turn& turn, bool) {
      turn.position = [own = turn.position, by](Index h, Index t) {
        return own(h, t) + static_cast<double>(by);
      };
    });
  }
  if (plan.ours.factor != 1.0)
    add_rotations(
        plan, variants,
        fmt::format("cos and sin are not multiplied by {:.9g}, the attention_factor of a scaled RoPE",
                    plan.ours.factor),
        [](Turn& turn, bool) { turn.factor = 1.0; });
  add_rotations(plan, variants,
                "the rotation lacks the minus of rotate_half: both columns of a pair add sin θ",
                [](Turn& turn, bool) { turn.sign_of_first = 1.0; });
  add_rotations(plan, variants, "the rotary positions count the heads, not the tokens", [](Turn& turn, bool) {
    turn.position = [](Index h, Index) { return static_cast<double>(h); };
  });
  add_rotations(plan, variants, "the rotary positions run backwards",
                [queries = plan.queries, keys = plan.keys](Turn& turn, bool of_queries) {
                  const auto last = static_cast<double>((of_queries ? queries : keys) - 1);
                  turn.position = [last](Index, Index t) { return last - static_cast<double>(t); };
                });
  add_rotations(plan, variants, "every token has the same rotary position",
                [](Turn& turn, bool) { turn.position = [](Index, Index) { return 1.0; }; });
  for (const double factor : {2.0, 0.5, 0.25, 0.125}) {
    add_rotations(plan, variants, fmt::format("rotary positions are multiplied by {:g}", factor),
                  [factor](Turn& turn, bool) {
                    for (double& frequency : turn.inverse_frequencies) frequency *= factor;
                  });
  }
  if (pairs > 1) {
    add_rotations(plan, variants, "the rotary frequencies stand in the reverse order", [](Turn& turn, bool) {
      turn.inverse_frequencies = {turn.inverse_frequencies.rbegin(), turn.inverse_frequencies.rend()};
    });
    add_rotations(
        plan, variants,
        fmt::format("the exponent of the rotary frequencies lacks its 2: base^(−j/{0}), not base^(−2j/{0})",
                    plan.width()),
        [](Turn& turn, bool) {
          for (double& frequency : turn.inverse_frequencies) frequency = std::sqrt(frequency);
        });
    add_rotations(
        plan, variants,
        fmt::format("the exponent of the rotary frequencies is doubled: base^(−4j/{0}), not base^(−2j/{0})",
                    plan.width()),
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
void add_row_orders(const RotaryPlan& plan, ProgramVariants& variants) {
  const AttentionOptions& o = plan.options;
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
      add(pairs_text(true, plan.width()), {columns_from(q, source), columns_from(k, source)},
          fmt::format("{}q and of k are reordered for it", module ? "the rows of W_" : "the columns of "));
    else
      add(fmt::format("{}q and {}k are {}, and rotated as halves", what, module ? "W_" : "", how),
          {columns_from(q, source), columns_from(k, source)});
  }
}

// Like partial_rotary_factor: only the first columns of a head, with the frequencies of that many columns.
void add_partial_rotations(const RotaryPlan& plan, ProgramVariants& variants) {
  const AttentionOptions& o = plan.options;
  if (!o.rotary_base) return;
  for (const Index part : {Index{2}, Index{4}}) {
    if (o.head_dim % (2 * part) != 0) continue;
    const Index width = o.head_dim / part;
    add_rotations(plan, variants,
                  fmt::format("only the first {} of {} columns of a head are rotated by their positions",
                              width, o.head_dim),
                  [width](Turn& turn, bool) {
                    if (turn.base) turn.inverse_frequencies = rotary_inverse_frequencies(width, *turn.base);
                  });
  }
}

// Which tensors are rotated, and how often.
void add_targets(const AttentionOptions& o, ProgramVariants& variants) {
  const auto as_heads = [&](bool of_queries) {
    return StageChange{rotary_id(o, of_queries),
                       [of_queries](const Trace& so_far) { return unrotated(so_far, of_queries); }};
  };
  const StageChange queries = as_heads(true), keys = as_heads(false);
  variants.push_back({"q alone is rotated by its positions (rotary), k is not", {keys}});
  variants.push_back({"k alone is rotated by its positions (rotary), q is not", {queries}});
  // For programs that return q and k all the same.
  variants.push_back({"q and k are not rotated by their positions",
                      "--set attention.rotary_base=null --set attention.rotary_inverse_frequencies=null",
                      {},
                      {queries, keys}});
  variants.push_back({"q and k are rotated by their positions twice (rotary)",
                      {also_rotated(Id::q_rotary, true), also_rotated(rotary_id(o, false), false)}});
  if (is_latent(o)) return;  // no value has as many columns
  const StageChange values = also_rotated(Id::v_heads, false);
  variants.push_back({"v is rotated by its positions (rotary), too", {values}});
  variants.push_back({"v alone is rotated by its positions (rotary), q and k are not", {queries, keys, values}});
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

}  // namespace

void add_rotary_variants(const AttentionInputs& inputs, const std::optional<StretchedRope>& stretched,
                         ProgramVariants& variants) {
  const AttentionOptions o = resolved_options(inputs);
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
    const RotaryPlan plan{o, rotation_of_keys(o), sizes.queries, sizes.new_keys(), sizes.past};
    add_conventions(plan, variants);
    add_targets(o, variants);
    if (!is_latent(o)) {  // which rotates no more than the columns made for it
      add_row_orders(plan, variants);
      add_partial_rotations(plan, variants);
      add_before_split(inputs, o, variants);
    }
  }
  const Index width = rotary_width(o);
  if (width == 0 || width % 2 != 0 || o.add_zero_attn || t.bias_k || t.static_k) return;
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
