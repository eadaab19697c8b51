#include "core/model/tokenizer/tokenizer_post_processor.h"

#include <fmt/format.h>

#include <utility>

#include "core/files/json_text.h"
#include "core/model/tokenizer/tokenizer_json.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

using Json = nlohmann::json;

// A longer template would not be [CLS] and [SEP].
constexpr std::size_t most_around = 64;

[[noreturn]] void fail(const std::string& where, const std::string& what, const std::string& got,
                       const std::string& expected) {
  throw Error(ExitStatus::input,
              {.where = where + ": post_processor", .what = what, .got = got, .expected = expected});
}

TokenId id_of(const std::string& piece, const TokenizerVocabulary& vocabulary, const std::string& where) {
  const std::optional<TokenId> id = vocabulary.find(piece);
  if (!id)
    fail(where, "a special token is not in the vocabulary", fmt::format("'{}'", piece), "a piece of it");
  return *id;
}

// "sep": ["[SEP]", 102].
TokenId pair_id(const Json& processor, const char* key, const TokenizerVocabulary& vocabulary,
                const std::string& where) {
  const Json& pair = json_member(processor, key);
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string())
    fail(where, fmt::format("\"{}\" is damaged", key), pair.type_name(), "[PIECE, ID]");
  return id_of(pair[0].get<std::string>(), vocabulary, where);
}

// The ids that a template's special token represents.
std::vector<TokenId> special_ids(const Json& processor, const std::string& name,
                                 const TokenizerVocabulary& vocabulary, const std::string& where) {
  const Json& entry = json_member(json_member(processor, "special_tokens"), name.c_str());
  std::vector<TokenId> ids;
  for (const Json& id : json_list(entry, "ids", where)) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= static_cast<std::uint64_t>(vocabulary.end()) ||
        !vocabulary.contains(id.get<TokenId>())) {
      fail(where, fmt::format("an id of '{}' is not in the vocabulary", name),
           one_line(json_text(id, {.ascii = true})), fmt::format("0 to {}", vocabulary.end() - 1));
    }
    ids.push_back(id.get<TokenId>());
  }
  if (ids.empty())
    fail(where, fmt::format("the template's '{}' has no ids", name), "", "special_tokens.NAME.ids");
  return ids;
}

// "single": [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}, …].
AroundText from_template(const Json& processor, const TokenizerVocabulary& vocabulary,
                         const std::string& where) {
  AroundText around;
  int texts = 0;
  for (const Json& part : json_list(processor, "single", where)) {
    if (const Json& token = json_member(part, "SpecialToken"); token.is_object()) {
      std::vector<TokenId>& side = texts == 0 ? around.prefix : around.suffix;
      for (const TokenId id : special_ids(processor, json_text(token, "id", "", where), vocabulary, where))
        side.push_back(id);
      if (side.size() > most_around) fail(where, "the template is too long", "more than 64 tokens", "fewer");
    } else if (json_member(part, "Sequence").is_object()) {
      ++texts;
    } else {
      fail(where, "a part of the template is unknown", part.type_name(), "SpecialToken or Sequence");
    }
  }
  if (texts != 1) fail(where, "the template is damaged", fmt::format("{} texts", texts), "one text");
  return around;
}

AroundText read(const Json& processor, const TokenizerVocabulary& vocabulary, const std::string& where,
                int level) {
  if (processor.is_null()) return {};
  const std::string type = json_text(processor, "type", "", where);
  if (type == "ByteLevel") return {};  // changes reported ranges, not the tokens
  if (type == "TemplateProcessing") return from_template(processor, vocabulary, where);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    return {{pair_id(processor, "cls", vocabulary, where)}, {pair_id(processor, "sep", vocabulary, where)}};
  }
  if (type != "Sequence" || level > 0) {
    fail(where, "this kind is unknown", fmt::format("'{}'", type),
         "TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel or a Sequence of them");
  }
  AroundText around;
  for (const Json& part : json_list(processor, "processors", where)) {
    const AroundText outer = read(part, vocabulary, where, level + 1);
    around.prefix.insert(around.prefix.begin(), outer.prefix.begin(), outer.prefix.end());
    around.suffix.insert(around.suffix.end(), outer.suffix.begin(), outer.suffix.end());
    if (around.prefix.size() + around.suffix.size() > most_around)
      fail(where, "there are too many tokens around the text", "more than 64", "fewer");
  }
  return around;
}

}  // namespace

AroundText read_post_processor(const Json& processor, const TokenizerVocabulary& vocabulary,
                               const std::string& where) {
  return read(processor, vocabulary, where, 0);
}

}  // namespace headwise
