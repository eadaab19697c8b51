// The heads of the program's own models, whose cards say what they do (measured by their scripts,
// in PyTorch).
#include "core/model/heads/head_survey.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/model/transformer/text_model.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/progress.h"
#include "core/tensor/random.h"

using namespace headwise;

namespace {

const std::string copycat = HEADWISE_SOURCE_DIR "/assets/models/copycat";
const std::string sentences = HEADWISE_SOURCE_DIR "/assets/models/sentences";
constexpr const char* tired = "The animal didn't cross the street because it was too tired.";

// So many different words, and all once more: what copycat's card measures its heads on.
std::vector<ScoredToken> twice_told(const TextModel& model, std::size_t stretch, std::uint64_t seed) {
  const CounterRandom random(seed, "twice told");
  const TokenizerVocabulary& vocabulary = model.tokenizer()->vocabulary();
  std::vector<std::string> words;
  for (TokenId id = 0; id < vocabulary.end(); ++id)
    if (std::isalpha(vocabulary.piece(id).front())) words.push_back(vocabulary.piece(id));
  for (std::size_t i = 0; i < stretch; ++i) {
    const auto left = static_cast<double>(words.size() - i);
    std::swap(words[i], words[i + static_cast<std::size_t>(random.uniform(i) * left)]);
  }
  std::string text;
  for (std::size_t i = 0; i < 2 * stretch; ++i) text += words[i % stretch] + " ";
  return scored_tokens(model.read(text).tokens);
}

std::size_t largest(const std::vector<double>& numbers, std::size_t first, std::size_t last) {
  const auto begin = numbers.begin();
  return static_cast<std::size_t>(std::max_element(begin + static_cast<std::ptrdiff_t>(first),
                                                   begin + static_cast<std::ptrdiff_t>(last)) -
                                  begin);
}

std::vector<TokenId> ids_of(const std::vector<ScoredToken>& tokens) {
  std::vector<TokenId> ids;
  for (const ScoredToken& token : tokens) ids.push_back(token.id);
  return ids;
}

std::vector<double> softmax_of(const Tensor& logits, Index row) {
  const Index words = logits.shape().size(1);
  std::vector<double> p(static_cast<std::size_t>(words));
  double most = -INFINITY, sum = 0.0;
  for (Index w = 0; w < words; ++w) most = std::max(most, logits.flat(row * words + w));
  for (Index w = 0; w < words; ++w)
    sum += p[static_cast<std::size_t>(w)] = std::exp(logits.flat(row * words + w) - most);
  for (double& one : p) one /= sum;
  return p;
}

const std::string sentences_folder = HEADWISE_SOURCE_DIR "/assets/models/sentences";
const std::string copycat_folder = HEADWISE_SOURCE_DIR "/assets/models/copycat";

std::optional<SwitchingHead> switching_head(const TextModel& model, const std::string& first,
                                            const std::string& second) {
  return find_switching_head(*model.transformer(), model.read(first).ids, model.read(second).ids);
}

}  // namespace

TEST_CASE("the survey finds copycat's previous-token and induction heads with the scores of its card") {
  const auto model = TextModel::open(copycat);
  std::vector<double> previous(8), induction(8);
  constexpr std::size_t stretches[] = {6, 12, 20, 30}, texts = 6;
  for (const std::size_t stretch : stretches) {
    for (std::uint64_t seed = 0; seed < texts; ++seed) {
      const HeadSurvey survey =
          survey_heads(*model->transformer(), twice_told(*model, stretch, seed + 100 * stretch));
      REQUIRE(survey.heads.size() == 8);
      CHECK(survey.num_layers == 2);
      CHECK(survey.num_heads == 4);
      for (std::size_t i = 0; i < 8; ++i) {
        const HeadScores& scores = survey.heads[i].scores;
        REQUIRE(scores[HeadScore::induction].value.has_value());
        // A word of the second telling, of which each stood once before.
        CHECK(scores[HeadScore::induction].queries == static_cast<Index>(stretch));
        CHECK(scores.left_out == 0);
        previous[i] += *scores[HeadScore::previous_token].value / (4.0 * texts);
        induction[i] += *scores[HeadScore::induction].value / (4.0 * texts);
        CHECK_FALSE(scores[HeadScore::next_token].value.has_value());
      }
    }
  }
  CHECK(largest(previous, 0, 4) == 1);   // 0.1
  CHECK(largest(induction, 4, 8) == 4);  // 1.0
  // The card's texts are others.
  CHECK(previous[1] == doctest::Approx(0.898).epsilon(0.04));
  CHECK(previous[3] == doctest::Approx(0.490).epsilon(0.1));
  CHECK(induction[4] == doctest::Approx(0.926).epsilon(0.04));
  CHECK(induction[6] == doctest::Approx(0.865).epsilon(0.06));
  CHECK(induction[1] < 0.02);
}

