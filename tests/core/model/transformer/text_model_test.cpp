#include "core/model/transformer/text_model.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "core/model/tokenizer/tokenizer.h"
#include "core/model/transformer/predictions.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/model/transformer/transformer_golden.h"
#include "tests/core/model/written_model.h"

using namespace headwise;
using namespace headwise::test;

namespace {

const std::string golden_folder = HEADWISE_SOURCE_DIR "/tests/golden/models/";
const std::string own_models = HEADWISE_SOURCE_DIR "/assets/models/";

std::string golden_text(const Golden& golden, const std::string& name) {
  const TensorPtr bytes = golden.at(name);
  std::string text;
  for (Index i = 0; i < bytes->size(); ++i) text += static_cast<char>(bytes->flat(i));
  return text;
}

}  // namespace

TEST_CASE("the own models read a text as the tokens that they were trained on") {
  for (const char* name : {"sentences", "copycat"}) {
    CAPTURE(name);
    const auto model = TextModel::open(own_models + name);
    REQUIRE(model->no_text().empty());
    const Golden golden = golden_arrays(golden_folder + name + ".npz");
    for (int text = 0; golden.contains(std::to_string(text) + ".ids"); ++text) {
      const std::string written = golden_text(golden, std::to_string(text) + ".text");
      CAPTURE(written);
      CHECK(model->read(written).ids == golden_ids(golden, std::to_string(text) + ".ids"));
    }
  }
}

TEST_CASE("the labels of a text are its words, and what was put around it is marked as special") {
  const ModelText text = TextModel::open(own_models + "copycat")->read("stone owl  stone\n");
  CHECK(text.labels == std::vector<std::string>{"<|endoftext|>", "stone", "owl", "stone"});
  CHECK(text.special == std::vector<bool>{true, false, false, false});
  CHECK(text.notices.empty());
}

TEST_CASE("sentences reads every word of everyday English, in pieces if it is not whole") {
  const auto model = TextModel::open(own_models + "sentences");
  std::istringstream lines(content_of(own_models + "everyday_sentences.txt"));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    CAPTURE(line);
    const ModelText text = model->read(line);
    CHECK(text.notices.empty());
    CHECK(std::ranges::find(text.labels, "[UNK]") == text.labels.end());
  }
  CHECK(count == 100);
  const ModelText split = model->read("The giraffe slept.");
  CHECK(split.labels ==
        std::vector<std::string>{"[CLS]", "the", "gi", "##ra", "##ff", "##e", "slept", ".", "[SEP]"});
}

TEST_CASE("sentences says what a pronoun stands for in sentences that it was not trained on") {
  const auto model = TextModel::open(own_models + "sentences");
  struct Case {
    const char *text, *pronoun, *means;
  };
  for (const auto& [text, pronoun, means] :
       {Case{"My brother lost his keys yesterday because he was late.", "he", "brother"},
        Case{"I love pizza but my sister hates it.", "it", "pizza"},
        Case{"The trophy didn't fit in the suitcase because it was too big.", "it", "trophy"},
        Case{"The trophy didn't fit in the suitcase because it was too small.", "it", "suitcase"},
        Case{"When the bus arrived, it was full.", "it", "bus"},
        Case{"The giraffe did not eat the pizza because it was too sleepy.", "it", "gi"}}) {
    CAPTURE(text);
    const ModelText read = model->read(text);
    const auto place = std::ranges::find(read.labels, pronoun) - read.labels.begin();
    const Transformer::Pass pass = model->transformer()->run(read.ids);
    const TensorPtr logits = model->transformer()->logits(*pass.last_hidden, place, 1);
    const PredictedWord first = top_tokens(logits->values<float>(), 1).front();
    CHECK(model->label(first.id) == means);
    CHECK(first.probability > 0.8);
  }
}

TEST_CASE("words outside the vocabulary are told, each once") {
  const ModelText text = TextModel::open(own_models + "copycat")->read("stone zeppelin Owl zeppelin");
  CHECK(text.labels[2] == "[UNK]");
  CHECK(text.notices ==
        std::vector<std::string>{"not in the model's vocabulary, so read as [UNK]: \"zeppelin\", \"Owl\""});
}

TEST_CASE("a text that is longer than the model's positions is cut, and keeps its end mark") {
  std::string text;
  for (int i = 0; i < 76; ++i) text += "the ";
  const auto model = TextModel::open(own_models + "sentences");
  const ModelText read = model->read(text);
  CHECK(read.ids.size() == 64);
  CHECK(read.labels.front() == "[CLS]");
  CHECK(read.labels[62] == "the");
  CHECK(read.labels.back() == "[SEP]");
  REQUIRE(read.notices.size() == 1);
  CHECK(
      read.notices[0] ==
      "the text has 78 tokens, but the model has positions for only 64: the last 14 are left out at its end");
  CHECK(model->transformer()->run(read.ids).last_hidden->shape().size(1) == 64);
}

