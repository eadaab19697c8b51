#include "core/model/layers/layer_parameters.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/files/input_file.h"
#include "core/model/layers/latent_layers.h"
#include "core/model/layers/layer_attention.h"
#include "core/tensor/float_dispatch.h"

namespace headwise {
namespace {

constexpr Index most_heads = 4096;
constexpr std::array<Index, 5> usual_widths{32, 64, 80, 96, 128};
constexpr std::size_t most_asked = 5, few = 3;

// Head width 64 in BERT, GPT-2, ViT, T5 and Llama 3.2 1B; 128 in most wider models: OPT 6.7B, Llama,
// Mistral, Qwen.
constexpr std::array<Index, 5> likely_widths{64, 128, 32, 96, 80}, likely_widths_of_wide{128, 64, 96, 80, 32};
constexpr Index wide_rows = 3072;
// Numbers of rows for which nearly all models have another head width.
struct KnownRows {
  Index rows, width;
  std::string_view family = {};  // empty: any
};
constexpr std::array known_rows{
    KnownRows{2560, 80},          // OPT 2.7B, Phi-2, Pythia 2.8B, BLOOM 3B
    KnownRows{384, 32, "BERT"}};  // MiniLM, and the embedding models derived from it; ViT-S has 64

struct Rows {
  Index q = 0, k = 0, v = 0;
};

// A packed array narrower than three times E has fewer heads for keys and values.
Rows packed_rows_of(const AttentionLayer& layer) {
  const Index packed = layer.packed_rows, E = layer.query_width;
  if (packed == 0) return {layer.q_rows, layer.k_rows, layer.v_rows};
  if (packed > E && packed < 3 * E && (packed - E) % 2 == 0) return {E, (packed - E) / 2, (packed - E) / 2};
  return {packed / 3, packed / 3, packed / 3};
}

double distance_from_64(const HeadChoice& choice) {
  return std::abs(std::log2(static_cast<double>(choice.head_dim) / 64.0));
}

using Parameters = std::map<std::string, TensorPtr>;

[[noreturn]] void fail(const ModelFiles& files, const AttentionLayer& layer, const std::string& problem) {
  refuse_input(layer.name.empty() ? files.path() : fmt::format("{}: {}", files.path(), layer.name),
               "this layer cannot be computed: " + problem, "", "",
               fmt::format("headwise info {} shows what is there", files.path()));
}

// A layer's files, and whether their arrays are read or only outlined.
struct LayerSource {
  const ModelFiles& files;
  bool outlines;
};

TensorPtr read_named(const LayerSource& source, const std::string& name) {
  const ArrayInfo* const info = source.outlines ? source.files.find(name) : nullptr;
  return info ? std::make_shared<const Tensor>(outline_of(*info, name)) : source.files.read(name);
}

// Its sizes and type are those of core/model/layers/attention_layers.h: layer_problem has checked them.
TensorPtr read(const LayerSource& source, const AttentionLayer& layer, std::string_view stem,
               const char* what = "weight") {
  return read_named(source, layer_array(layer, stem, what));
}

TensorPtr zeros(Index size) {
  return std::make_shared<const Tensor>(Shape{{"out", size}}, DType::f32);
}

TensorPtr bias_or_zeros(const LayerSource& source, const AttentionLayer& layer, std::string_view stem,
                        Index size) {
  return source.files.find(layer_array(layer, stem, "bias")) ? read(source, layer, stem, "bias") : zeros(size);
}

TensorPtr identity(Index size, DType dtype) {
  Tensor tensor(Shape{{"out", size}, {"in", size}}, dtype);
  for (Index i = 0; i < size; ++i) tensor.set_flat(i * size + i, 1.0);
  return std::make_shared<const Tensor>(std::move(tensor));
}

// A matrix (rows, columns) or, with columns 0, a vector, whose number (r, c) is number place(r, c) of `from`.
template <class Place>
TensorPtr rearranged(const Tensor& from, Index rows, Index columns, Place place) {
  const Shape shape = columns > 0 ? Shape{{"out", rows}, {"in", columns}} : Shape{{"out", rows}};
  if (from.is_outline()) return std::make_shared<const Tensor>(Tensor::outline(shape, from.dtype()));
  Tensor to = Tensor::unwritten(shape, from.dtype());
  dispatch_float(from.dtype(), [&]<class T>() {
    const auto source = from.values<T>();
    const auto target = to.values<T>();
    const Index width = std::max<Index>(columns, 1);
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < width; ++c)
        target[static_cast<std::size_t>(r * width + c)] = source[static_cast<std::size_t>(place(r, c))];
  });
  return std::make_shared<const Tensor>(std::move(to));
}

// The array with q, k and v reordered as rows of q, then of k, then of v; `columns` 0: their biases.
TensorPtr in_rows(const AttentionLayer& layer, const TensorPtr& packed, Index columns) {
  const Index rows = layer.packed_rows;
  switch (layer.layout) {
    case AttentionLayout::packed_in:
      if (columns == 0) return packed;
      return rearranged(*packed, rows, columns, [&](Index r, Index c) { return c * rows + r; });
    case AttentionLayout::interleaved: {
      const Index width = layer.q_rows / *layer.num_heads, step = std::max<Index>(columns, 1);
      return rearranged(*packed, rows, columns, [&](Index r, Index c) {
        const Index which = r / layer.q_rows, h = r % layer.q_rows / width;
        return ((h * 3 + which) * width + r % width) * step + c;
      });
    }
    case AttentionLayout::grouped: {
      const Index width = layer.k_rows / *layer.num_kv_heads, step = std::max<Index>(columns, 1);
      const Index served = *layer.num_heads / *layer.num_kv_heads;  // query heads of each key/value head
      return rearranged(*packed, rows, columns, [&](Index r, Index c) {
        const bool is_q = r < layer.q_rows;
        const Index inner = is_q ? r : (r - layer.q_rows) % layer.k_rows, head = inner / width;
        const Index group = is_q ? head / served : head;
        const Index place = is_q ? head % served : served + (r - layer.q_rows) / layer.k_rows;
        return ((group * (served + 2) + place) * width + inner % width) * step + c;
      });
    }
    default:
      return packed;
  }
}

void read_packed(const LayerSource& source, const AttentionLayer& layer, Parameters& parameters) {
  const std::string_view stem = layer.family->qkv;
  parameters["in_proj_weight"] = in_rows(layer, read(source, layer, stem), layer.query_width);
  if (layer.has_bias)
    parameters["in_proj_bias"] = in_rows(layer, bias_or_zeros(source, layer, stem, layer.packed_rows), 0);
}

TensorPtr joined(const std::vector<TensorPtr>& parts) {
  Index size = 0;
  DType dtype = DType::f32;
  for (const TensorPtr& part : parts) {
    size += part->size();
    if (part->dtype() == DType::f64) dtype = DType::f64;
  }
  const Shape shape{{"out", size}};
  if (std::ranges::any_of(parts, [](const TensorPtr& part) { return part->is_outline(); }))
    return std::make_shared<const Tensor>(Tensor::outline(shape, dtype));
  Tensor all = Tensor::unwritten(shape, dtype);
  Index at = 0;
  for (const TensorPtr& part : parts)
    for (Index i = 0; i < part->size(); ++i) all.set_flat(at++, part->flat(i));
  return std::make_shared<const Tensor>(std::move(all));
}

// GPT-2's cross-attention: Conv1D, columns of q in one array and of k, then v in the other.
void read_queries_in(const LayerSource& source, const AttentionLayer& layer, Parameters& parameters) {
  const auto put = [&](const char* name, const TensorPtr& array, Index first, Index rows, Index width,
                       Index columns) {
    parameters[name] =
        rearranged(*array, rows, width, [=](Index r, Index c) { return c * columns + first + r; });
  };
  const Index Q = layer.q_rows, K = layer.k_rows, E = layer.query_width, W = layer.key_width;
  const std::string_view q = layer.family->q, kv = layer.family->kv;
  const TensorPtr both = read(source, layer, kv);
  put("q_proj_weight", read(source, layer, q), 0, Q, E, Q);
  put("k_proj_weight", both, 0, K, W, 2 * K);
  put("v_proj_weight", both, K, K, W, 2 * K);
  if (layer.has_bias)
    parameters["in_proj_bias"] =
        joined({bias_or_zeros(source, layer, q, Q), bias_or_zeros(source, layer, kv, 2 * K)});
}

void read_separate(const LayerSource& source, const AttentionLayer& layer, Parameters& parameters) {
  const ModelFamily& family = *layer.family;
  constexpr std::array names{"q_proj_weight", "k_proj_weight", "v_proj_weight"};
  const std::array stems{family.q, family.k, family.v};
  const std::array rows{layer.q_rows, layer.k_rows, layer.v_rows};
  std::vector<TensorPtr> biases(stems.size());
  for (std::size_t i = 0; i < stems.size(); ++i) {
    parameters[names[i]] = read(source, layer, stems[i]);
    biases[i] = bias_or_zeros(source, layer, stems[i], i == 0 && layer.gate_in_q ? 2 * rows[i] : rows[i]);
  }
  if (layer.gate_in_q) {  // for each head its D rows, then the gate's
    const Index D = layer.q_rows / *layer.num_heads, E = layer.query_width;
    const auto part = [&](const TensorPtr& both, Index first, Index columns) {
      const Index step = std::max<Index>(columns, 1);
      return rearranged(*both, layer.q_rows, columns,
                        [=](Index r, Index c) { return (r / D * 2 * D + first + r % D) * step + c; });
    };
    const TensorPtr both = parameters["q_proj_weight"], both_biases = biases[0];
    parameters["q_proj_weight"] = part(both, 0, E);
    parameters["output_gate.weight"] = part(both, D, E);
    biases[0] = part(both_biases, 0, 0);
    if (layer.has_bias) parameters["output_gate.bias"] = part(both_biases, D, 0);
  }
  if (!layer.has_bias) return;
  const bool joint = !family.joint_bias.empty() &&
                     source.files.find(layer_array(layer, family.joint_bias, "bias")) != nullptr;
  parameters["in_proj_bias"] = joint ? read(source, layer, family.joint_bias, "bias") : joined(biases);
}

// The operator's parameters as they are: they have the names of the files.
void read_latents(const LayerSource& source, const AttentionLayer& layer, Parameters& parameters) {
  for (const LatentArray& array : latent_arrays(layer)) {
    const std::string_view name = array.parameter;
    const auto has = [&](const char* what) { return source.files.find(layer_array(layer, array.stem, what)); };
    if (has("weight")) parameters[array.parameter] = read(source, layer, array.stem);
    if (!array.has_bias || !layer.has_bias) continue;
    const std::string bias =
        std::string(name.substr(0, name.size() - std::string_view("weight").size())) + "bias";
    parameters[bias] = bias_or_zeros(source, layer, array.stem, parameters[array.parameter]->shape().size(0));
  }
}

void read_output(const LayerSource& source, const AttentionLayer& layer, Parameters& parameters) {
  const std::string_view stem = layer.family->output;
  const Index E = layer.query_width, width = layer.v_rows / *layer.num_kv_heads * *layer.num_heads;
  if (!layer.has_output) {
    const TensorPtr& any = parameters.begin()->second;
    parameters["out_proj.weight"] = identity(E, any->dtype());
    if (layer.has_bias) parameters["out_proj.bias"] = zeros(E);
    return;
  }
  const TensorPtr weight = read(source, layer, stem);
  const bool transposed =
      layer.layout == AttentionLayout::packed_in || layer.layout == AttentionLayout::queries_in;
  parameters["out_proj.weight"] =
      transposed ? rearranged(*weight, E, width, [&](Index r, Index c) { return c * E + r; }) : weight;
  if (layer.has_bias) parameters["out_proj.bias"] = bias_or_zeros(source, layer, stem, E);
}

// One array as it is; arrays of the heads one below the other, (H,D).
TensorPtr joined_heads(const LayerSource& source, const std::vector<std::string>& names) {
  std::vector<TensorPtr> heads;
  for (const std::string& name : names) heads.push_back(read_named(source, name));
  if (heads.size() == 1) return heads.front();
  const TensorPtr all = joined(heads);
  const Shape shape{{"H", std::ssize(heads)}, {"D", heads.front()->size()}};
  return std::make_shared<const Tensor>(all->is_outline() ? Tensor::outline(shape, all->dtype())
                                                          : all->reshaped(shape));
}

Parameters parameters_of(const LayerSource& source, const AttentionLayer& layer) {
  if (const std::string problem = layer_problem(layer); !problem.empty()) fail(source.files, layer, problem);
  Parameters parameters;
  const bool latents = layer.layout == AttentionLayout::latent;
  if (latents) {
    read_latents(source, layer, parameters);
  } else if (layer.packed_rows > 0) {
    read_packed(source, layer, parameters);
  } else if (layer.layout == AttentionLayout::queries_in) {
    read_queries_in(source, layer, parameters);
  } else {
    read_separate(source, layer, parameters);
  }
  if (!layer.q_norms.empty()) {
    parameters["q_norm.weight"] = joined_heads(source, layer.q_norms);
    parameters["k_norm.weight"] = joined_heads(source, layer.k_norms);
  }
  if (!layer.gate.empty()) {
    parameters["output_gate.weight"] = read_named(source, layer.gate + ".weight");
    if (source.files.find(layer.gate + ".bias"))
      parameters["output_gate.bias"] = read_named(source, layer.gate + ".bias");
  }
  if (!layer.relative_bias.empty())
    parameters["relative_attention_bias.weight"] = read_named(source, layer.relative_bias);
  if (!layer.indexer.empty())
    for (const LayerArray& array : arrays_of_indexer(layer))
      if (!array.is_bias || source.files.find(array.name))
        parameters["indexer." + array.name.substr(layer.indexer.size() + 1)] = read_named(source, array.name);
  if (!layer.sinks.empty()) parameters["sinks"] = joined_heads(source, {layer.sinks});
  if (!latents || !layer.has_output) read_output(source, layer, parameters);
  if (layer.has_bias_kv)
    for (const char* name : {"bias_k", "bias_v"}) parameters[name] = read(source, layer, name, "");
  return parameters;
}

}  // namespace

