// Which words a model hardly knows, and which words it completes.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/model/tokenizer/word_knowledge.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/model/tokenizer/tokenizer_texts.h"

using namespace headwise;

namespace {

using Words = std::vector<std::string>;

// A WordPiece list with a few whole words and pieces.
Tokenizer small_pieces() {
  const TemporaryFolder folder;
  return load_tokenizer(
      folder.with_file("vocab.txt",
                       "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]"
                       "\nthe\nthen\nthey\ntherefore\nanimal\nann\nanna\ngr\n##yph\n##on\n##s\n.\n'\nt\n"));
}

// The words themselves.
Words marked(const Tokenizer& tokenizer, const std::string& text) {
  Words words;
  for (const HardlyKnownWord& word : hardly_known_words(tokenizer, text))
    words.push_back(text.substr(word.begin, word.end - word.begin));
  return words;
}

}  // namespace

TEST_CASE("a word of several pieces is split, one without pieces is unknown, and a whole word is neither") {
  const Tokenizer tokenizer = small_pieces();
  const std::string text = "The Gryphon. Animals then zzz they' [MASK]";
  const auto words = hardly_known_words(tokenizer, text);
  REQUIRE(words.size() == 3);
  CHECK(marked(tokenizer, text) == Words{"Gryphon", "Animals", "zzz"});
  CHECK(words[0].knowledge == WordKnowledge::split);
  CHECK(words[0].pieces == Words{"gr", "##yph", "##on"});
  CHECK(words[1].pieces == Words{"animal", "##s"});
  CHECK(words[2].knowledge == WordKnowledge::unknown);
  CHECK(words[2].pieces == Words{"[UNK]"});
  CHECK(knowledge_sentence(words[0], text) ==
        "“Gryphon” is split into 3 pieces, gr ##yph ##on: the model knows it only by these.");
  CHECK(knowledge_sentence(words[2], text) == "“zzz” is not in the model's vocabulary: it is read as [UNK].");
  CHECK(hardly_known_words(tokenizer, "").empty());
}

TEST_CASE("two split words side by side are two words, and a known word between them is none") {
  const Tokenizer tokenizer = small_pieces();
  CHECK(marked(tokenizer, "gryphon gryphons") == Words{"gryphon", "gryphons"});
  CHECK(marked(tokenizer, "gryphon.the gryphon") == Words{"gryphon", "gryphon"});
}

TEST_CASE("words with accents are marked by their own bytes") {
  const Tokenizer tokenizer = small_pieces();
  CHECK(marked(tokenizer, "the Gr\u00fdphon is") == Words{"Gr\u00fdphon", "is"});
  // A combining mark belongs to the letter before it.
  const Words words = marked(tokenizer, "Gry\u0301phon");
  REQUIRE(words.size() == 1);
  CHECK(words.front().starts_with("Gry"));
  CHECK(words.front().ends_with("phon"));
}

TEST_CASE("in a word list every other word is unknown") {
  const Tokenizer tokenizer = load_tokenizer("builtin:copycat");
  CHECK(tokenizer.kind() == "word list");
  CHECK(marked(tokenizer, "garden river gryphon river") == Words{"gryphon"});
}

TEST_CASE("byte pairs split most words, so that none is marked") {
  for (const char* name : {"gpt2_merges", "roberta_json", "llama2_json", "qwen2_json"}) {
    CAPTURE(name);
    const Tokenizer tokenizer = load_tokenizer(golden_tokenizer_path(name));
    CHECK_FALSE(tokenizer.has_whole_words());
    CHECK(tokenizer.encode("incomprehensibilities", SpecialTokens::leave_out).size() > 1);
    CHECK(marked(tokenizer, "incomprehensibilities of a gryphon").empty());
    CHECK(completions(tokenizer, "th", 6).empty());
  }
}

TEST_CASE("a word is completed by longer whole words, the shortest first") {
  const Tokenizer tokenizer = small_pieces();
  CHECK(completions(tokenizer, "the", 6) == Words{"then", "they", "therefore"});
  CHECK(completions(tokenizer, "the", 2) == Words{"then", "they"});
  CHECK(completions(tokenizer, "The", 1) == Words{"Then"});
  CHECK(completions(tokenizer, "an", 6) == Words{"ann", "anna", "animal"});
  CHECK(completions(tokenizer, "yp", 6).empty());  // a piece that continues a word
  CHECK(completions(tokenizer, "[M", 6).empty());
  CHECK(completions(tokenizer, "zz", 6).empty());
  CHECK(completions(tokenizer, "", 6).empty());
}

TEST_CASE("what a built-in model offers is a whole word of it that begins as typed") {
  for (const char* path : {"builtin:sentences", "builtin:copycat"}) {
    const Tokenizer tokenizer = load_tokenizer(path);
    const Words words = completions(tokenizer, "ga", 6);
    CHECK_FALSE(words.empty());
    CHECK(words.size() <= 6);
    for (const std::string& word : words) {
      CHECK(word.starts_with("ga"));
      CHECK(tokenizer.encode(word, SpecialTokens::leave_out).size() == 1);
      CHECK(marked(tokenizer, word).empty());
    }
    CHECK(std::ranges::is_sorted(words, {}, &std::string::size));
  }
}

TEST_CASE("a word is being typed where the cursor stands behind two letters and no letter follows") {
  CHECK(typed_word_begin("the an", 6) == 4);
  CHECK(typed_word_begin("the an.", 6) == 4);
  CHECK(typed_word_begin("an", 2) == 0);
  CHECK_FALSE(typed_word_begin("the a", 5));
  CHECK_FALSE(typed_word_begin("the ani", 6));
  CHECK_FALSE(typed_word_begin("the ", 4));
  CHECK_FALSE(typed_word_begin("", 0));
  CHECK_FALSE(typed_word_begin("a1b2", 4));
  CHECK(typed_word_begin("na\u00ef", 4) == 0);
}