TEST_CASE("the scores of the survey are those of the maps that the model computes, and so are its pictures") {
  const auto model = TextModel::open(sentences);
  const std::vector<ScoredToken> tokens = scored_tokens(model->read(tired).tokens);
  const HeadSurvey survey = survey_heads(*model->transformer(), tokens);
  REQUIRE(survey.heads.size() == 16);
  CHECK(survey.length == static_cast<Index>(tokens.size()));
  const Transformer::Pass pass = model->transformer()->run(ids_of(tokens), {.keep_weights = true});
  for (std::size_t i = 0; i < survey.heads.size(); ++i) {
    const SurveyedHead& head = survey.heads[i];
    CHECK(head.layer == static_cast<Index>(i / 8));
    CHECK(head.head == static_cast<Index>(i % 8));
    const Tensor& weights = *pass.attn_weights[i / 8];
    const HeadScores scores = head_scores(weights, 0, head.head, tokens, {});
    for (std::size_t s = 0; s < head_score_count; ++s)
      CHECK(head.scores.scores[s].value == scores.scores[s].value);
    const Tensor& picture = *survey.pictures[i / 8];
    CHECK(picture.shape().sizes() == std::vector<Index>{8, survey.length, survey.length});
    CHECK(picture.at({head.head, 3, 5}) == weights.at({0, head.head, 3, 5}));
  }
  // What the card calls the heads of the word before and the word after.
  const auto score = [&](std::size_t i, HeadScore which) { return *survey.heads[i].scores[which].value; };
  for (std::size_t i = 0; i < 16; ++i) {
    CHECK(score(7, HeadScore::previous_token) >= score(i, HeadScore::previous_token));
    CHECK(score(4, HeadScore::next_token) >= score(i, HeadScore::next_token));
  }
}

TEST_CASE("muting a head is a run of the whole model with its gain at 0") {
  for (const std::string& folder : {copycat, sentences}) {
    CAPTURE(folder);
    const auto model = TextModel::open(folder);
    const bool is_causal = folder == copycat;
    const std::vector<ScoredToken> tokens =
        is_causal ? twice_told(*model, 8, 3) : scored_tokens(model->read(tired).tokens);
    const HeadMuting muting = mute_each_head(*model->transformer(), tokens);
    const TransformerConfig& config = model->transformer()->config();
    REQUIRE(muting.heads.size() == static_cast<std::size_t>(config.num_layers * config.num_heads));
    const std::vector<TokenId> ids = ids_of(tokens);
    const auto length = static_cast<Index>(ids.size());
    const TensorPtr whole =
        model->transformer()->logits(*model->transformer()->run(ids).last_hidden, 0, length);
    for (const MutedHead& head : muting.heads) {
      CAPTURE(head.layer);
      CAPTURE(head.head);
      Transformer::RunOptions options;
      options.head_gains.assign(static_cast<std::size_t>(config.num_layers),
                                std::vector<double>(static_cast<std::size_t>(config.num_heads), 1.0));
      options.head_gains[static_cast<std::size_t>(head.layer)][static_cast<std::size_t>(head.head)] = 0.0;
      const TensorPtr muted =
          model->transformer()->logits(*model->transformer()->run(ids, options).last_hidden, 0, length);
      double sum = 0.0, most = -1.0;
      Index counted = 0, changed = 0, at = -1;
      for (Index row = 0; row < length; ++row) {
        if (!is_causal && (row == 0 || row == length - 1)) continue;  // [CLS], [SEP]
        const std::vector<double> p = softmax_of(*whole, row), q = softmax_of(*muted, row);
        double bits = 0.0;
        for (std::size_t w = 0; w < p.size(); ++w) bits += p[w] * std::log2(p[w] / q[w]);
        if (std::ranges::max_element(p) - p.begin() != std::ranges::max_element(q) - q.begin()) ++changed;
        sum += bits;
        ++counted;
        if (bits > most) {
          most = bits;
          at = row;
        }
      }
      CHECK(head.positions == counted);
      CHECK(head.bits == doctest::Approx(sum / static_cast<double>(counted)).epsilon(1e-3));
      CHECK(head.words_changed == changed);
      CHECK(head.position == at);
      const std::vector<double> p = softmax_of(*whole, at), q = softmax_of(*muted, at);
      CHECK(p[static_cast<std::size_t>(head.before)] == doctest::Approx(head.before_probability).epsilon(1e-4));
      CHECK(q[static_cast<std::size_t>(head.after)] == doctest::Approx(head.after_probability).epsilon(1e-4));
      CHECK(head.before_probability == doctest::Approx(*std::ranges::max_element(p)).epsilon(1e-4));
    }
  }
}

