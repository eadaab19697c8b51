#include "tests/core/attention/option_combinations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "core/attention/attention_sizes.h"
#include "core/attention/indexer.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_path.h"
#include "tests/core/attention/latent_inputs.h"
#include "tests/core/attention/random_inputs.h"

namespace headwise::test {
namespace {

constexpr Index batch = 2, queries = 3, keys = 4;

// In self-attention there are as many keys as queries; those of a past come before them.
Index keys_of(const AttentionInputs& inputs) {
  return attention_sizes(inputs).keys;
}

AttentionInputs plain_inputs(Index heads = 4, Index kv_heads = 2, Index head_dim = 2) {
  AttentionOptions options = small_options(heads, kv_heads, head_dim);
  options.v_head_dim = 3;
  return random_inputs(options, {batch, queries, keys});
}

AttentionInputs plain_sdpa_inputs() {
  AttentionInputs inputs;
  inputs.options = small_options(4, 2, 2);
  inputs.options.op = Op::scaled_dot_product_attention;
  inputs.options.fully_masked_rows = FullyMaskedRows::zero;
  inputs.dtype = DType::f64;
  inputs.tensors.query = random_tensor({{"N", batch}, {"H", 4}, {"L", queries}, {"D", 2}}, "query");
  inputs.tensors.key = random_tensor({{"N", batch}, {"G", 2}, {"S", keys}, {"D", 2}}, "key");
  inputs.tensors.value = random_tensor({{"N", batch}, {"G", 2}, {"S", keys}, {"Dv", 3}}, "value");
  return inputs;
}

TensorPtr random_booleans(Shape shape, const std::string& name) {
  Tensor mask(std::move(shape), DType::boolean);
  const CounterRandom random(3, name);
  for (Index i = 0; i < mask.size(); ++i)
    mask.set_flat(i, random.uniform(static_cast<std::uint64_t>(i)) < 0.4 ? 1.0 : 0.0);
  return std::make_shared<const Tensor>(std::move(mask));
}

TensorPtr lengths(Shape shape, std::vector<std::int64_t> values) {
  return std::make_shared<const Tensor>(std::move(shape), std::move(values));
}

void use_self_attention(AttentionInputs& inputs) {
  inputs.tensors.key = inputs.tensors.query;
  if (inputs.tensors.value) inputs.tensors.value = inputs.tensors.query;
}

// With and without what is optional; odd columns before those that are turned.
AttentionInputs latent(LatentLayout layout, bool pressed, RotaryPairs pairs) {
  AttentionOptions o = latent_options(layout);
  if (pressed) o.q_lora_rank = 4;
  o.rotary_pairs = pairs;
  AttentionInputs inputs = latent_inputs(o, {batch, queries, keys});
  if (!pressed) inputs.tensors.kv_a_bias = inputs.tensors.kv_a_norm_weight = nullptr;
  return inputs;
}

AttentionInputs latent_of(Op op, std::uint64_t kind = 0) {
  if (!is_latent(op)) return {};
  return latent(kind % 2 == 0 ? LatentLayout::expanded : LatentLayout::absorbed, kind / 2 % 2 == 0,
                kind / 4 % 2 == 0 ? RotaryPairs::halves : RotaryPairs::neighbours);
}

void use_separate_projections(AttentionInputs& inputs) {
  AttentionOptions& o = inputs.options;
  TraceTensors& t = inputs.tensors;
  o.kdim = 5;
  o.vdim = 7;
  t.key = random_tensor({{"N", batch}, {"S", keys}, {"kdim", 5}}, "key");
  t.value = random_tensor({{"N", batch}, {"S", keys}, {"vdim", 7}}, "value");
  t.in_proj_weight = nullptr;
  t.q_proj_weight = random_tensor({{"H·D", o.num_heads * o.head_dim}, {"E", o.embed_dim}}, "q_proj_weight");
  t.k_proj_weight = random_tensor({{"G·D", o.num_kv_heads * o.head_dim}, {"kdim", 5}}, "k_proj_weight");
  t.v_proj_weight = random_tensor({{"G·Dv", o.num_kv_heads * o.v_head_dim}, {"vdim", 7}}, "v_proj_weight");
}

void drop_biases(AttentionInputs& inputs) {
  inputs.tensors.in_proj_bias = inputs.tensors.out_proj_bias = nullptr;
}

void add_bias_kv(AttentionInputs& inputs) {
  const AttentionOptions& o = inputs.options;
  inputs.tensors.bias_k = random_tensor({{"G·D", o.num_kv_heads * o.head_dim}}, "bias_k");
  inputs.tensors.bias_v = random_tensor({{"G·Dv", o.num_kv_heads * o.v_head_dim}}, "bias_v");
}

void add_zero_row(AttentionInputs& inputs) {
  inputs.options.add_zero_attn = true;
}

void use_static_heads(AttentionInputs& inputs) {
  const AttentionOptions& o = inputs.options;
  if (given_past_length(inputs.tensors)) return;
  inputs.tensors.static_k =
      random_tensor({{"N", batch}, {"G", o.num_kv_heads}, {"S", keys}, {"D", o.head_dim}}, "static_k");
  inputs.tensors.static_v =
      random_tensor({{"N", batch}, {"G", o.num_kv_heads}, {"S", keys}, {"Dv", o.v_head_dim}}, "static_v");
}

// A cache of two tokens, with the heads and widths of k and v, or those of latents.
void put_past_in_front(AttentionInputs& inputs) {
  AttentionSizes sizes = attention_sizes(inputs);
  sizes.past = 2;
  for (const CachedTensor& cached : cached_tensors(inputs.options.op)) {
    const TensorEntry& past = tensor_entry(cached.past);
    inputs.tensors.*(past.member) =
        random_tensor(computed_shape(past.id, inputs.options, sizes), std::string(past.name));
  }
}

// Where no past says where the queries stand; the first rows of the second sentence see nothing.
void say_how_many_keys(AttentionInputs& inputs) {
  if (!given_past_length(inputs.tensors) && !inputs.options.relative_bias)
    inputs.tensors.nonpad_kv_seqlen = lengths({{"N", batch}}, {3, 1});
}

// Weights of every head, or of the whole row, which an offset of 1 goes with.
AttentionInputs with_norm(AttentionInputs inputs, QkNorm place, NormKind kind, bool weights) {
  AttentionOptions& o = inputs.options;
  o.qk_norm = place;
  o.qk_norm_kind = kind;
  o.qk_norm_epsilon = 1e-3;
  if (!weights) return inputs;
  const auto weight = [&](Index heads, const char* name) {
    if (place == QkNorm::whole) return random_tensor({{"H·D", heads * o.head_dim}}, name);
    if (kind == NormKind::rms) return random_tensor({{"D", o.head_dim}}, name);
    return random_tensor({{"H", heads}, {"D", o.head_dim}}, name);
  };
  o.qk_norm_offset = place == QkNorm::whole ? 0.0 : 1.0;
  inputs.tensors.q_norm_weight = weight(o.num_heads, "q_norm.weight");
  inputs.tensors.k_norm_weight = weight(o.num_kv_heads, "k_norm.weight");
  return inputs;
}

// Rows that are appended or static are not normalised.
void normalise_heads(AttentionInputs& inputs) {
  const TraceTensors& t = inputs.tensors;
  if (!t.bias_k && !t.static_k && !inputs.options.add_zero_attn)
    inputs = with_norm(std::move(inputs), QkNorm::per_head, NormKind::rms, true);
}

// Where every key has a position.
void rotate_by_position(AttentionInputs& inputs) {
  const TraceTensors& t = inputs.tensors;
  if (!t.bias_k && !t.static_k && !inputs.options.add_zero_attn) inputs.options.rotary_base = 10.0;
}

AttentionInputs with_neighbours(AttentionInputs inputs) {
  inputs.options.rotary_pairs = RotaryPairs::neighbours;
  inputs.options.rotary_factor = 1.25;
  return inputs;
}

AttentionInputs with_frequencies(AttentionInputs inputs, std::vector<double> frequencies) {
  inputs.options.rotary_inverse_frequencies = std::move(frequencies);
  return inputs;
}

// A number of the gate for each column of concat, or for each head and without a bias.
void gate_output(AttentionInputs& inputs, bool by_head) {
  AttentionOptions& o = inputs.options;
  const Axis rows = by_head ? Axis{"H", o.num_heads} : Axis{"H·Dv", o.num_heads * o.v_head_dim};
  o.output_gate = true;
  inputs.tensors.output_gate_weight = random_tensor({rows, {"E", o.embed_dim}}, "output_gate.weight");
  if (!by_head) inputs.tensors.output_gate_bias = random_tensor({rows}, "output_gate.bias");
}

// Fewer buckets than distances, whose two sides differ.
void bias_by_distance(AttentionInputs& inputs, RelativeBias bias) {
  if (inputs.tensors.nonpad_kv_seqlen) return;  // by which the distances of batches differ
  inputs.options.relative_bias = bias;
  inputs.tensors.relative_bias_weight = random_tensor(
      {{"buckets", bias.buckets}, {"H", inputs.options.num_heads}}, "relative_attention_bias.weight");
}

// Of few scores many are 0 and tie. Where every key is projected, or given.
void choose_keys(AttentionInputs& inputs, Indexer indexer) {
  AttentionOptions& o = inputs.options;
  TraceTensors& t = inputs.tensors;
  if (given_past_length(t) || t.static_k || t.bias_k || o.add_zero_attn) return;
  if (is_latent(o) && !o.q_lora_rank) return;
  if (has_rotary_embedding(o))
    indexer.width = std::max(indexer.width, 2 * rotation_of(resolved_options(inputs)).count());
  o.indexer = indexer;
  const Axis heads{"Hi", indexer.heads}, width{"W", indexer.width};
  if (o.op == Op::scaled_dot_product_attention) {
    t.indexer_q = random_tensor({{"N", batch}, heads, {"L", queries}, width}, "indexer_q");
    t.indexer_k = random_tensor({{"N", batch}, {"1", 1}, {"S", keys}, width}, "indexer_k");
    t.indexer_weights = random_tensor({{"N", batch}, {"L", queries}, heads}, "indexer_weights");
    return;
  }
  t.indexer_wq_b = random_tensor({{"Hi·W", indexer.heads * indexer.width}, {"E", indexer_source_width(o)}},
                                 "indexer.wq_b.weight");
  t.indexer_wk = random_tensor({width, {"kdim", o.kdim}}, "indexer.wk.weight");
  t.indexer_weights_proj = random_tensor({heads, {"E", o.embed_dim}}, "indexer.weights_proj.weight");
  if (indexer.rotary_pairs == RotaryPairs::halves) return;
  t.indexer_k_norm_weight = random_tensor({width}, "indexer.k_norm.weight");
  t.indexer_k_norm_bias = random_tensor({width}, "indexer.k_norm.bias");
}

void add_head_gain(AttentionInputs& inputs) {
  inputs.options.head_gain.assign(static_cast<std::size_t>(inputs.options.num_heads), 0.5);
  inputs.options.head_gain[1] = 0.0;
}

void block_some_keys(AttentionInputs& inputs) {
  inputs.tensors.attn_mask = random_booleans({{"L", queries}, {"S", keys_of(inputs)}}, "attn_mask");
}

void add_float_mask(AttentionInputs& inputs) {
  inputs.tensors.attn_mask = random_tensor({{"L", queries}, {"S", keys_of(inputs)}}, "attn_mask");
}

void mask_every_head(AttentionInputs& inputs) {
  inputs.tensors.attn_mask = random_booleans(
      {{"N·H", batch * inputs.options.num_heads}, {"L", queries}, {"S", keys_of(inputs)}}, "attn_mask");
}

void pad_keys(AttentionInputs& inputs) {
  inputs.tensors.key_padding_mask =
      random_booleans({{"N", batch}, {"S", keys_of(inputs)}}, "key_padding_mask");
}

void pad_keys_with_floats(AttentionInputs& inputs) {
  inputs.tensors.key_padding_mask = random_tensor({{"N", batch}, {"S", keys_of(inputs)}}, "key_padding_mask");
}

void block_a_whole_row(AttentionInputs& inputs) {
  Tensor mask(Shape{{"L", queries}, {"S", keys_of(inputs)}}, DType::f64);
  for (Index s = 0; s < keys_of(inputs); ++s) mask.set_flat(s, -std::numeric_limits<double>::infinity());
  inputs.tensors.attn_mask = std::make_shared<const Tensor>(std::move(mask));
}

// Weights that no softmax would give: they neither sum to 1 nor stay below it.
void freeze_heads(AttentionInputs& inputs, std::vector<Index> heads) {
  const AttentionSizes sizes = attention_sizes(inputs);
  Tensor held({{"N", sizes.batch},
               {"F", static_cast<Index>(heads.size())},
               {"L", sizes.queries},
               {sizes.key_axis(), sizes.all_keys}},
              DType::f64);
  const CounterRandom random(5, "frozen_weights");
  for (Index i = 0; i < held.size(); ++i) held.set_flat(i, random.uniform(static_cast<std::uint64_t>(i)));
  inputs.options.frozen_heads = std::move(heads);
  inputs.tensors.frozen_weights = std::make_shared<const Tensor>(std::move(held));
}

// A bound that some of the numbers of q, k and v exceed.
AttentionInputs with_clip(AttentionInputs inputs) {
  inputs.options.clip_qkv = 0.3;
  return inputs;
}

using Change = std::function<void(AttentionInputs&)>;
struct NamedChange {
  const char* name;
  Change apply;
};

// Changes to multi_head_attention, in groups; of each group at most one is in force.
std::vector<std::vector<NamedChange>> mha_changes() {
  return {
      {{"a past", put_past_in_front}},
      {{"self-attention", use_self_attention}, {"separate projections", use_separate_projections}},
      {{"no biases", drop_biases}},
      {{"bias_k", add_bias_kv}, {"static_k", use_static_heads}},
      {{"zero row", add_zero_row}},
      {{"head gains", add_head_gain}},
      {{"boolean attn_mask", block_some_keys},
       {"float attn_mask", add_float_mask},
       {"attn_mask per head", mask_every_head},
       {"a row with all keys blocked", block_a_whole_row}},
      {{"key_padding_mask", pad_keys}, {"float key_padding_mask", pad_keys_with_floats}},
      {{"weights per head", [](auto& in) { in.options.average_attn_weights = false; }},
       {"no weights", [](auto& in) { in.options.need_weights = false; }}},
      {{"QK-norm", normalise_heads}},
      {{"output gate", [](auto& in) { gate_output(in, false); }},
       {"output gate of each head", [](auto& in) { gate_output(in, true); }}},
      {{"residual", [](auto& in) { in.options.residual = true; }}},
      {{"layer norm", [](auto& in) { in.options.layer_norm = true; }}},
  };
}

// Without what latents do not have.
std::vector<std::vector<NamedChange>> of_latents(std::vector<std::vector<NamedChange>> changes) {
  for (auto& group : changes)
    std::erase_if(group, [](const NamedChange& change) {
      const std::string_view name = change.name;
      return name == "separate projections" || name == "bias_k" || name == "static_k" || name == "zero row" ||
             name == "QK-norm" || name == "no biases";
    });
  std::erase_if(changes, [](const auto& group) { return group.empty(); });
  return changes;
}

std::vector<std::vector<NamedChange>> sdpa_changes() {
  const auto mask = [](std::vector<Axis> axes) {
    return [axes](AttentionInputs& in) {
      std::vector<Axis> own = axes;
      if (own.back().name == "S") own.back().size += keys_of(in) - keys;
      in.tensors.attn_mask = random_booleans(Shape(own), "attn_mask");
    };
  };
  return {{{"a past", put_past_in_front}},
          {{"mask (L,S)", mask({{"L", queries}, {"S", keys}})},
           {"mask (N,1,L,S)", mask({{"N", batch}, {"1", 1}, {"L", queries}, {"S", keys}})},
           {"mask (H,1,S)", mask({{"H", 4}, {"1", 1}, {"S", keys}})},
           {"mask (N,H,L,1)", mask({{"N", batch}, {"H", 4}, {"L", queries}, {"1", 1}})},
           {"mask short in S", mask({{"L", queries}, {"S", keys - 2}})},
           {"float mask", add_float_mask}}};
}

std::vector<std::vector<NamedChange>> shared_changes() {
  const auto bottom_right = [](AttentionInputs& in) {
    in.options.is_causal = true;
    in.options.causal_alignment = CausalAlignment::bottom_right;
  };
  return {
      {{"rotary", rotate_by_position}},
      {{"scale", [](auto& in) { in.options.scale = -0.7; }},
       {"scale 0", [](auto& in) { in.options.scale = 0.0; }}},
      {{"temperature", [](auto& in) { in.options.temperature = 2.5; }}},
      {{"softcap", [](auto& in) { in.options.softcap = 1.5; }}},
      {{"causal", [](auto& in) { in.options.is_causal = true; }}, {"causal at the bottom right", bottom_right}},
      {{"sliding window", [](auto& in) { in.options.sliding_window = 2; }},
       {"window of two sides",
        [](auto& in) {
          in.options.window_left = 0;
          in.options.window_right = 1;
        }},
       {"window with a bound behind alone", [](auto& in) { in.options.window_left = 1; }}},
      {{"ALiBi", [](auto& in) { in.options.alibi = true; }},
       {"ALiBi, scaled",
        [](auto& in) {
          in.options.alibi = true;
          in.options.alibi_scale = -0.35;
        }}},
      {{"relative bias",
        [](auto& in) {
          bias_by_distance(in, {4, 3, true});
        }},
       {"relative bias of keys behind",
        [](auto& in) {
          bias_by_distance(in, {3, 2, false});
        }}},
      {{"valid_lens",
        [](auto& in) {
          in.tensors.valid_lens = lengths({{"N", 2}}, {3, 0});
        }},
       {"valid_lens per query",
        [](auto& in) {
          in.tensors.valid_lens = lengths({{"N", 2}, {"L", 3}}, {3, 1, 2, 0, 2, 3});
        }}},
      {{"nonpad_kv_seqlen", say_how_many_keys}},
      {{"indexer",
        [](auto& in) {
          choose_keys(in, {2, 3, 2, RotaryPairs::halves});
        }},
       {"indexer of one head, neighbours, with the weights of its norm",
        [](auto& in) {
          choose_keys(in, {1, 5, 1, RotaryPairs::neighbours});
        }}},
      {{"mask value", [](auto& in) { in.options.mask_value = -1e4; }}},
      {{"zero rows", [](auto& in) { in.options.fully_masked_rows = FullyMaskedRows::zero; }},
       {"nan rows", [](auto& in) { in.options.fully_masked_rows = FullyMaskedRows::nan; }}},
      {{"sinks",
        [](auto& in) {
          in.tensors.sinks = random_tensor({{"H", in.options.num_heads}}, "sinks");
        }},
       {"one sink", [](auto& in) { in.options.sink = {0.3}; }}},
      {{"dropout", [](auto& in) { in.options.dropout = 0.4; }},
       {"dropout of everything", [](auto& in) { in.options.dropout = 1.0; }}},
      // Last: the sizes of what is held follow from everything before.
      {{"frozen heads",
        [](auto& in) {
          freeze_heads(in, {2, 0});
        }},
       {"every head frozen",
        [](auto& in) {
          freeze_heads(in, {1, 3, 0, 2});
        }}},
  };
}

std::vector<std::vector<NamedChange>> changes_of(Op op) {
  auto changes = projects(op) ? mha_changes() : sdpa_changes();
  for (auto& group : shared_changes()) changes.push_back(std::move(group));
  return is_latent(op) ? of_latents(std::move(changes)) : changes;
}

}  // namespace

std::vector<NamedInputs> single_option_inputs() {
  std::vector<NamedInputs> all{
      {"plain", plain_inputs()},
      {"plain, G = H", plain_inputs(4, 4)},
      {"plain, one head", plain_inputs(1, 1)},
      {"plain, one key/value head of 6", plain_inputs(6, 1)},
      {"sdpa: plain", plain_sdpa_inputs()},
      {"rotary, three pairs", with_frequencies(plain_inputs(4, 2, 6), {1.0, 0.3, 0.1})},
      {"clip_qkv", with_clip(plain_inputs())},
      {"clip_qkv, rotary", with_clip(with_frequencies(plain_inputs(4, 2, 6), {1.0, 0.3, 0.1}))},
      {"rotary of neighbours, with a factor",
       with_neighbours(with_frequencies(plain_inputs(4, 2, 6), {1.0, 0.3, 0.1}))},
      {"rotary of neighbours, a part of each head",
       with_neighbours(with_frequencies(plain_inputs(2, 1, 5), {0.7}))},
      {"rotary, a part of each head", with_frequencies(plain_inputs(2, 1, 5), {0.7})}};
  for (const auto& [name, place] : {std::pair("per head", QkNorm::per_head),
                                    {"whole", QkNorm::whole},
                                    {"after rotary", QkNorm::per_head_after_rotary}})
    for (const NormKind kind : {NormKind::rms, NormKind::layer, NormKind::l2})
      for (const bool weights : {false, true})
        all.push_back(
            {fmt::format("QK-norm {}, kind {}{}", name, static_cast<int>(kind), weights ? ", weights" : ""),
             with_norm(with_frequencies(plain_inputs(4, 2, 6), {1.0, 0.3, 0.1}), place, kind, weights)});
  all.push_back({"QK-norm whole, clip_qkv",
                 with_clip(with_norm(plain_inputs(4, 2, 6), QkNorm::whole, NormKind::rms, true))});
  all.push_back({"QK-norm, no rotary", with_norm(plain_inputs(4, 4, 6), QkNorm::per_head, NormKind::rms, true)});
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed})
    for (const bool pressed : {false, true})
      for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::neighbours})
        for (const bool turned : {false, true}) {
          AttentionInputs inputs = latent(layout, pressed, pairs);
          if (turned) inputs.options.rotary_base = 10.0;
          if (pressed) {
            AttentionInputs chosen = inputs;
            choose_keys(chosen, {2, 3, 2, pairs});
            all.push_back({fmt::format("latent, layout {}, pairs {}, turned {}, an indexer",
                                       static_cast<int>(layout), static_cast<int>(pairs), turned),
                           std::move(chosen)});
          }
          all.push_back({fmt::format("latent, layout {}, pressed {}, pairs {}, turned {}",
                                     static_cast<int>(layout), pressed, static_cast<int>(pairs), turned),
                         std::move(inputs)});
        }
  std::uint64_t kind = 0;
  for (const auto& group : changes_of(Op::multi_head_latent_attention)) {
    for (const NamedChange& change : group) {
      AttentionInputs inputs = latent_of(Op::multi_head_latent_attention, kind++);
      change.apply(inputs);
      all.push_back({fmt::format("latent: {}", change.name), std::move(inputs)});
    }
  }
  for (const Op op : {Op::multi_head_attention, Op::scaled_dot_product_attention}) {
    const bool is_mha = op == Op::multi_head_attention;
    for (const auto& group : changes_of(op)) {
      for (const NamedChange& change : group) {
        AttentionInputs inputs = is_mha ? plain_inputs() : plain_sdpa_inputs();
        change.apply(inputs);
        all.push_back({fmt::format("{}: {}", is_mha ? "mha" : "sdpa", change.name), std::move(inputs)});
      }
    }
  }
  return all;
}

NamedInputs random_combination(std::uint64_t seed) {
  const CounterRandom random(seed, "combination");
  std::uint64_t drawn = 0;
  const auto draw = [&](std::size_t below) { return static_cast<std::size_t>(random.bits(drawn++) % below); };
  const bool is_mha = draw(4) != 0, is_latent = seed % 5 == 4;
  NamedInputs combination{"", is_latent ? latent_of(Op::multi_head_latent_attention, seed / 5)
                              : is_mha  ? plain_inputs()
                                        : plain_sdpa_inputs()};
  std::vector<std::string> names{is_latent ? "latent" : is_mha ? "mha" : "sdpa"};
  for (const auto& group : changes_of(combination.inputs.options.op)) {
    if (draw(2) == 0) continue;
    const NamedChange& change = group[draw(group.size())];
    change.apply(combination.inputs);
    names.emplace_back(change.name);
  }
  combination.name = fmt::format("{}", fmt::join(names, ", "));
  return combination;
}

}  // namespace headwise::test
