#include "core/model/layers/model_families.h"

#include "core/files/word_fields.h"

namespace headwise {

namespace embedded {
std::span<const unsigned char> model_families();
}  // namespace embedded

namespace {

using enum AttentionLayout;

template <AttentionLayout choice>
constexpr auto layout = chosen<&ModelFamily::layout, choice>;

constexpr FieldWord<ModelFamily> family_words[]{{"separate", layout<separate>},
                                                {"packed", layout<packed>},
                                                {"packed_in", layout<packed_in>},
                                                {"interleaved", layout<interleaved>},
                                                {"queries_in", layout<queries_in>},
                                                {"grouped", layout<grouped>},
                                                {"name", field<&ModelFamily::name>},
                                                {"q", field<&ModelFamily::q>},
                                                {"k", field<&ModelFamily::k>},
                                                {"v", field<&ModelFamily::v>},
                                                {"kv", field<&ModelFamily::kv>},
                                                {"qkv", field<&ModelFamily::qkv>},
                                                {"output", field<&ModelFamily::output>},
                                                {"joint_bias", field<&ModelFamily::joint_bias>},
                                                {"causal", field<&ModelFamily::is_causal>},
                                                {"cross", field<&ModelFamily::is_cross>},
                                                {"unscaled", chosen<&ModelFamily::scales, false>},
                                                {"needs_output", field<&ModelFamily::needs_output>},
                                                {"model_type", field<&ModelFamily::model_type>},
                                                {"positions", field<&ModelFamily::positions>}};

std::vector<ModelFamily> read_families() {
  std::vector<ModelFamily> families;
  for (const WordRow& row : word_rows(embedded::model_families(), "families.txt")) {
    families.push_back({.name = row.key});
    read_fields(row.value, families.back(), family_words, "families.txt", row.key);
  }
  return families;
}

}  // namespace

std::span<const ModelFamily> model_families() {
  static const std::vector<ModelFamily> families = read_families();
  return families;
}

std::string_view layout_name(AttentionLayout layout) {
  switch (layout) {
    case separate:
      return "q, k and v separate, [out,in]";
    case packed:
      return "q, k, v packed in rows, [out,in]";
    case packed_in:
      return "q, k, v packed in columns, [in,out]";
    case interleaved:
      return "q, k, v of each head in turns, [out,in]";
    case queries_in:
      return "q, and k and v packed, in columns, [in,out]";
    case grouped:
      return "q heads, k, v of each key/value head in turns, [out,in]";
  }
  return "";
}

}  // namespace headwise