TEST_CASE(
    "byte-level pieces are shown as text with its spaces marked, bytes that are no character as numbers") {
  const TemporaryFolder folder;
  for (const char* file : {"vocab.json", "merges.txt"})
    std::filesystem::copy_file(
        std::string(HEADWISE_SOURCE_DIR "/tests/golden/tokenizers/gpt2_merges/") + file, folder.file(file));
  write_model(folder, {{"attn.c_attn.weight", {4, 12}}, {"attn.c_proj.weight", {4, 4}}}, "");
  const auto model = TextModel::open(folder.file("model.safetensors"));
  REQUIRE(model->tokenizer());
  std::string all, decoded;
  for (const EncodedToken& token : model->tokenizer()->encode("a cat  sat\n")) {
    all += model->label(token.id) + "|";
    decoded += token.piece;
  }
  CHECK_CONTAINS(all, "·");
  CHECK_CONTAINS(all, "\\n");
  CHECK_LACKS(all, "Ġ");
  CHECK_CONTAINS(decoded, "Ġ");
  const TokenId byte = *model->tokenizer()->vocabulary().find("Ã");  // the first byte of é
  CHECK(model->label(byte) == "\\xc3");
  CHECK(model->label(1'000'000) == "#1000000");
}

TEST_CASE("a model is opened once while its files stay the same") {
  const TemporaryFolder folder;
  for (const char* file : {"config.json", "model.safetensors", "vocab.txt"})
    std::filesystem::copy_file(own_models + "copycat/" + file, folder.file(file));
  const std::string path = std::filesystem::path(folder.file("config.json")).parent_path().string();
  const auto first = TextModel::open(path);
  CHECK(TextModel::open(path) == first);
  CHECK(TextModel::open(path + "/") == first);
  folder.with_file("vocab.txt", "<|endoftext|>\n[UNK]\nstone\n");
  const auto second = TextModel::open(path);
  CHECK(second != first);
  CHECK(second->read("stone").ids == std::vector<TokenId>{0, 2});
}

TEST_CASE("a model without blocks that are known opens and says why text cannot go in") {
  const TemporaryFolder folder;
  write_model(folder, {{"blocks.0.attn.qkv.weight", {12, 4}}, {"blocks.0.attn.proj.weight", {4, 4}}},
              R"({"num_heads": 2})");
  const auto model = TextModel::open(folder.file("model.safetensors"));
  CHECK(model->layers().layers.size() == 1);
  CHECK(!model->transformer());
  CHECK_CONTAINS(model->no_text(), "timm ViT");
  CHECK(!model->no_tokenizer().empty());
  CHECK_THROWS_WITH_AS(model->read("a"), doctest::Contains("this model cannot read text"), Error);
}

TEST_CASE("the most probable words are those of the largest logits, and probabilities are a softmax") {
  const std::vector<float> logits{0.0F, 2.0F, 1.0F, 2.0F};
  const std::vector<PredictedWord> words = top_tokens(logits, 3);
  REQUIRE(words.size() == 3);
  CHECK(words[0].id == 1);
  CHECK(words[1].id == 3);
  CHECK(words[2].id == 2);
  const double sum = 1.0 + std::exp(1.0) + 2.0 * std::exp(2.0);
  CHECK(words[0].probability == doctest::Approx(std::exp(2.0) / sum));
  CHECK(words[2].probability == doctest::Approx(std::exp(1.0) / sum));
  CHECK(top_tokens(logits, 9).size() == 4);
}

TEST_CASE("copycat goes on with the word that followed before") {
  const auto model = TextModel::open(own_models + "copycat");
  const ModelText text = model->read("garden river lamp apple violin garden river");
  const Transformer::Pass pass = model->transformer()->run(text.ids);
  const auto words = top_tokens(*model->transformer(), *pass.last_hidden, 3);
  REQUIRE(words.size() == text.ids.size());
  CHECK(model->label(words.back()[0].id) == "lamp");
  CHECK(words.back()[0].probability > 0.5);
}

TEST_CASE(
    "the divergence of two predictions is Σ p log2(p/q) of their softmax, and NaN where one is no number") {
  const std::vector<float> even{0.0f, 0.0f}, three_to_one{std::log(3.0f), 0.0f};
  const WordDistribution p(even), q(three_to_one);
  CHECK(divergence_bits(p, p) == 0.0);
  CHECK(divergence_bits(p, q) == doctest::Approx(0.5 * std::log2(0.5 / 0.75) + 0.5 * std::log2(0.5 / 0.25)));
  CHECK(divergence_bits(q, p) == doctest::Approx(0.75 * std::log2(0.75 / 0.5) + 0.25 * std::log2(0.25 / 0.5)));
  const std::vector<float> broken{NAN, 0.0f};
  CHECK(std::isnan(divergence_bits(p, WordDistribution(broken))));
  CHECK(std::isnan(divergence_bits(WordDistribution(broken), p)));
}

TEST_CASE("words that the tokenizer has no text for belong to the model, not to what each text is told") {
  const TemporaryFolder folder;
  for (const char* file : {"config.json", "model.safetensors", "vocab.txt"})
    std::filesystem::copy_file(own_models + "copycat/" + file, folder.file(file));
  const std::string path = std::filesystem::path(folder.file("config.json")).parent_path().string();
  CHECK(TextModel::open(path)->nameless_words().empty());
  folder.with_file("vocab.txt", "<|endoftext|>\n[UNK]\nstone\nowl\n");
  const std::shared_ptr<const TextModel> model = TextModel::open(path);
  CHECK(model->read("stone owl").notices.empty());
  CHECK(
      model->nameless_words() ==
      "the tokenizer has no text for 323 of the model's 327 words: they are shown by number, for example #4");
}
