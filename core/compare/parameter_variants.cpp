// Parameters that are used differently: left out, transposed, reordered.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/attention/attention_sizes.h"
#include "core/compare/program_variants.h"

namespace headwise {
namespace {

// W_q, W_k, W_v separately and the rows of in_proj_bias that belong to each,
// so that one of the three can be changed.
struct Parts {
  std::array<TensorPtr TraceTensors::*, 3> weights{&TraceTensors::q_proj_weight, &TraceTensors::k_proj_weight,
                                                   &TraceTensors::v_proj_weight};
  std::array<Index, 4> first_rows{};  // of q, k, v and the end

  explicit Parts(const AttentionOptions& o)
      : first_rows{0, o.num_heads * o.head_dim, (o.num_heads + o.num_kv_heads) * o.head_dim,
                   (o.num_heads + o.num_kv_heads) * o.head_dim + o.num_kv_heads * o.v_head_dim} {}
  Index rows(std::size_t part) const { return first_rows[part + 1] - first_rows[part]; }

  std::vector<Index> rows_of(std::size_t part) const {
    std::vector<Index> rows;
    for (Index row = first_rows[part]; row < first_rows[part + 1]; ++row) rows.push_back(row);
    return rows;
  }

  // W_q, W_k and W_v stacked as in in_proj_weight; null if they do not have the same width.
  TensorPtr stacked(const TraceTensors& t) const {
    if (t.in_proj_weight) return t.in_proj_weight;
    for (const auto weight : weights)
      if (!(t.*weight) || (t.*weight)->shape().size(1) != (t.*weights[0])->shape().size(1)) return nullptr;
    const Index width = (t.*weights[0])->shape().size(1);
    Tensor result(Shape{{"H·D+G·D+G·Dv", first_rows[3]}, {"E", width}}, DType::f64);
    for (std::size_t part = 0; part < 3; ++part) {
      const Tensor& weight = *(t.*weights[part]);
      for (Index i = 0; i < weight.size(); ++i) result.set_flat(first_rows[part] * width + i, weight.flat(i));
    }
    return shared_tensor(std::move(result));
  }

  void separate(AttentionInputs& inputs) const {
    TraceTensors& t = inputs.tensors;
    if (!t.in_proj_weight) return;
    for (std::size_t part = 0; part < 3; ++part)
      t.*weights[part] = with_blocks(*t.in_proj_weight, 1, rows_of(part));
    t.in_proj_weight = nullptr;
  }
};

constexpr std::array<const char*, 3> letters{"q", "k", "v"};

Tensor with_zero_rows(const Tensor& bias, Index first, Index end) {
  Tensor result = bias;
  for (Index row = first; row < end; ++row) result.set_flat(row, 0.0);
  return result;
}

// The parts replaced by the rows and bias of another projection: `from[p]` replaces part p.
Change parts_taken(const Parts& parts, const std::array<std::size_t, 3>& from) {
  return [parts, from](AttentionInputs& other) {
    parts.separate(other);
    TraceTensors& t = other.tensors;
    const std::array<TensorPtr, 3> own{t.q_proj_weight, t.k_proj_weight, t.v_proj_weight};
    std::vector<Index> bias_rows;
    for (std::size_t part = 0; part < 3; ++part) {
      t.*parts.weights[part] = own[from[part]];
      const std::vector<Index> rows = parts.rows_of(from[part]);
      bias_rows.insert(bias_rows.end(), rows.begin(), rows.end());
    }
    if (t.in_proj_bias) t.in_proj_bias = with_blocks(*t.in_proj_bias, 1, bias_rows);
  };
}

void add_single_parts(const AttentionInputs& inputs, ProgramVariants& variants) {
  const TraceTensors& t = inputs.tensors;
  const Parts parts(inputs.options);
  for (std::size_t part = 0; part < 3; ++part) {
    if (t.in_proj_bias)
      variants.push_back(
          {fmt::format("the bias of {} is not added", letters[part]), [parts, part](AttentionInputs& other) {
             other.tensors.in_proj_bias = shared_tensor(with_zero_rows(
                 *other.tensors.in_proj_bias, parts.first_rows[part], parts.first_rows[part + 1]));
           }});
    if (t.in_proj_weight && parts.rows(part) > 1)
      variants.push_back({fmt::format("W_{} is used as [in,out], x·W where ours is x·Wᵀ", letters[part]),
                          [parts, part](AttentionInputs& other) {
                            parts.separate(other);
                            TensorPtr& weight = other.tensors.*parts.weights[part];
                            weight = read_as_in_out(*weight);
                          }});
  }
  const auto width = [&](std::size_t part) {
    const TensorPtr& weight = t.in_proj_weight ? t.in_proj_weight : t.*parts.weights[part];
    return weight ? weight->shape().size(1) : 0;
  };
  const auto alike = [&](std::size_t a, std::size_t b) {
    return parts.rows(a) == parts.rows(b) && width(a) == width(b) && parts.rows(a) > 0 && width(a) > 0;
  };
  const bool packed_orders =
      t.in_proj_weight && parts.rows(0) == parts.rows(1) && parts.rows(1) == parts.rows(2);
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      if (a == b || !alike(a, b)) continue;
      std::array<std::size_t, 3> from{0, 1, 2};
      if (a < b && !packed_orders) {  // otherwise reported as an order of the rows of in_proj_weight
        std::swap(from[a], from[b]);
        variants.push_back({fmt::format("the projections of {} and {} are exchanged", letters[a], letters[b]),
                            parts_taken(parts, from)});
      }
      from = {0, 1, 2};
      from[a] = b;
      variants.push_back({fmt::format("{} is projected with the matrix of {}", letters[a], letters[b]),
                          parts_taken(parts, from)});
    }
  }
}

