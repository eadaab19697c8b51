#include "app/cli/model_info.h"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "app/cli/report.h"
#include "core/model/config/model_types.h"
#include "core/model/layers/layer_attention.h"
#include "core/model/layers/layer_parameters.h"
#include "core/model/layers/layer_rows.h"
#include "core/model/layers/layer_tensors.h"
#include "core/scenario/scenario_schema.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

// For a layer whose model does not say how many it has; else none.
std::optional<HeadChoice> assumed_heads(const AttentionLayer& layer) {
  return layer.num_heads ? std::nullopt : likeliest_heads(layer);
}

std::string heads_text(const AttentionLayer& layer) {
  if (!layer.num_heads) {
    const std::optional<HeadChoice> likeliest = likeliest_heads(layer);
    if (!likeliest) return "heads: unknown";
    return fmt::format("heads: unknown, assuming {} of {}", likeliest->num_heads, likeliest->head_dim);
  }
  const Index heads = *layer.num_heads, kv_heads = *layer.num_kv_heads;
  std::string text = heads == kv_heads ? counted(heads, "head")
                                       : fmt::format("{} heads, {} for keys and values", heads, kv_heads);
  if (layer.q_rows > 0 && layer.q_rows % heads == 0)
    text += fmt::format(", head_dim {}", layer.q_rows / heads);
  return text;
}

// The layer with the number of heads assumed if nothing specifies one.
std::optional<AttentionLayer> with_some_heads(const AttentionLayer& layer) {
  if (layer.num_heads) return layer;
  const std::optional<HeadChoice> heads = likeliest_heads(layer);
  if (!heads) return std::nullopt;
  return with_heads(layer, heads->num_heads, heads->num_kv_heads);
}

// Empty for a layer that cannot be computed.
LayerAttention attention_of(const AttentionLayer& layer) {
  const std::optional<AttentionLayer> whole = with_some_heads(layer);
  return whole && layer_problem(*whole).empty() ? layer_attention(*whole) : LayerAttention{};
}

std::vector<std::string> warnings_of(const AttentionLayer& layer) {
  return attention_of(layer).warnings;
}

// Layers that differ only in their number are reported on one line.
std::vector<std::string> without_numbers(std::vector<std::string> sentences) {
  for (std::string& sentence : sentences)
    std::erase_if(sentence, [](char c) { return c >= '0' && c <= '9'; });
  return sentences;
}

nlohmann::ordered_json positions_json(const LayerAttention& attention) {
  if (attention.rotary) return "rotary";
  if (attention.alibi) return "ALiBi";
  if (attention.relative_bias) return "relative";
  return nullptr;
}

// "Llama", or the model's type if its tensors use another family's names: "falcon, named as BLOOM".
std::string family_text(const AttentionLayer& layer) {
  const std::string_view family = layer.family->name;
  const ModelType* const type = layer.config ? find_model_type(layer.config->model_type) : nullptr;
  const auto same_letter = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  std::string letters(family);
  std::erase_if(letters, [](char c) { return c == '-'; });
  const bool own =
      !type || !std::ranges::search(letters, type->name, same_letter).empty() || type->name == "gpt_neox";
  return own ? std::string(family) : fmt::format("{}, named as {}", type->name, family);
}

// f(key, value, is_set) for the numbers that a model's layer sets, except those of positions.
template <class F>
void for_numbers_of_layer(const LayerAttention& attention, F&& f) {
  for_options_with<LayerOptions>(set_by_layer, [&](const OptionRow& row, auto member) {
    using Value = std::remove_cvref_t<decltype(attention.*member)>;
    if constexpr (std::is_convertible_v<Value, std::optional<double>> && !std::is_same_v<Value, bool>)
      if (row.key != std::string_view("rotary_base"))
        f(row.key, attention.*member, is_set(attention, member));
  });
}

