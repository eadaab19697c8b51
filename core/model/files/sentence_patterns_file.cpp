// patterns.json, checked: a damaged one is refused in one sentence.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/files/input_file.h"
#include "core/files/strict_json.h"
#include "core/model/files/sentence_patterns.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

using Json = nlohmann::json;

constexpr JsonLimits pattern_limits{.levels = 8, .values = 100'000, .keys = 1'000};
constexpr std::size_t longest_word = 60;  // bytes

[[noreturn]] void refuse_patterns(const std::string& where, const std::string& what, const std::string& got,
                                  const std::string& expected) {
  throw Error(ExitStatus::input,
              {where, what, got, expected, "write it anew with sentence_patterns.py, or remove it"});
}

const Json& member(const Json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end()) refuse_patterns(where, "a key is missing", "", fmt::format("\"{}\"", key));
  return *found;
}

std::string word(const Json& value, const std::string& where) {
  if (!value.is_string()) refuse_patterns(where, "this is not a word", value.type_name(), "a string");
  std::string text = value;
  const bool plain = std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (text.empty() || text.size() > longest_word || !plain || text.front() == ' ' || text.back() == ' ')
    refuse_patterns(where, "this is not a word", fmt::format("\"{}\"", text),
                    fmt::format("1 to {} bytes, no spaces around", longest_word));
  return text;
}

// `least`: so many words at least, no two the same.
std::vector<std::string> words(const Json& list, std::size_t least, const std::string& where) {
  if (!list.is_array()) refuse_patterns(where, "this is not a list", list.type_name(), "a list of words");
  std::vector<std::string> read;
  for (const Json& value : list) {
    read.push_back(word(value, where));
    if (std::ranges::find(read, read.back()) + 1 != read.end())
      refuse_patterns(where, "a word is listed twice", fmt::format("\"{}\"", read.back()), "each word once");
  }
  if (read.size() < least)
    refuse_patterns(where, "there are too few words", fmt::format("{}", read.size()),
                    fmt::format("at least {}", least));
  return read;
}

SentencePattern pattern(const Json& value, const std::string& where) {
  if (!value.is_object()) refuse_patterns(where, "this is not a pattern", value.type_name(), "an object");
  const auto list = [&](const char* key, std::size_t least) {
    return words(member(value, key, where), least, fmt::format("{}: {}", where, key));
  };
  SentencePattern read;
  read.name = word(member(value, "name", where), where + ": name");
  const Json& share = member(value, "share", where);
  if (!share.is_number() || !(share.get<double>() > 0.0) || share.get<double>() > 1e6)
    refuse_patterns(where + ": share", "this is not a share",
                    share.is_number() ? share.dump() : share.type_name(),
                    "a number above 0, at most 1,000,000");
  read.share = share;
  read.subjects = list("subjects", 2);
  read.verbs = list("verbs", 1);
  read.objects = list("objects", 2);
  read.of_subject = list("of_subject", 0);
  read.of_object = list("of_object", 0);
  if (read.of_subject.empty() && read.of_object.empty())
    refuse_patterns(where, "the pattern has no adjectives", "two empty lists", "of_subject or of_object");
  return read;
}

}  // namespace

std::string SentencePatterns::read_text(const std::string& path) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20;
  const InputFile file(path);
  if (file.size() > most_bytes)
    refuse_patterns(path, "the file is too large", bytes_text(static_cast<Index>(file.size())),
                    "at most " + bytes_text(static_cast<Index>(most_bytes)));
  return file.read_text(0, file.size());
}

std::vector<SentencePatterns::Piece> SentencePatterns::cut(const std::string& sentence,
                                                           const std::string& where) {
  constexpr std::array<std::string_view, 5> names{"{subject}", "{verb}", "{object}", "{adjective}",
                                                  "{pronoun}"};
  std::vector<Piece> pieces;
  std::array<int, names.size()> found{};
  for (std::size_t at = 0; at < sentence.size();) {
    const std::size_t end = std::min(sentence.find(' ', at), sentence.size());
    const std::string text = sentence.substr(at, end - at);
    at = end + 1;
    if (text.empty()) continue;
    const auto name = static_cast<std::size_t>(std::ranges::find(names, text) - names.begin());
    if (name < names.size()) ++found[name];
    if (name < sentence_place_count)
      pieces.push_back({Filler::word, "", static_cast<SentencePlace>(name)});
    else if (name < names.size())
      pieces.push_back({Filler::pronoun, "", {}});
    else
      pieces.push_back({Filler::none, text, {}});
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (found[i] != 1)
      refuse_patterns(where, "the sentence does not have each place once",
                      fmt::format("{} times {}", found[i], names[i]),
                      "{subject}, {verb}, {object}, {pronoun} and {adjective}, as words of their own");
  }
  return pieces;
}

SentencePatterns SentencePatterns::from_json(std::string_view text, const std::string& where) {
  Json json;
  try {
    json = parse_strict_json(text, pattern_limits);
  } catch (const JsonRefusal& refusal) {
    refuse_patterns(refusal.place.empty() ? where : where + ": " + refusal.place, refusal.what, refusal.got,
                    refusal.expected);
  }
  if (!json.is_object()) refuse_patterns(where, "this is not a JSON object", json.type_name(), "an object");
  SentencePatterns read;
  const Json& sentence = member(json, "sentence", where);
  if (!sentence.is_string())
    refuse_patterns(where + ": sentence", "this is not a text", sentence.type_name(), "a string");
  read.pieces_ = cut(sentence, where + ": sentence");
  const Json& pronouns = member(json, "pronouns", where);
  if (!pronouns.is_object())
    refuse_patterns(where + ": pronouns", "this is not an object", pronouns.type_name(), "{pronoun: [nouns]}");
  for (const auto& [pronoun, nouns] : pronouns.items()) {
    const std::string at = where + ": pronouns";
    read.pronouns_.push_back({word(pronoun, at), words(nouns, 0, at)});
  }
  const Json& patterns = member(json, "patterns", where);
  if (!patterns.is_array() || patterns.empty())
    refuse_patterns(where + ": patterns", "there are no patterns", patterns.type_name(),
                    "a list of at least one");
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const std::string at = fmt::format("{}: pattern {}", where, i);
    SentencePattern one = pattern(patterns[i], at);
    if (std::ranges::find(read.patterns_, one.name, &SentencePattern::name) != read.patterns_.end())
      refuse_patterns(at, "two patterns have the same name", fmt::format("\"{}\"", one.name),
                      "a name for each");
    read.patterns_.push_back(std::move(one));
  }
  return read;
}

}  // namespace headwise
