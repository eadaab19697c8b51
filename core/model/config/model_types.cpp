#include "core/model/config/model_types.h"

#include <algorithm>

#include "core/files/word_fields.h"

namespace headwise {

namespace embedded {
std::span<const unsigned char> model_types();
std::span<const unsigned char> model_composite_types();
}  // namespace embedded

namespace {

template <Sees choice>
constexpr auto sees = chosen<&ModelType::sees, choice>;

template <InnerPositions choice>
constexpr auto positions = chosen<&ModelType::positions, choice>;

template <unsigned group>
constexpr auto reading = [](ModelType& type, std::string_view value) {
  type.reads |= group;
  return value.empty();
};

// clang-format off
constexpr FieldWord<ModelType> type_words[]{
    {"all_tokens", sees<Sees::all_tokens>}, {"past", sees<Sees::past>},
    {"past_in_decoder", sees<Sees::past_in_decoder>}, {"past_if_is_decoder", sees<Sees::past_if_is_decoder>},
    {"past_if_is_causal", sees<Sees::past_if_is_causal>}, {"rotary", positions<InnerPositions::rotary>},
    {"rotary_neighbours", positions<InnerPositions::rotary_neighbours>},
    {"alibi", positions<InnerPositions::alibi>},
    {"alibi_or_rotary", positions<InnerPositions::alibi_or_rotary>},
    {"as_position_type", positions<InnerPositions::as_position_type>},
    {"as_trained", positions<InnerPositions::as_trained>}, {"relative", positions<InnerPositions::relative>},
    {"rope", reading<reads::rope>}, {"window", reading<reads::window>},
    {"multiplier", reading<reads::multiplier>}, {"query_scalar", reading<reads::query_scalar>},
    {"softcap", reading<reads::softcap>}, {"clip", reading<reads::clip>},
    {"gpt2_scale", reading<reads::gpt2_scale>}, {"no_rope", reading<reads::no_rope>},
    {"is_decoder", reading<reads::is_decoder>}, {"position_type", reading<reads::position_type>},
    {"falcon", reading<reads::falcon>}, {"multi_query", reading<reads::multi_query>},
    {"window_switch", reading<reads::window_switch>}, {"window_by_default", reading<reads::window_by_default>},
    {"partial_rope", reading<reads::partial_rope>}, {"rope_sections", reading<reads::rope_sections>},
    {"block_sparse", reading<reads::block_sparse>}, {"rotary_dim", reading<reads::rotary_dim>},
    {"rope_in_windows", reading<reads::rope_in_windows>}, {"local_windows", reading<reads::local_windows>},
    {"written_multiplier", reading<reads::written_multiplier>},
    {"causal_switch", reading<reads::causal_switch>}, {"head_dim", reading<reads::head_dim>},
    {"pruned_heads", reading<reads::pruned_heads>}, {"usual_heads", field<&ModelType::usual_heads>},
    {"usual_kv_heads", field<&ModelType::usual_kv_heads>},
    {"usual_head_dim", field<&ModelType::usual_head_dim>},
    {"first_windowed", field<&ModelType::first_windowed>}, {"usual_base", field<&ModelType::usual_base>},
    {"usual_share", field<&ModelType::usual_share>}};
// clang-format on

}  // namespace

std::vector<ModelType> model_types_in(std::span<const unsigned char> table) {
  std::vector<ModelType> types;
  for (const WordRow& row : word_rows(table, "types.txt")) {
    ModelType type;
    const std::size_t bar = std::min(row.value.find('|'), row.value.size());
    std::string_view words = row.value.substr(0, bar);
    if (constexpr std::string_view like = "like "; words.starts_with(like)) {
      const std::size_t end = std::min(words.find_first_of(" \n", like.size()), bar);
      const auto earlier =
          std::ranges::find(types, words.substr(like.size(), end - like.size()), &ModelType::name);
      if (earlier != types.end()) type = *earlier, words.remove_prefix(end);
    }
    read_fields(words, type, type_words, "types.txt", row.key);
    type.name = row.key;
    if (bar < row.value.size()) type.own_settings = row.value.substr(bar + 1);
    types.push_back(type);
  }
  return types;
}

std::span<const ModelType> model_types() {
  static const std::vector<ModelType> types = model_types_in(embedded::model_types());
  return types;
}

const ModelType* find_model_type(std::string_view name) {
  const auto at = std::ranges::find(model_types(), name, &ModelType::name);
  return at == model_types().end() ? nullptr : &*at;
}

bool is_composite_type(std::string_view name) {
  static const std::vector<std::string_view> names = word_list(embedded::model_composite_types());
  return std::ranges::find(names, name) != names.end();
}

unsigned settings_group(std::string_view word) {
  ModelType type;
  const auto* const found = std::ranges::find(type_words, word, &FieldWord<ModelType>::word);
  return found != std::end(type_words) && found->take(type, "") ? type.reads : 0;
}

}  // namespace headwise