// What a line says about a layer after its name; layers that are alike share it.
std::string described(const AttentionLayer& layer) {
  if (!layer.missing.empty()) return "";  // what remains does not determine the sizes
  const LayerAttention attention = attention_of(layer);
  std::string text =
      fmt::format("{}: embed_dim {}, {}", family_text(layer), layer.query_width, heads_text(layer));
  if (layer.key_width != layer.query_width) text += fmt::format(", kdim {}", layer.key_width);
  text += layer.has_bias ? ", with bias" : ", without bias";
  if (!layer.has_output) text += ", without W_O";
  if (layer.is_cross) text += ", cross-attention";
  if (attention.is_causal) text += ", causal";
  if (attention.sliding_window) text += fmt::format(", window {}", *attention.sliding_window);
  if (attention.scale)
    text += *attention.scale == 1.0 ? ", without 1/√D" : fmt::format(", scale {:g}", *attention.scale);
  for_numbers_of_layer(attention, [&](std::string_view key, std::optional<double> value, bool set) {
    if (set && key != "scale") text += fmt::format(", {} {:g}", key, *value);
  });
  if (attention.output_gate) text += ", output gate";
  if (const auto& indexer = attention.indexer)
    text += fmt::format(", indexer of {} heads of {} that keeps {} keys", indexer->heads, indexer->width,
                        indexer->k);
  if (attention.qk_norm)
    text +=
        fmt::format(", qk_norm {} ({})", choice_name(*attention.qk_norm), choice_name(attention.qk_norm_kind));
  if (attention.alibi)
    text += attention.alibi_scale == 1.0
                ? ", ALiBi positions"
                : fmt::format(", ALiBi positions (times {:g})", attention.alibi_scale);
  if (const auto& bias = attention.relative_bias)
    text += fmt::format(", relative positions ({} buckets, to {})", bias->buckets, bias->max_distance);
  if (attention.rotary) text += fmt::format(", rotary positions ({})", rotary_text(*attention.rotary));
  return text + fmt::format("\n    {}", layout_name(layer.layout));
}

std::string named(const AttentionLayer& layer) {
  return layer.name.empty() ? "(no name)" : one_line(layer.name);
}

// Whether text can go into the model, and whether it predicts tokens.
std::string text_support(const TextModel& model) {
  const Transformer* const transformer = model.transformer().get();
  std::string text;
  const bool of_pictures = transformer && transformer->config().patches;
  if (of_pictures)
    text += model.no_picture().empty()
                ? "  reads pictures: PNG files, with --set inputs.picture=FILE.png\n"
                : fmt::format("  cannot read pictures: {}\n", one_line(model.no_picture()));
  else if (!model.no_text().empty())
    text += fmt::format("  cannot read text: {}\n", one_line(model.no_text()));
  if (transformer) text += fmt::format("  encoder: {}\n", blocks_text(transformer->config()));
  if (model.tokenizer())
    text += fmt::format("  tokenizer: {}, {} pieces\n", model.tokenizer()->kind(),
                        model.tokenizer()->vocabulary().size());
  if (!model.nameless_words().empty()) text += fmt::format("  {}\n", model.nameless_words());
  if (transformer)
    text += transformer->no_words().empty()
                ? fmt::format("  predicts {} {}\n", transformer->config().vocabulary,
                              of_pictures ? "classes" : "words")
                : fmt::format("  predicts no {}: {}\n", of_pictures ? "classes" : "words",
                              one_line(transformer->no_words()));
  return text;
}

// For a layer whose model does not say how many it has; else none.
std::vector<Index> possible_heads(const AttentionLayer& layer) {
  std::vector<Index> all;
  if (layer.num_heads) return all;
  for (const HeadChoice& choice : head_choices(layer)) all.push_back(choice.num_heads);
  return all;
}

// An unspecified number of heads is no problem if one is assumed.
std::string reported_problem(const AttentionLayer& layer) {
  return assumed_heads(layer) ? "" : layer_problem(layer);
}

// "3", "{0…11}", "{0…4,6,8…11}".
std::string set_text(const std::set<Index>& numbers) {
  if (numbers.size() == 1) return fmt::format("{}", *numbers.begin());
  std::vector<std::string> runs;
  for (auto first = numbers.begin(); first != numbers.end();) {
    auto last = first, next = std::next(first);
    while (next != numbers.end() && *next == *last + 1) last = next++;
    if (std::next(first) == last) {  // two
      runs.push_back(fmt::format("{}", *first));
      first = last;
    }
    runs.push_back(first == last ? fmt::format("{}", *first) : fmt::format("{}…{}", *first, *last));
    first = next;
  }
  return fmt::format("{{{}}}", join(runs, ","));
}

struct Member {
  std::size_t place;  // in the file
  std::vector<Index> numbers;
};

// The sets of which every combination exists; else none.
std::vector<std::set<Index>> all_combinations(const std::vector<Member>& members) {
  std::vector<std::set<Index>> sets(members[0].numbers.size());
  for (const Member& member : members)
    for (std::size_t i = 0; i < sets.size(); ++i) sets[i].insert(member.numbers[i]);
  std::size_t combinations = 1;
  for (const std::set<Index>& set : sets) {
    combinations *= set.size();
    if (combinations > members.size()) return {};
  }
  return sets;
}

