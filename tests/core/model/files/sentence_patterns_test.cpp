// The sentences of the builder: what they say, which words fit, and that the model knows every one.
#include <algorithm>
#include <set>

#include "core/model/files/sentence_patterns.h"
#include "core/model/transformer/text_model.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

constexpr const char* small_json = R"({
  "sentence": "the {subject} did not {verb} the {object} because {pronoun} was too {adjective} .",
  "pronouns": {"she": ["queen"]},
  "patterns": [
    {"name": "person and box", "share": 1, "subjects": ["queen", "man"], "verbs": ["fit in", "fit into"],
     "objects": ["box", "bag"], "of_subject": ["tired"], "of_object": ["small", "tired"]},
    {"name": "queens", "share": 3, "subjects": ["queen", "cat"], "verbs": ["chase"],
     "objects": ["queen", "cat"], "of_subject": ["hungry"], "of_object": []}]})";

SentencePatterns small() {
  return SentencePatterns::from_json(small_json, "patterns.json");
}

// The text with one passage replaced.
std::string with(std::string_view from, std::string_view to) {
  std::string text = small_json;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string refusal(const std::string& json) {
  return test::refusal_line([&] { SentencePatterns::from_json(json, "patterns.json"); });
}

// Every word that a pattern offers.
std::set<std::string> words_of(const SentencePatterns& all) {
  std::set<std::string> words;
  for (const SentencePattern& pattern : all.patterns())
    for (const auto* list :
         {&pattern.subjects, &pattern.verbs, &pattern.objects, &pattern.of_subject, &pattern.of_object})
      words.insert(list->begin(), list->end());
  return words;
}

}  // namespace

TEST_CASE("every word of every pattern, and of its sentence, is a whole word of the model") {
  const auto model = TextModel::open("builtin:sentences");
  REQUIRE(model->tokenizer());
  const auto patterns = SentencePatterns::in_folder(model->files().folder());
  REQUIRE(patterns);
  CHECK(patterns->patterns().size() >= 4);
  const auto check_whole = [&](const std::string& text) {
    CAPTURE(text);
    const auto tokens = model->tokenizer()->encode(text, SpecialTokens::leave_out);
    const auto spaces = static_cast<std::size_t>(std::ranges::count(text, ' '));
    CHECK(tokens.size() == spaces + 1);
    CHECK(std::ranges::none_of(tokens, &EncodedToken::unknown));
  };
  for (const std::string& word : words_of(*patterns)) check_whole(word);
  for (std::uint64_t seed = 0; seed < 200; ++seed) check_whole(patterns->text(patterns->drawn(seed)));
}

TEST_CASE("a model without patterns.json has no patterns") {
  CHECK_FALSE(SentencePatterns::in_folder("builtin:copycat"));
  CHECK_FALSE(has_sentence_patterns("builtin:copycat"));
  CHECK(has_sentence_patterns("builtin:sentences"));
  const TemporaryFolder folder;
  const std::string model = folder.with_file("model.safetensors", "x");
  CHECK_FALSE(has_sentence_patterns(model));
  const std::string path = folder.with_file("patterns.json", small_json);
  CHECK(has_sentence_patterns(model));
  CHECK(SentencePatterns::in_folder(path.substr(0, path.rfind('/')))->patterns().size() == 2);
}

TEST_CASE("the welcome sentence is one of the patterns, whatever its capitals, spaces and full stop") {
  const auto patterns = SentencePatterns::in_folder("builtin:sentences");
  REQUIRE(patterns);
  const std::string welcome = "the animal did not cross the street because it was too tired .";
  const auto sentence = patterns->recognised(welcome);
  REQUIRE(sentence);
  CHECK(sentence->at(SentencePlace::subject) == "animal");
  CHECK(sentence->at(SentencePlace::adjective) == "tired");
  CHECK(patterns->text(*sentence) == welcome);
  CHECK(patterns->recognised(" The animal did not  cross the street\nbecause it was too tired.") == sentence);
  CHECK_FALSE(patterns->recognised("the animal did not cross the street because it was too purple ."));
  CHECK_FALSE(patterns->recognised(welcome + " it slept ."));
  CHECK_FALSE(patterns->recognised(""));
}

