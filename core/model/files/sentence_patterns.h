// Sentences that a model knows well, with places for words: "the [animal] did not [cross] the [street]
// because it was too [tired] ." They stand in a patterns.json beside the model;
// assets/models/sentence_patterns.py writes that of `sentences`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headwise {

class JsonValue;

enum class SentencePlace { subject, verb, object, adjective };
inline constexpr std::size_t sentence_place_count = 4;

struct SentencePattern {
  std::string name;                            // "animal and place"; no other pattern has it
  double share = 1.0;                          // > 0: how often it is drawn, relative to the others
  std::vector<std::string> subjects, objects;  // at least two different nouns each
  std::vector<std::string> verbs;              // "cross", "fit into"; at least one
  std::vector<std::string> of_subject,
      of_object;  // the adjectives that speak of the one and of the other; at least one
};

// A pattern with a word in each place.
struct PatternSentence {
  std::size_t pattern = 0;                              // index
  std::array<std::string, sentence_place_count> words;  // by SentencePlace

  const std::string& at(SentencePlace place) const { return words[static_cast<std::size_t>(place)]; }
  std::string& at(SentencePlace place) { return words[static_cast<std::size_t>(place)]; }
  friend bool operator==(const PatternSentence&, const PatternSentence&) = default;
};

// A part of a sentence: the word in a place, or what every sentence has between two places.
struct SentencePart {
  std::string text;
  std::optional<SentencePlace> place;
};

// Words to choose from, in the order of the file.
struct WordGroup {
  std::string of;  // of adjectives: the noun that they speak of; else empty
  std::vector<std::string> words;
};

// Immutable. Subject and object of a sentence are always different nouns.
class SentencePatterns {
 public:
  // Reads the text of a patterns.json. Throws Error(input), beginning with `where`, for a damaged one:
  //   {"sentence": "the {subject} did not {verb} the {object} because {pronoun} was too {adjective} .",
  //    "pronouns": {"she": ["woman", …]},  of the nouns that "it" does not stand for
  //    "patterns": [{"name", "share", "subjects", "verbs", "objects", "of_subject", "of_object"}, …]}
  static SentencePatterns from_json(std::string_view text, const std::string& where);
  // The patterns beside the model in a folder; nullopt if there are none. Throws as from_json.
  static std::optional<SentencePatterns> in_folder(const std::string& folder);

  const std::vector<SentencePattern>& patterns() const { return patterns_; }

  // The sentence from left to right; texts and words without the spaces around them.
  std::vector<SentencePart> parts(const PatternSentence& sentence) const;
  std::string text(const PatternSentence& sentence) const;
  // The words that fit in a place beside the other words of the sentence.
  std::vector<WordGroup> choices(const PatternSentence& sentence, SentencePlace place) const;

  // The first words of a pattern.
  PatternSentence first(std::size_t pattern) const;
  // The sentence in another pattern: the words that both have stay.
  PatternSentence in_pattern(const PatternSentence& sentence, std::size_t pattern) const;
  // One drawn at random, the same for the same seed.
  PatternSentence drawn(std::uint64_t seed) const;
  // Which sentence a text is, whatever its capitals, its spaces and the full stop;
  // nullopt if it is none of them.
  std::optional<PatternSentence> recognised(std::string_view text) const;

 private:
  enum class Filler { none, pronoun, word };
  // The template, cut at its places: a text of its own, the pronoun or the word in a place.
  struct Piece {
    Filler filler = Filler::none;
    std::string text;
    SentencePlace place = SentencePlace::subject;
  };
  // The nouns with a pronoun of their own.
  struct Pronoun {
    std::string pronoun;
    std::vector<std::string> nouns;
  };

  SentencePatterns() = default;
  static SentencePatterns from_value(const JsonValue& json);
  static std::vector<Piece> cut(const JsonValue& sentence);
  std::string pronoun(const PatternSentence& sentence) const;
  void keep_nouns_apart(PatternSentence& sentence) const;
  bool match(std::string_view rest, std::size_t piece, PatternSentence& sentence, std::string_view whole) const;

  std::vector<Piece> pieces_;
  std::vector<Pronoun> pronouns_;
  std::vector<SentencePattern> patterns_;
};

// Whether a patterns.json lies beside the model at a path, as in parameters.file.
bool has_sentence_patterns(const std::string& model_path);

}  // namespace headwise