// One of the three has the matrix, or the bias, of another, and everything else of its own.
void add_halves_of_parts(const AttentionInputs& inputs, ProgramVariants& variants) {
  const TraceTensors& t = inputs.tensors;
  if (!t.in_proj_bias) return;
  const Parts parts(inputs.options);
  const bool one_input = t.query == t.key && t.key == t.value;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      if (a == b || parts.rows(a) != parts.rows(b) || parts.rows(a) == 0) continue;
      if (one_input)
        variants.push_back(
            {fmt::format("{} is projected with the matrix of {} and its own bias", letters[a], letters[b]),
             [parts, a, b](AttentionInputs& other) {
               parts.separate(other);
               other.tensors.*parts.weights[a] = other.tensors.*parts.weights[b];
             }});
      std::array<std::size_t, 3> from{0, 1, 2};
      from[a] = b;
      variants.push_back({fmt::format("the bias of {} is added to {}", letters[b], letters[a]),
                          [parts, from](AttentionInputs& other) {
                            std::vector<Index> rows;
                            for (const std::size_t part : from) {
                              const std::vector<Index> own = parts.rows_of(part);
                              rows.insert(rows.end(), own.begin(), own.end());
                            }
                            other.tensors.in_proj_bias = with_blocks(*other.tensors.in_proj_bias, 1, rows);
                          }});
    }
  }
}

void add_parameter_orders(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionOptions& o = inputs.options;
  const TraceTensors& t = inputs.tensors;
  const Index rows = o.num_heads * o.head_dim;
  if (!t.in_proj_weight || o.num_heads != o.num_kv_heads || o.head_dim != o.v_head_dim) return;
  const auto reorder = [](Index block, std::vector<Index> source) {
    return [block, source = std::move(source)](AttentionInputs& other) {
      for (TensorPtr* packed : {&other.tensors.in_proj_weight, &other.tensors.in_proj_bias})
        if (*packed) *packed = with_blocks(**packed, block, source);
    };
  };
  // Where q, k and v are in theirs.
  constexpr std::array<std::pair<const char*, std::array<Index, 3>>, 5> orders{{{"q, v, k", {0, 2, 1}},
                                                                                {"k, q, v", {1, 0, 2}},
                                                                                {"v, q, k", {1, 2, 0}},
                                                                                {"k, v, q", {2, 0, 1}},
                                                                                {"v, k, q", {2, 1, 0}}}};
  for (const auto& [text, source] : orders) {
    variants.push_back({fmt::format("the rows of in_proj_weight are taken in the order {}, not q, k, v", text),
                        reorder(rows, {source.begin(), source.end()})});
  }
}

