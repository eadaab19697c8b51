#include "core/model/files/sentence_patterns.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "core/files/file_paths.h"
#include "core/files/json_value.h"
#include "core/tensor/join.h"
#include "core/tensor/random.h"

namespace headwise {
namespace {

constexpr const char* patterns_file_name = "patterns.json";

bool has_word(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

const std::vector<std::string>& words_of(const SentencePattern& pattern, SentencePlace place) {
  switch (place) {
    case SentencePlace::subject:
      return pattern.subjects;
    case SentencePlace::verb:
      return pattern.verbs;
    case SentencePlace::object:
      return pattern.objects;
    case SentencePlace::adjective:
      break;
  }
  return pattern.of_subject.empty() ? pattern.of_object : pattern.of_subject;
}

bool fits_place(const SentencePattern& pattern, SentencePlace place, const std::string& word) {
  if (place != SentencePlace::adjective) return has_word(words_of(pattern, place), word);
  return has_word(pattern.of_subject, word) || has_word(pattern.of_object, word);
}

constexpr std::array places{SentencePlace::subject, SentencePlace::verb, SentencePlace::object,
                            SentencePlace::adjective};

// Small letters, single spaces, no full stop: what does not matter when a sentence is recognised.
std::string normal(std::string_view text) {
  std::string made;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank) made += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (blank && !made.empty() && made.back() != ' ') made += ' ';
  }
  if (made.ends_with(' ')) made.pop_back();
  if (made.ends_with('.')) made.pop_back();
  if (made.ends_with(' ')) made.pop_back();
  return made;
}

std::vector<std::string> without(const std::vector<std::string>& words, const std::string& word) {
  std::vector<std::string> left = words;
  std::erase(left, word);
  return left;
}

constexpr JsonFormat patterns_format{.limits = {.levels = 8, .values = 100'000, .keys = 1'000},
                                     .remedy = "write it anew with sentence_patterns.py, or remove it"};
constexpr std::size_t longest_word = 60;  // bytes

const std::string& checked_word(const std::string& text, const JsonValue& where) {
  const bool plain = std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (text.empty() || text.size() > longest_word || !plain || text.front() == ' ' || text.back() == ' ')
    where.refuse_got("this is not a word", fmt::format("\"{}\"", text),
                     fmt::format("1 to {} bytes, no spaces around", longest_word));
  return text;
}

// `least`: so many words at least, no two the same.
std::vector<std::string> words(const JsonValue& list, std::size_t least) {
  std::vector<std::string> read;
  list.list("a list of words").each([&](const JsonValue& value) {
    read.push_back(checked_word(value.text(), value));
    if (std::ranges::find(read, read.back()) + 1 != read.end())
      value.refuse("a word is listed twice", "each word once");
  });
  if (read.size() < least)
    list.refuse_got("there are too few words", fmt::format("{}", read.size()),
                    fmt::format("at least {}", least));
  return read;
}

SentencePattern pattern(const JsonValue& value) {
  struct ShareRange {
    bool contains(double number) const { return number > 0.0 && number <= 1e6; }
    std::string text() const { return "a number above 0, at most 1,000,000"; }
  };
  const auto list = [&](const char* key, std::size_t least) { return words(value.needed(key), least); };
  SentencePattern read;
  read.name = checked_word(value.object().needed("name").text(), value["name"]);
  value.needed("share").read(read.share, ShareRange{});
  read.subjects = list("subjects", 2);
  read.verbs = list("verbs", 1);
  read.objects = list("objects", 2);
  read.of_subject = list("of_subject", 0);
  read.of_object = list("of_object", 0);
  if (read.of_subject.empty() && read.of_object.empty())
    value.refuse_got("the pattern has no adjectives", "two empty lists", "of_subject or of_object");
  return read;
}

}  // namespace

bool has_sentence_patterns(const std::string& model_path) {
  const std::filesystem::path path(model_path);
  return is_there(((is_folder(model_path) ? path : path.parent_path()) / patterns_file_name).string());
}