struct PlacedGroup {
  std::size_t place;
  TensorGroup group;
};

void add_group(const std::vector<ArrayInfo>& arrays, const std::vector<Member>& members,
               std::vector<PlacedGroup>& groups) {
  const std::vector<std::set<Index>> sets = all_combinations(members);
  if (sets.empty() && members.size() > 1) {
    // Numbers after the first kept as they are: one name for each.
    std::map<std::vector<Index>, std::vector<Member>> parts;
    for (const Member& member : members)
      parts[{member.numbers.begin() + 1, member.numbers.end()}].push_back(member);
    for (const auto& [behind, part] : parts) add_group(arrays, part, groups);
    return;
  }
  const ArrayInfo& first = arrays[members[0].place];
  const NumberedName name = numbered_name(first.name);
  TensorGroup group{one_line(name.between[0]), first.stored_dtype, first.sizes,
                    static_cast<Index>(members.size()), 0};
  for (std::size_t i = 0; i < sets.size(); ++i)
    group.name += set_text(sets[i]) + one_line(name.between[i + 1]);
  for (const Member& member : members) group.bytes += arrays[member.place].bytes;
  groups.push_back({members[0].place, std::move(group)});
}

}  // namespace

std::string assumed_heads_text(const TextModel& model) {
  for (const AttentionLayer& layer : model.layers().layers) {
    const std::optional<HeadChoice> assumed = assumed_heads(layer);
    if (!assumed) continue;
    return fmt::format(
        "{}: no config.json gives the number of heads per layer: assuming {} of {}; to change this, add a "
        "config.json with num_attention_heads, or set attention.num_heads in a scenario",
        model.files().path(), assumed->num_heads, assumed->head_dim);
  }
  return "";
}

std::string model_info_text(const TextModel& model) {
  const ModelFiles& files = model.files();
  const AttentionLayers& layers = model.layers();
  std::string text;
  const std::vector<AttentionLayer>& all = layers.layers;
  if (!all.empty()) {
    const auto there = std::ranges::count(all, false, is_absent);
    text += fmt::format("{}{}\n", counted(there, "attention layer"),
                        layers.config ? ", with config.json" : ", no config.json beside them");
  } else {
    text += "no attention layer was recognised from the names of the tensors\n";
  }
  for (std::size_t first = 0; first < all.size();) {
    const std::string alike = described(all[first]);
    const std::string problem = reported_problem(all[first]);
    const std::vector<std::string> warnings = warnings_of(all[first]), warned = without_numbers(warnings);
    std::size_t last = first;
    while (last + 1 < all.size() && described(all[last + 1]) == alike &&
           reported_problem(all[last + 1]) == problem && without_numbers(warnings_of(all[last + 1])) == warned)
      ++last;
    text += first == last ? fmt::format("  layer {}, {}\n", first, named(all[first]))
                          : fmt::format("  layers {} to {}, {} to {}\n", first, last, named(all[first]),
                                        named(all[last]));
    if (!alike.empty()) text += fmt::format("    {}\n", alike);
    if (!problem.empty()) text += fmt::format("    cannot be computed: {}\n", one_line(problem));
    for (const std::string& warning : warnings)
      text += fmt::format("    not computed: {}\n", one_line(warning));
    first = last + 1;
  }
  if (const std::string note = layer_count_note(files, layers); !note.empty())
    text += fmt::format("  {}\n", note);
  for (const std::string& note : model_notes(files, layers)) text += fmt::format("  {}\n", one_line(note));
  for (const std::string& file : files.missing_files())
    text += fmt::format("  missing: {}\n", one_line(file));
  return all.empty() ? text : text + text_support(model);
}