// One fused matrix of q, k and v, whose rows are stored in one order and taken in another: BLOOM and GPT-NeoX
// store them head by head.
void add_fused_orders(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionOptions& o = inputs.options;
  const Index heads = o.num_heads, groups = o.num_kv_heads, width = o.head_dim;
  const Parts parts(o);
  if (heads == 1 || groups == 0 || width != o.v_head_dim || !parts.stacked(inputs.tensors)) return;
  const Index per_group = heads / groups;
  using Place = std::function<Index(Index part, Index h, Index d)>;  // of a row, in another order
  struct Order {
    const char* text;
    bool also_taken;  // false: that is the same as heads of every H-th column (head_variants.cpp)
    Place place;
  };
  const Place by_group = [=](Index part, Index h, Index d) {
    const Index group = part == 0 ? h / per_group : h;
    const Index within = part == 0 ? h % per_group : per_group + part - 1;
    return (group * (per_group + 2) + within) * width + d;
  };
  std::vector<Order> orders{
      {heads == groups ? "[H,3,D], head by head" : "[G,H/G+2,D], group by group", true, by_group}};
  if (heads == groups) {
    orders.push_back(
        {"[H,D,3]", true, [=](Index part, Index h, Index d) { return (h * width + d) * 3 + part; }});
    orders.push_back(
        {"[D,3,H]", true, [=](Index part, Index h, Index d) { return (d * 3 + part) * heads + h; }});
    orders.push_back(
        {"[D,H,3]", true, [=](Index part, Index h, Index d) { return (d * heads + h) * 3 + part; }});
    orders.push_back(
        {"[3,D,H]", false, [=](Index part, Index h, Index d) { return (part * width + d) * heads + h; }});
  }
  const char* what = inputs.tensors.in_proj_weight ? "in_proj_weight" : "the fused matrix of q, k and v";
  const char* flat = heads == groups ? "[3,H,D]" : "the heads of q, of k and of v";
  const auto reorder = [parts](std::vector<Index> source) {
    return [parts, source = std::move(source)](AttentionInputs& other) {
      TraceTensors& t = other.tensors;
      const bool separate = !t.in_proj_weight;
      t.in_proj_weight = with_blocks(*parts.stacked(t), 1, source);
      if (t.in_proj_bias) t.in_proj_bias = with_blocks(*t.in_proj_bias, 1, source);
      if (separate) parts.separate(other);
    };
  };
  std::vector<Index> identity(static_cast<std::size_t>(parts.first_rows[3]));
  std::iota(identity.begin(), identity.end(), Index{0});
  std::vector<std::vector<Index>> seen{identity};  // of few heads and columns several orders are the same
  const auto add = [&](std::string text, const std::vector<Index>& source) {
    if (std::ranges::find(seen, source) != seen.end()) return;
    seen.push_back(source);
    variants.push_back({std::move(text), reorder(source)});
  };
  for (const auto& [text, also_taken, place] : orders) {
    std::vector<Index> taken, stored(identity.size());
    for (Index part = 0; part < 3; ++part)
      for (Index h = 0; h < (part == 0 ? heads : groups); ++h)
        for (Index d = 0; d < width; ++d) {
          stored[static_cast<std::size_t>(place(part, h, d))] = static_cast<Index>(taken.size());
          taken.push_back(place(part, h, d));
        }
    if (also_taken) add(fmt::format("the rows of {} are taken as {}, not as {}", what, text, flat), taken);
    add(fmt::format("{} is stored as {}, and its rows are taken as {}", what, text, flat), stored);
  }
}

// The inputs of the projections.
void add_sources(const AttentionInputs& inputs, ProgramVariants& variants) {
  const TraceTensors& t = inputs.tensors;
  constexpr std::array<std::pair<const char*, TensorPtr TraceTensors::*>, 3> given{
      {{"query", &TraceTensors::query}, {"key", &TraceTensors::key}, {"value", &TraceTensors::value}}};
  for (const auto& [name, member] : given) {
    for (const auto& [other_name, source] : given) {
      const TensorPtr &own = t.*member, &other = t.*source;
      if (!own || !other || own == other || !own->shape().same_sizes(other->shape())) continue;
      variants.push_back({fmt::format("{} is used in the place of {}", other_name, name),
                          [member = member, source = source](AttentionInputs& inputs_of_theirs) {
                            TraceTensors& u = inputs_of_theirs.tensors;
                            u.*member = shared_tensor((u.*source)->reshaped((u.*member)->shape()));
                          }});
    }
  }
  if (t.query && t.key && t.value && t.key != t.query && t.query->shape().same_sizes(t.key->shape()) &&
      t.query->shape().same_sizes(t.value->shape())) {
    variants.push_back(
        {"it is self-attention: keys and values are made of query, too",
         [](AttentionInputs& other) { other.tensors.key = other.tensors.value = other.tensors.query; }});
  }
}

}  // namespace

