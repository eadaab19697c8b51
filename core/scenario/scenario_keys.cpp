#include "core/scenario/scenario_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/files/json_text.h"
#include "core/scenario/json_document.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/scenario_schema.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// One line per key; a key of the schema that is not here fails a test (tests/core/scenario/scenario_keys_test.cpp).
constexpr std::array descriptions{
    KeyDescription{"op", "which operator: torch.nn.MultiheadAttention or F.scaled_dot_product_attention"},
    KeyDescription{"attention.embed_dim", "E, the width of the model"},
    KeyDescription{"attention.num_heads", "H, the number of heads"},
    KeyDescription{"attention.num_kv_heads",
                   "G, the number of key/value heads (grouped queries); null: as many as heads"},
    KeyDescription{"attention.kdim", "the width of key; null: E"},
    KeyDescription{"attention.vdim", "the width of value; null: E"},
    KeyDescription{"attention.head_dim", "D, the width of q and k in a head; null: E/H"},
    KeyDescription{"attention.v_head_dim", "Dv, the width of v in a head; null: D"},
    KeyDescription{"attention.bias", "whether the projections have biases"},
    KeyDescription{"attention.add_bias_kv", "appends the rows bias_k and bias_v to k and v"},
    KeyDescription{"attention.add_zero_attn", "appends a row of zeros to k and v"},
    KeyDescription{"attention.rotary_base", "the base of rotary position embedding (RoPE); null: none"},
    KeyDescription{"attention.rotary_inverse_frequencies",
                   "RoPE frequencies, instead of those derived from a base"},
    KeyDescription{"attention.scale", "the factor of the scores; null: 1/√D"},
    KeyDescription{"attention.clip_qkv",
                   "q, k and v are clipped to [-c, c] where the heads are split; null: no clipping"},
    KeyDescription{"attention.softcap", "c of c·tanh(x/c), which bounds the scaled scores; 0: none"},
    KeyDescription{"attention.temperature", "the divisor of the scaled scores"},
    KeyDescription{"attention.dropout", "the probability that an attention weight becomes 0"},
    KeyDescription{"attention.dropout_seed", "determines which weights dropout removes"},
    KeyDescription{"attention.need_weights", "whether the module returns attn_output_weights"},
    KeyDescription{"attention.average_attn_weights", "whether these are the mean over the heads"},
    KeyDescription{"attention.residual", "adds query to the output"},
    KeyDescription{"attention.layer_norm", "normalises the output, after the residual"},
    KeyDescription{"inputs.source", "where query, key and value come from"},
    KeyDescription{"inputs.seed", "of random inputs and of the embeddings of words"},
    KeyDescription{"inputs.text", "the text of source \"text\", or the query's text in cross-attention"},
    KeyDescription{"inputs.key_text", "the text of key and value; null: the same text"},
    KeyDescription{"inputs.positions", "whether positions are added to the embeddings of a text"},
    KeyDescription{"inputs.file",
                   "of source \"file\": an array file with query, key and value; null: given by --input"},
    KeyDescription{"inputs.batch", "N, the batch"},
    KeyDescription{"inputs.query_length", "L, the number of queries, if no text or array determines it"},
    KeyDescription{"inputs.key_length", "S, the number of keys; null: L"},
    KeyDescription{"inputs.self_attention", "whether key and value are the query"},
    KeyDescription{"inputs.batch_first", "whether given arrays are (N,L,E); otherwise (L,N,E)"},
    KeyDescription{"parameters.source", "where the weights and biases come from"},
    KeyDescription{"parameters.layout", "one packed in_proj_weight, or one weight each for q, k and v"},
    KeyDescription{"parameters.init", "how random parameters are drawn"},
    KeyDescription{"parameters.seed", "of random parameters"},
    KeyDescription{"parameters.file",
                   "of source \"file\": an array file; of source \"model\": a folder or file"},
    KeyDescription{"parameters.layer", "of source \"model\": which attention layer, counted from 0"},
    KeyDescription{"mask.is_causal", "blocks keys after the query's own position"},
    KeyDescription{"mask.causal_alignment", "where the causal diagonal starts when L and S differ"},
    KeyDescription{"mask.sliding_window", "blocks keys this far away or farther; null: none"},
    KeyDescription{"mask.valid_lens",
                   "the number of keys that take part, per sentence (N) or per query (N,L)"},
    KeyDescription{"mask.alibi",
                   "adds ALiBi: scores decrease with distance, with a different slope in each head"},
    KeyDescription{"mask.alibi_scale", "multiplies ALiBi's biases: 1/√D in Falcon"},
    KeyDescription{"mask.preset", "a named mask (see: headwise list masks)"},
    KeyDescription{"mask.file", "an array file with attn_mask, key_padding_mask or valid_lens"},
    KeyDescription{"mask.value", "the value of blocked scores"},
    KeyDescription{"mask.fully_masked_rows",
                   "the value of rows whose keys are all blocked; null: as in PyTorch's function"},
    KeyDescription{"heads.gain", "the factor of each head's output; 0 mutes it"},
    KeyDescription{"heads.frozen", "heads that keep given attention weights, regardless of their scores"},
    KeyDescription{"edits", "single numbers of inputs, parameters and masks, set by hand"}};