std::vector<HeadChoice> head_choices(const AttentionLayer& layer) {
  std::vector<HeadChoice> choices;
  const Rows rows = packed_rows_of(layer);
  const bool latents = layer.layout == AttentionLayout::latent;
  const bool even = layer.family->positions == "rotary" && !latents;
  for (Index heads = 1; heads <= std::min(rows.q, most_heads); ++heads) {
    if (rows.q % heads != 0) continue;
    if (latents) {
      const AttentionLayer split = with_heads(layer, heads, heads);
      if (layer_problem(split).empty())
        choices.push_back({heads, heads, rows.q / heads, split.v_rows / heads});
      continue;
    }
    const Index width = rows.q / heads;
    if (rows.k < width || rows.k % width != 0 || (even && width % 2 != 0)) continue;
    const Index kv_heads = rows.k / width;
    if (heads % kv_heads != 0 || rows.v == 0 || rows.v % kv_heads != 0) continue;
    if (!layer_problem(with_heads(layer, heads, kv_heads)).empty()) continue;
    choices.push_back({heads, kv_heads, width, rows.v / kv_heads});
  }
  return choices;
}

std::vector<HeadChoice> usual_head_choices(const AttentionLayer& layer) {
  const std::vector<HeadChoice> all = head_choices(layer);
  std::vector<HeadChoice> asked, others;
  for (const HeadChoice& choice : all)
    (std::ranges::count(usual_widths, choice.head_dim) > 0 ? asked : others).push_back(choice);
  std::ranges::stable_sort(others, {}, distance_from_64);
  if (asked.size() < few)
    for (std::size_t i = 0; i < others.size() && asked.size() < most_asked; ++i) asked.push_back(others[i]);
  std::ranges::sort(asked, {}, &HeadChoice::head_dim);
  return asked;
}