TEST_CASE("without its previous-token head copycat no longer knows the next word, as its card says") {
  const auto model = TextModel::open(copycat);
  const HeadMuting muting = mute_each_head(*model->transformer(), twice_told(*model, 12, 5));
  for (std::size_t i = 0; i < muting.heads.size(); ++i) CHECK(muting.heads[1].bits >= muting.heads[i].bits);
  // Eleven words of the second telling are known, and nearly none without 0.1;
  // each induction head has three like it.
  CHECK(muting.heads[1].words_changed >= 9);
  CHECK(muting.heads[4].words_changed <= 4 + 12);
  CHECK(muting.heads[4].bits < 0.5 * muting.heads[1].bits);
}

TEST_CASE("a survey and a muting that nobody wants any longer end, and tell how far they are") {
  const auto model = TextModel::open(copycat);
  const std::vector<ScoredToken> tokens = twice_told(*model, 6, 1);
  const std::atomic<bool> cancelled = true;
  {
    const CancelScope scope(cancelled);
    CHECK_THROWS_AS(survey_heads(*model->transformer(), tokens), Error);
    CHECK_THROWS_AS(mute_each_head(*model->transformer(), tokens), Error);
  }
  Progress progress;
  const ProgressScope told(progress);
  mute_each_head(*model->transformer(), tokens);
  CHECK(progress.fraction() == 1.0);
}

TEST_CASE("a text of nothing has heads without scores, and one word does no harm") {
  const auto model = TextModel::open(copycat);
  const std::vector<ScoredToken> one = scored_tokens(model->read("").tokens);
  const HeadSurvey survey = survey_heads(*model->transformer(), one);
  for (const SurveyedHead& head : survey.heads)
    for (const MeasuredScore& score : head.scores.scores) CHECK_FALSE(score.value.has_value());
  CHECK(survey.pictures.front()->shape().sizes() == std::vector<Index>{4, 1, 1});
  const HeadMuting muting = mute_each_head(*model->transformer(), one);
  for (const MutedHead& head : muting.heads) CHECK(head.positions == 1);
}

TEST_CASE("the head that finds what it stands for is found by what it does, whatever the sentence") {
  const auto model = TextModel::open(sentences_folder);
  struct Case {
    const char *first, *second, *first_key, *second_key;
  };
  for (const auto& [first, second, first_key, second_key] :
       {Case{"the animal did not cross the street because it was too tired .",
             "the animal did not cross the street because it was too wide .", "animal", "street"},
        Case{"the horse did not cross the river because it was too hungry .",
             "the horse did not cross the river because it was too icy .", "horse", "river"}}) {
    const auto found = switching_head(*model, first, second);
    REQUIRE(found);
    const ModelText text = model->read(first);
    const auto label = [&](Index position) { return text.labels[static_cast<std::size_t>(position)]; };
    CHECK(found->layer == 1);  // as the model's card measures
    CHECK(found->head == 7);
    CHECK(label(found->query) == "it");
    CHECK(label(found->keys[0]) == first_key);
    CHECK(label(found->keys[1]) == second_key);
    CHECK(found->weights[0] > 0.8);
    CHECK(found->weights[1] > 0.8);
    const auto pass = model->transformer()->run(text.ids, {.keep_weights = true});
    const Tensor& weights = *pass.attn_weights[1];
    CHECK(weights.at({0, found->head, found->query, found->keys[0]}) == found->weights[0]);
  }
}

TEST_CASE("the versions of a sentence may come in either order") {
  const auto model = TextModel::open(sentences_folder);
  const std::string tired = "the animal did not cross the street because it was too tired .",
                    wide = "the animal did not cross the street because it was too wide .";
  const auto there = switching_head(*model, tired, wide), back = switching_head(*model, wide, tired);
  REQUIRE(there);
  REQUIRE(back);
  CHECK(back->head == there->head);
  CHECK(back->keys[0] == there->keys[1]);
  CHECK(back->weights[1] == there->weights[0]);
}

TEST_CASE("no head switches where nothing differs, or the lengths do") {
  const auto model = TextModel::open(sentences_folder);
  const std::string text = "the animal did not cross the street because it was too tired .";
  CHECK_FALSE(switching_head(*model, text, text));
  CHECK_FALSE(switching_head(*model, text, "the animal was tired ."));
}

TEST_CASE("what differs is neither the query nor a key of a switching head") {
  // Each token of copycat's second half attends to what followed the word the first time;
  // one word is exchanged.
  const auto model = TextModel::open(copycat_folder);
  const ModelText first = model->read("garden river lamp apple garden river"),
                  second = model->read("garden river lamp apple garden lamp");
  if (const auto found = find_switching_head(*model->transformer(), first.ids, second.ids)) {
    CHECK(first.ids[static_cast<std::size_t>(found->query)] ==
          second.ids[static_cast<std::size_t>(found->query)]);
    for (const Index key : found->keys)
      CHECK(first.ids[static_cast<std::size_t>(key)] == second.ids[static_cast<std::size_t>(key)]);
  }
}