TEST_CASE("every sentence drawn is recognised as itself, and its nouns differ") {
  const auto patterns = SentencePatterns::in_folder("builtin:sentences");
  REQUIRE(patterns);
  std::set<std::size_t> drawn;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const PatternSentence sentence = patterns->drawn(seed);
    drawn.insert(sentence.pattern);
    CHECK(sentence.at(SentencePlace::subject) != sentence.at(SentencePlace::object));
    const auto found = patterns->recognised(patterns->text(sentence));
    REQUIRE(found);
    // Two patterns may have a sentence in common.
    CHECK(patterns->text(*found) == patterns->text(sentence));
  }
  CHECK(drawn.size() == patterns->patterns().size());
  CHECK(patterns->drawn(7) == patterns->drawn(7));
}

TEST_CASE("the pronoun is that of the noun that the adjective speaks of") {
  const SentencePatterns patterns = small();
  PatternSentence sentence = patterns.first(0);
  CHECK(patterns.text(sentence) == "the queen did not fit in the box because she was too tired .");
  sentence.at(SentencePlace::adjective) = "small";
  CHECK(patterns.text(sentence) == "the queen did not fit in the box because it was too small .");
  CHECK(patterns.recognised("the queen did not fit into the box because she was too small") == std::nullopt);
  const auto into = patterns.recognised("the queen did not fit into the box because it was too small");
  REQUIRE(into);
  CHECK(into->at(SentencePlace::verb) == "fit into");
}

TEST_CASE("the parts of a sentence are its words and what lies between them") {
  const SentencePatterns patterns = small();
  std::string text;
  for (const SentencePart& part : patterns.parts(patterns.first(0)))
    text += part.place ? "[" + part.text + "]" : part.text;
  CHECK(text == "the[queen]did not[fit in]the[box]because she was too[tired].");
}

TEST_CASE("a noun that is taken is not offered for the other place, and adjectives name their noun") {
  const SentencePatterns patterns = small();
  PatternSentence queens = patterns.first(1);
  CHECK(queens.words == std::array<std::string, 4>{"queen", "chase", "cat", "hungry"});
  CHECK(patterns.choices(queens, SentencePlace::object).front().words == std::vector<std::string>{"cat"});
  const auto groups = patterns.choices(patterns.first(0), SentencePlace::adjective);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].of == "queen");
  CHECK(groups[1].of == "box");
  CHECK(groups[1].words == std::vector<std::string>{"small"});  // "tired" stands for the queen already
}

TEST_CASE("in another pattern the words that both have stay") {
  const SentencePatterns patterns = small();
  const PatternSentence queens = patterns.in_pattern(patterns.first(0), 1);
  CHECK(queens.words == std::array<std::string, 4>{"queen", "chase", "cat", "hungry"});
  PatternSentence cat = queens;
  cat.at(SentencePlace::subject) = "cat";
  cat.at(SentencePlace::object) = "queen";
  CHECK(patterns.in_pattern(cat, 0).words == std::array<std::string, 4>{"queen", "fit in", "box", "tired"});
}

TEST_CASE("a damaged patterns.json is refused in one sentence that says what is wrong") {
  CHECK(refusal(small_json).empty());
  CHECK_CONTAINS(refusal("[]"), "expected an object");
  CHECK_CONTAINS(refusal("{\"sentence\": 3}"), "patterns.json: sentence");
  CHECK_CONTAINS(refusal("{"), "patterns.json");
  CHECK_CONTAINS(refusal(with("{verb}", "{word}")), "each place once: got 0 times {verb}");
  CHECK_CONTAINS(refusal(with("the {object}", "the {subject}")), "2 times {subject}");
  CHECK_CONTAINS(refusal(with("\"queen\", \"man\"", "\"queen\"")),
                 "patterns[0].subjects: there are too few words");
  CHECK_CONTAINS(refusal(with("\"queen\", \"man\"", "\"queen\", \"queen\"")), "listed twice");
  CHECK_CONTAINS(refusal(with("[\"chase\"]", "\"chase\"")), "patterns[1].verbs: wrong type");
  CHECK_CONTAINS(refusal(with("[\"chase\"]", "[\" chase\"]")), "not a word");
  CHECK_CONTAINS(refusal(with("\"share\": 3", "\"share\": 0")), "above 0");
  CHECK_CONTAINS(refusal(with("\"share\": 3, ", "")), "\"share\"");
  CHECK_CONTAINS(refusal(with("\"queens\"", "\"person and box\"")), "same name");
  CHECK_CONTAINS(refusal(with("[\"hungry\"]", "[]")), "no adjectives");
  for (const std::string& json :
       {with("\"pronouns\"", "\"nouns\""), with("\"she\": [", "\"she\": 3, \"he\": [")})
    CHECK(refusal(json).find('\n') == std::string::npos);
}