std::optional<HeadChoice> likeliest_heads(const AttentionLayer& layer) {
  const std::vector<HeadChoice> all = head_choices(layer);
  if (all.empty()) return std::nullopt;
  const auto of_width = [&](Index width) { return std::ranges::find(all, width, &HeadChoice::head_dim); };
  const Index rows = packed_rows_of(layer).q;
  for (const KnownRows& known : known_rows) {
    if (rows != known.rows || (!known.family.empty() && known.family != layer.family->name)) continue;
    if (const auto at = of_width(known.width); at != all.end()) return *at;
  }
  for (const Index width : rows >= wide_rows ? likely_widths_of_wide : likely_widths)
    if (const auto at = of_width(width); at != all.end()) return *at;
  return *std::ranges::min_element(all, {}, distance_from_64);
}

std::optional<HeadChoice> choice_of_heads(const AttentionLayer& layer, Index num_heads) {
  for (const HeadChoice& choice : head_choices(layer))
    if (choice.num_heads == num_heads) return choice;
  return std::nullopt;
}

Parameters read_layer_parameters(const ModelFiles& files, const AttentionLayer& layer) {
  return parameters_of({.files = files, .outlines = false}, layer);
}

Parameters layer_parameter_outlines(const ModelFiles& files, const AttentionLayer& layer) {
  return parameters_of({.files = files, .outlines = true}, layer);
}

}  // namespace headwise