// The keys with types and ranges, by the schema.
struct KeyReader {
  std::vector<ScenarioKey> keys;

  void add(const std::string& section, const char* key, const std::string& type, const std::string& range) {
    const std::string path = section.empty() ? key : section + "." + key;
    const auto described = std::ranges::find(descriptions, path, &KeyDescription::path);
    keys.push_back({path, type, range, "", std::string(described == descriptions.end() ? "" : described->what)});
  }
  void add_optional(const std::string& section, const char* key, const std::string& type,
                    const std::string& range) {
    add(section, key, type + " or null", range);
  }

  void field(const char* section, const char* key, const bool&) {
    add(section, key, "boolean", "true or false");
  }
  void field(const char* section, const char* key, const std::string&) { add(section, key, "string", "any"); }
  void field(const char* section, const char* key, const std::optional<std::string>&) {
    add_optional(section, key, "string", "any");
  }
  void field(const char* section, const char* key, const std::uint64_t&) {
    add(section, key, "integer", "0 to 18446744073709551615");
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void field(const char* section, const char* key, const Enum&) {
    add(section, key, "word", join(ChoiceNames<Enum>::names, ", "));
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void field(const char* section, const char* key, const std::optional<Enum>&) {
    add_optional(section, key, "word", join(ChoiceNames<Enum>::names, ", "));
  }
  void field(const char* section, const char* key, const std::int64_t&, const IntegerRange& range) {
    add(section, key, "integer", range.text());
  }
  void field(const char* section, const char* key, const std::optional<std::int64_t>&,
             const IntegerRange& range) {
    add_optional(section, key, "integer", range.text());
  }
  void field(const char* section, const char* key, const double&, const NumberRange& range) {
    add(section, key, "number", range.text());
  }
  void field(const char* section, const char* key, const std::optional<double>&, const NumberRange& range) {
    add_optional(section, key, "number", range.text());
  }
  void mask_value(const char* section, const char* key, const std::optional<double>&) {
    add(section, key, "number or word", "a finite number or \"-inf\"");
  }
  void valid_lens(const char* section, const char* key, const MaskSpec&) {
    add_optional(section, key, "list", "integers from 0 to S: (N), or lists (N,L)");
  }
  void numbers(const char* section, const char* key, const std::optional<std::vector<double>>&,
               const char* each) {
    add_optional(section, key, "list", fmt::format("finite numbers, {}", each));
  }
  void frozen(const char* section, const char* key, const std::optional<FrozenHeads>&) {
    add_optional(section, key, "object", "heads, and attn_weights: lists (N,F,L,S), a file or null");
  }
  void edits(const char* section, const char* key, const std::vector<CellEdit>&) {
    add(section, key, "list", "objects of tensor, index and value");
  }
};

}  // namespace

std::vector<ScenarioKey> scenario_keys() {
  const Scenario defaults;
  KeyReader reader;
  visit_scenario(defaults, reader);
  const Json json = parse_json(scenario_to_json(defaults, true), "the defaults");
  for (ScenarioKey& key : reader.keys) {
    const std::size_t dot = key.path.find('.');
    const Json& value = dot == std::string::npos
                            ? json.at(key.path)
                            : json.at(key.path.substr(0, dot)).at(key.path.substr(dot + 1));
    key.default_value = json_text(value);
  }
  return std::move(reader.keys);
}

std::span<const KeyDescription> key_descriptions() {
  return descriptions;
}

}  // namespace headwise