// "it", or that of the noun that the adjective speaks of.
std::string SentencePatterns::pronoun(const PatternSentence& sentence) const {
  const SentencePattern& pattern = patterns_[sentence.pattern];
  const bool of_subject = has_word(pattern.of_subject, sentence.at(SentencePlace::adjective));
  const std::string& noun = sentence.at(of_subject ? SentencePlace::subject : SentencePlace::object);
  for (const Pronoun& each : pronouns_)
    if (has_word(each.nouns, noun)) return each.pronoun;
  return "it";
}

std::vector<SentencePart> SentencePatterns::parts(const PatternSentence& sentence) const {
  std::vector<SentencePart> parts;
  for (const Piece& piece : pieces_) {
    if (piece.filler == Filler::word) {
      parts.push_back({sentence.at(piece.place), piece.place});
      continue;
    }
    const std::string text = piece.filler == Filler::pronoun ? pronoun(sentence) : piece.text;
    const bool joins = !parts.empty() && !parts.back().place;
    if (joins)
      parts.back().text += " " + text;
    else
      parts.push_back({text, std::nullopt});
  }
  return parts;
}

std::string SentencePatterns::text(const PatternSentence& sentence) const {
  std::vector<std::string> texts;
  for (SentencePart& part : parts(sentence)) texts.push_back(std::move(part.text));
  return join(texts, " ");
}

std::vector<WordGroup> SentencePatterns::choices(const PatternSentence& sentence, SentencePlace place) const {
  const SentencePattern& pattern = patterns_[sentence.pattern];
  const std::string &subject = sentence.at(SentencePlace::subject),
                    &object = sentence.at(SentencePlace::object);
  switch (place) {
    case SentencePlace::subject:
      return {{"", without(pattern.subjects, object)}};
    case SentencePlace::object:
      return {{"", without(pattern.objects, subject)}};
    case SentencePlace::verb:
      return {{"", pattern.verbs}};
    case SentencePlace::adjective:
      break;
  }
  std::vector<WordGroup> groups{{subject, pattern.of_subject}, {object, pattern.of_object}};
  for (const std::string& word : pattern.of_subject) std::erase(groups[1].words, word);
  std::erase_if(groups, [](const WordGroup& group) { return group.words.empty(); });
  return groups;
}

void SentencePatterns::keep_nouns_apart(PatternSentence& sentence) const {
  std::string& object = sentence.at(SentencePlace::object);
  if (object != sentence.at(SentencePlace::subject)) return;
  object = without(patterns_[sentence.pattern].objects, object).front();
}

PatternSentence SentencePatterns::first(std::size_t pattern) const {
  return in_pattern({}, pattern);
}

PatternSentence SentencePatterns::in_pattern(const PatternSentence& sentence, std::size_t pattern) const {
  PatternSentence other = sentence;
  other.pattern = pattern;
  for (const SentencePlace place : places) {
    std::string& word = other.at(place);
    if (!fits_place(patterns_[pattern], place, word)) word = words_of(patterns_[pattern], place).front();
  }
  keep_nouns_apart(other);
  return other;
}

PatternSentence SentencePatterns::drawn(std::uint64_t seed) const {
  const CounterRandom random(seed, "pattern sentence");
  double all = 0.0;
  for (const SentencePattern& pattern : patterns_) all += pattern.share;
  PatternSentence sentence;
  double left = random.uniform(0) * all;
  while (sentence.pattern + 1 < patterns_.size() && left >= patterns_[sentence.pattern].share)
    left -= patterns_[sentence.pattern++].share;
  for (const SentencePlace place : places) {
    std::vector<std::string> words;
    for (const WordGroup& group : choices(sentence, place))
      words.insert(words.end(), group.words.begin(), group.words.end());
    sentence.at(place) = words[random.bits(1 + static_cast<std::uint64_t>(place)) % words.size()];
  }
  return sentence;
}