nlohmann::ordered_json model_info_json(const TextModel& model) {
  const ModelFiles& files = model.files();
  const AttentionLayers& layers = model.layers();
  const auto or_null = [](bool known, auto value) { return known ? Json(value) : Json(nullptr); };
  Json list = Json::array();
  for (std::size_t i = 0; i < layers.layers.size(); ++i) {
    const AttentionLayer& layer = layers.layers[i];
    const std::string problem = layer_problem(layer);
    const LayerAttention attention = attention_of(layer);
    const std::optional<HeadChoice> assumed = assumed_heads(layer);
    const bool sound = problem.empty();
    Json entry({{"layer", i},
                {"name", layer.name},
                {"family", layer.family->name},
                {"layout", layout_name(layer.layout)},
                {"embed_dim", or_null(layer.query_width > 0, layer.query_width)},
                {"num_heads", value_or_null(layer.num_heads)},
                {"num_kv_heads", layer.num_heads ? value_or_null(layer.num_kv_heads) : Json()},
                {"assumed_num_heads", or_null(assumed.has_value(), assumed.value_or(HeadChoice{}).num_heads)},
                {"possible_num_heads", possible_heads(layer)},
                {"head_dim", or_null(sound, sound ? layer.q_rows / *layer.num_heads : 0)},
                {"v_head_dim", or_null(sound, sound ? layer.v_rows / *layer.num_kv_heads : 0)},
                {"bias", layer.has_bias},
                {"is_causal", attention.is_causal},
                {"is_cross", layer.is_cross}});
    for_numbers_of_layer(attention, [&](const char* key, std::optional<double> value, bool) {
      entry[key] = value_or_null(value);
    });
    entry["output_gate"] = attention.output_gate;
    entry["qk_norm"] = attention.qk_norm ? nlohmann::ordered_json(choice_name(*attention.qk_norm)) : nullptr;
    entry.update(
        {{"sliding_window", value_or_null(attention.sliding_window)},
         {"positions", positions_json(attention)},
         {"alibi_scale", or_null(attention.alibi, attention.alibi_scale)},
         {"rotary_base", or_null(attention.rotary.has_value(), attention.rotary.value_or(ModelRotary{}).base)},
         {"warnings", warnings_of(layer)},
         {"problem", or_null(!problem.empty(), problem)}});
    list.push_back(std::move(entry));
  }
  Json transformer;
  if (model.transformer()) {
    const TransformerConfig& config = model.transformer()->config();
    transformer = {
        {"blocks", blocks_text(config)},
        {"vocabulary", config.vocabulary},
        {"max_positions", config.max_positions},
        {"no_words", or_null(!model.transformer()->no_words().empty(), model.transformer()->no_words())}};
  }
  const std::string count_problem = layer_count_note(files, layers);
  return {{"config", layers.config != nullptr},
          {"missing_files", files.missing_files()},
          {"layers", list},
          {"layer_count_problem", or_null(!count_problem.empty(), count_problem)},
          {"notes", model_notes(files, layers)},
          {"encoder", transformer},
          {"tokenizer", model.tokenizer() ? Json(model.tokenizer()->kind()) : Json(nullptr)},
          {"words_without_text", or_null(!model.nameless_words().empty(), model.nameless_words())},
          {"no_text", or_null(!model.no_text().empty(), model.no_text())},
          {"no_picture", or_null(!model.no_picture().empty(), model.no_picture())}};
}

std::vector<TensorGroup> gathered_tensors(const std::vector<ArrayInfo>& arrays) {
  std::map<std::tuple<std::vector<std::string>, std::string, std::vector<Index>>, std::vector<Member>> alike;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const NumberedName name = numbered_name(arrays[i].name);
    alike[{name.between, arrays[i].stored_dtype, arrays[i].sizes}].push_back({i, name.numbers});
  }
  std::vector<PlacedGroup> placed;
  for (const auto& [key, members] : alike) add_group(arrays, members, placed);
  std::ranges::sort(placed, {}, &PlacedGroup::place);
  std::vector<TensorGroup> groups;
  for (PlacedGroup& one : placed) groups.push_back(std::move(one.group));
  return groups;
}

std::string tensor_list_text(const std::vector<ArrayInfo>& arrays, bool gather) {
  std::vector<TensorGroup> groups;
  if (gather) {
    groups = gathered_tensors(arrays);
  } else {
    for (const ArrayInfo& array : arrays)
      groups.push_back({one_line(array.name), array.stored_dtype, array.sizes, 1, array.bytes});
  }
  const bool counted = std::ranges::any_of(groups, [](const TensorGroup& group) { return group.count > 1; });
  std::vector<TextRow> rows;
  for (const TensorGroup& group : groups) {
    rows.push_back({group.name, group.dtype});
    if (counted) rows.back().push_back(group.count > 1 ? fmt::format("{} ×", group.count) : "");
    rows.back().push_back(fmt::format("({})", join(group.sizes, ",")));
    rows.back().push_back(bytes_text(group.bytes));
  }
  return text_table(rows);
}

}  // namespace headwise