void add_parameter_variants(const AttentionInputs& inputs, ProgramVariants& variants) {
  if (!projects(inputs.options.op)) return;
  const TraceTensors& t = inputs.tensors;
  const auto add = [&](bool applies, std::string text, Change change) {
    if (applies) variants.push_back({std::move(text), std::move(change)});
  };
  const auto without = [&](const TensorPtr& tensor, const char* text, std::function<void(TraceTensors&)> drop) {
    add(tensor != nullptr, text, [drop](AttentionInputs& other) { drop(other.tensors); });
  };
  without(t.in_proj_bias, "in_proj_bias is not added", [](TraceTensors& u) { u.in_proj_bias = nullptr; });
  without(t.out_proj_bias, "out_proj.bias is not added", [](TraceTensors& u) { u.out_proj_bias = nullptr; });
  without(t.in_proj_bias, "no bias is added, neither in_proj_bias nor out_proj.bias",
          [](TraceTensors& u) { u.in_proj_bias = u.out_proj_bias = nullptr; });
  without(t.q_a_bias, "q_a_proj.bias is not added", [](TraceTensors& u) { u.q_a_bias = nullptr; });
  without(t.kv_a_bias, "kv_a_proj_with_mqa.bias is not added", [](TraceTensors& u) { u.kv_a_bias = nullptr; });
  without(t.bias_k, "bias_k and bias_v are not appended",
          [](TraceTensors& u) { u.bias_k = u.bias_v = nullptr; });
  const auto transposed = [&](const char* name, TensorPtr TraceTensors::*member) {
    add(is_stack_of_squares(t.*member), fmt::format("{} is used as [in,out], x·W where ours is x·Wᵀ", name),
        [member](AttentionInputs& other) {
          other.tensors.*member = transposed_squares(*(other.tensors.*member));
        });
    const bool square = t.*member && (t.*member)->shape().size(0) == (t.*member)->shape().size(1);
    add(t.*member && !square && (t.*member)->shape().size(1) > 1,
        fmt::format("the numbers of {} are read as [in,out]", name),
        [member](AttentionInputs& other) { other.tensors.*member = read_as_in_out(*(other.tensors.*member)); });
  };
  transposed("in_proj_weight", &TraceTensors::in_proj_weight);
  transposed("q_proj_weight", &TraceTensors::q_proj_weight);
  transposed("k_proj_weight", &TraceTensors::k_proj_weight);
  transposed("v_proj_weight", &TraceTensors::v_proj_weight);
  transposed("q_a_proj.weight", &TraceTensors::q_a_weight);
  transposed("q_b_proj.weight", &TraceTensors::q_b_weight);
  transposed("kv_a_proj_with_mqa.weight", &TraceTensors::kv_a_weight);
  transposed("kv_b_proj.weight", &TraceTensors::kv_b_weight);
  transposed("out_proj.weight", &TraceTensors::out_proj_weight);
  const auto squares = [&](bool output_too) {
    return [output_too](AttentionInputs& other) {
      TraceTensors& u = other.tensors;
      for (TensorPtr* weight : {&u.in_proj_weight, &u.q_proj_weight, &u.k_proj_weight, &u.v_proj_weight})
        if (*weight) *weight = transposed_squares(**weight);
      if (output_too) u.out_proj_weight = transposed_squares(*u.out_proj_weight);
    };
  };
  const bool separate = is_stack_of_squares(t.q_proj_weight) && is_stack_of_squares(t.k_proj_weight) &&
                        is_stack_of_squares(t.v_proj_weight);
  const bool inward = is_stack_of_squares(t.in_proj_weight) || separate;
  add(inward && is_stack_of_squares(t.out_proj_weight),
      "all projections are used as [in,out], x·W where ours is x·Wᵀ", squares(true));
  add(separate, "W_q, W_k and W_v are used as [in,out], x·W where ours is x·Wᵀ", squares(false));
  add(t.key != t.value && t.key && t.value && t.key->shape().same_sizes(t.value->shape()),
      "key and value are exchanged", [](AttentionInputs& other) {
        const Tensor key = *other.tensors.key;
        other.tensors.key = shared_tensor(other.tensors.value->reshaped(key.shape()));
        other.tensors.value = shared_tensor(key.reshaped(other.tensors.value->shape()));
      });
  add_parameter_orders(inputs, variants);
  add_fused_orders(inputs, variants);
  add_single_parts(inputs, variants);
  add_halves_of_parts(inputs, variants);
  add_sources(inputs, variants);
}

}  // namespace headwise