// Tries every word in a place, as "fit in" begins "fit into".
bool SentencePatterns::match(std::string_view rest, std::size_t piece, PatternSentence& sentence,
                             std::string_view whole) const {
  if (piece == pieces_.size()) return rest.empty() && normal(text(sentence)) == whole;
  const auto match_word = [&](const std::string& word) {
    const std::string shown = normal(word);  // empty: the full stop
    if (!rest.starts_with(shown)) return false;
    std::string_view behind = rest.substr(shown.size());
    if (behind.starts_with(' ')) behind.remove_prefix(1);
    return match(behind, piece + 1, sentence, whole);
  };
  const Piece& now = pieces_[piece];
  if (now.filler == Filler::none) return match_word(now.text);
  if (now.filler == Filler::pronoun) {
    return match_word("it") ||
           std::ranges::any_of(pronouns_, [&](const Pronoun& each) { return match_word(each.pronoun); });
  }
  const SentencePattern& pattern = patterns_[sentence.pattern];
  const auto is_one_of = [&](const std::vector<std::string>& words) {
    return std::ranges::any_of(words, [&](const std::string& word) {
      sentence.at(now.place) = word;
      return match_word(word);
    });
  };
  if (now.place != SentencePlace::adjective) return is_one_of(words_of(pattern, now.place));
  return is_one_of(pattern.of_subject) || is_one_of(pattern.of_object);
}

std::optional<PatternSentence> SentencePatterns::recognised(std::string_view text) const {
  constexpr std::size_t longest = 1'000;  // bytes: no sentence of a pattern is longer
  if (text.size() > longest) return std::nullopt;
  const std::string whole = normal(text);
  for (std::size_t i = 0; i < patterns_.size(); ++i) {
    PatternSentence sentence;
    sentence.pattern = i;
    if (match(whole, 0, sentence, whole)) return sentence;
  }
  return std::nullopt;
}

std::vector<SentencePatterns::Piece> SentencePatterns::cut(const JsonValue& sentence) {
  constexpr std::array<std::string_view, 5> names{"{subject}", "{verb}", "{object}", "{adjective}",
                                                  "{pronoun}"};
  std::vector<Piece> pieces;
  std::array<int, names.size()> found{};
  const std::string whole = sentence.text();
  for (std::size_t at = 0; at < whole.size();) {
    const std::size_t end = std::min(whole.find(' ', at), whole.size());
    const std::string text = whole.substr(at, end - at);
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
  for (std::size_t i = 0; i < names.size(); ++i)
    if (found[i] != 1)
      sentence.refuse_got("the sentence does not have each place once",
                          fmt::format("{} times {}", found[i], names[i]),
                          "{subject}, {verb}, {object}, {pronoun} and {adjective}, as words of their own");
  return pieces;
}

SentencePatterns SentencePatterns::from_value(const JsonValue& json) {
  SentencePatterns read;
  read.pieces_ = cut(json.object().needed("sentence"));
  const JsonValue pronouns = json.needed("pronouns").object("{pronoun: [nouns]}");
  for (const auto& [pronoun, nouns] : pronouns.json().items())
    read.pronouns_.push_back({checked_word(pronoun, pronouns), words(pronouns[pronoun], 0)});
  const JsonValue patterns = json.needed("patterns").list("a list of at least one");
  if (patterns.json().empty()) patterns.refuse("there are no patterns", "a list of at least one");
  patterns.each(
      [&](const JsonValue& value) {
        SentencePattern one = pattern(value);
        if (std::ranges::find(read.patterns_, one.name, &SentencePattern::name) != read.patterns_.end())
          value.refuse_got("two patterns have the same name", fmt::format("\"{}\"", one.name),
                           "a name for each");
        read.patterns_.push_back(std::move(one));
      },
      true);
  return read;
}

SentencePatterns SentencePatterns::from_json(std::string_view text, const std::string& where) {
  const Json parsed = parse_json(text, where, patterns_format);
  return from_value({parsed, where, patterns_format});
}

std::optional<SentencePatterns> SentencePatterns::in_folder(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / patterns_file_name).string();
  if (!is_there(path)) return std::nullopt;
  const Json parsed = read_json_object(path, patterns_format);
  return from_value({parsed, path, patterns_format});
}

}  // namespace headwise
