#include "core/model/heads/head_survey.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/files/input_file.h"
#include "core/model/transformer/predictions.h"
#include "core/tensor/progress.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// The largest weight of each block × block cells of a map (L,L); NaN if a cell is.
void write_picture(const float* map, Index length, Index block, float* picture) {
  const Index side = (length + block - 1) / block;
  for (Index row = 0; row < side; ++row) {
    for (Index col = 0; col < side; ++col) {
      const Index rows_end = std::min(length, (row + 1) * block),
                  cols_end = std::min(length, (col + 1) * block);
      float largest = map[row * block * length + col * block];
      for (Index i = row * block; i < rows_end; ++i) {
        for (Index j = col * block; j < cols_end && !std::isnan(largest); ++j) {
          const float weight = map[i * length + j];
          if (!(weight <= largest)) largest = weight;
        }
      }
      picture[row * side + col] = largest;
    }
  }
}

// Numbers of a block of predictions: 8 MiB, or one row.
constexpr Index most_at_once = 2 << 20;
// The original prediction is kept if it has no more numbers than this, 128 MiB;
// otherwise it is recomputed for each head.
constexpr Index most_kept = 32 << 20;
// Two exponentials and the surrounding work, in multiply-adds.
constexpr double work_per_word = 40.0;

struct Prediction : WordDistribution {
  TokenId top = 0;  // the most probable token
  explicit Prediction(std::span<const float> row)
      : WordDistribution(row), top(static_cast<TokenId>(std::ranges::max_element(row) - row.begin())) {}
};

struct Change {
  bool counts = false;
  double bits = 0.0;
  TokenId before = 0, after = 0;
  double before_probability = 0.0, after_probability = 0.0;
};

Change change_of(const Prediction& before, const Prediction& after) {
  const double bits = divergence_bits(before, after);
  if (!std::isfinite(bits)) return {};
  return {.counts = true,
          .bits = bits,
          .before = before.top,
          .after = after.top,
          .before_probability = std::exp(before.log_probability(before.top)),
          .after_probability = std::exp(after.log_probability(after.top))};
}

// The predictions of the unmodified model, some rows at a time.
class Untouched {
 public:
  Untouched(const Transformer& transformer, TensorPtr last_hidden)
      : transformer_(transformer), last_hidden_(std::move(last_hidden)), length_(last_hidden_->shape().size(1)) {
    const Index words = transformer.config().vocabulary;
    rows_ = std::clamp<Index>(most_at_once / std::max<Index>(words, 1), 1, std::max<Index>(length_, 1));
    keeps_ = length_ <= most_kept / std::max<Index>(words, 1);
  }
  Index length() const { return length_; }
  Index rows_at_once() const { return rows_; }
  TensorPtr logits(Index first, Index rows) {
    if (!keeps_) return transformer_.logits(*last_hidden_, first, rows);
    if (first == static_cast<Index>(kept_.size()) * rows_)
      kept_.push_back(transformer_.logits(*last_hidden_, first, rows));
    return kept_[static_cast<std::size_t>(first / rows_)];
  }

 private:
  const Transformer& transformer_;
  TensorPtr last_hidden_;
  Index length_, rows_ = 1;
  bool keeps_ = false;
  std::vector<TensorPtr> kept_;  // blocks starting at row 0
};

void take(MutedHead& head, Index position, const Change& change) {
  if (!change.counts) return;
  ++head.positions;
  head.bits += change.bits;
  if (change.before != change.after) ++head.words_changed;
  if (head.position >= 0 && change.bits <= head.largest_bits) return;
  head.position = position;
  head.largest_bits = change.bits;
  head.before = change.before;
  head.after = change.after;
  head.before_probability = change.before_probability;
  head.after_probability = change.after_probability;
}

void compare(const Transformer& transformer, Untouched& untouched, const Tensor& last_hidden,
             const std::vector<char>& position_counts, MutedHead& head) {
  for (Index first = 0; first < untouched.length(); first += untouched.rows_at_once()) {
    const Index rows = std::min(untouched.rows_at_once(), untouched.length() - first);
    const TensorPtr before = untouched.logits(first, rows),
                    after = transformer.logits(last_hidden, first, rows);
    std::vector<Change> changes(static_cast<std::size_t>(rows));
    for_ranges(rows, work_per_word * static_cast<double>(before->shape().size(1)), [&](Index from, Index to) {
      for (Index row = from; row < to; ++row) {
        if (!position_counts[static_cast<std::size_t>(first + row)]) continue;
        changes[static_cast<std::size_t>(row)] =
            change_of(Prediction(logits_of(*before, row)), Prediction(logits_of(*after, row)));
      }
    });
    for (Index row = 0; row < rows; ++row) take(head, first + row, changes[static_cast<std::size_t>(row)]);
  }
  if (head.positions > 0) head.bits /= static_cast<double>(head.positions);
}

// The position of the largest weight of a row; a NaN is never the largest.
Index strongest_key(std::span<const float> row) {
  Index strongest = 0;
  for (std::size_t j = 1; j < row.size(); ++j)
    if (row[j] > row[static_cast<std::size_t>(strongest)]) strongest = static_cast<Index>(j);
  return strongest;
}

}  // namespace

const MeasuredScore* measured_score(const HeadSurvey& survey, HeadScore score) {
  for (const SurveyedHead& head : survey.heads)
    if (head.scores[score].value) return &head.scores[score];
  return nullptr;
}

HeadSurvey survey_heads(const Transformer& transformer, std::span<const ScoredToken> tokens) {
  const TransformerConfig& config = transformer.config();
  HeadSurvey survey;
  survey.num_layers = config.num_layers;
  survey.first_layer = transformer.first_layer();
  survey.num_heads = config.num_heads;
  survey.length = static_cast<Index>(tokens.size());
  const Index length = survey.length, heads = config.num_heads;
  survey.block = std::max<Index>(1, (length + most_picture_side - 1) / most_picture_side);
  const Index side = (length + survey.block - 1) / survey.block;
  survey.heads.resize(static_cast<std::size_t>(config.num_layers * heads));

  std::vector<TokenId> ids;
  for (const ScoredToken& token : tokens) ids.push_back(token.id);
  std::optional<ProgressPart> part(std::in_place, 0.0, 0.5, "the text through the model");
  const Transformer::Pass pass = transformer.run(ids);
  part.emplace(0.5, 1.0, "the scores of the heads");
  for (Index layer = 0; layer < config.num_layers; ++layer) {
    const ProgressPart slice = slice_of_work(layer, config.num_layers);
    const TensorPtr weights =
        transformer.attn_weights(layer, *pass.layer_inputs[static_cast<std::size_t>(layer)]);
    Tensor pictures = Tensor::unwritten(Shape{{"H", heads}, {"L", side}, {"S", side}}, DType::f32);
    const float* const maps = weights->values<float>().data();
    float* const drawn = pictures.values<float>().data();
    const TransformerHeads& seen_in = config.attention[static_cast<std::size_t>(layer)];
    const SeenKeys seen{seen_in.is_causal, seen_in.sliding_window};
    run_tasks(heads, available_threads(), [&](Index head, int) {
      const auto number = static_cast<std::size_t>(layer * heads + head);
      survey.heads[number] = {survey.first_layer + layer, head, head_scores(*weights, 0, head, tokens, seen)};
      write_picture(maps + head * length * length, length, survey.block, drawn + head * side * side);
    });
    survey.pictures.push_back(std::make_shared<const Tensor>(std::move(pictures)));
  }
  return survey;
}

HeadMuting mute_each_head(const Transformer& transformer, std::span<const ScoredToken> tokens) {
  const TransformerConfig& config = transformer.config();
  if (!transformer.no_words().empty())
    refuse_input("muting a head changes no prediction, because this model predicts no words",
                 transformer.no_words(), "", "", "use a model with a word prediction head");
  std::vector<TokenId> ids;
  std::vector<char> position_counts;
  for (const ScoredToken& token : tokens) {
    ids.push_back(token.id);
    position_counts.push_back(config.is_causal || token.of_text ? 1 : 0);
  }
  const Index steps = config.num_layers * config.num_heads + 1;
  std::optional<ProgressPart> part(std::in_place, 0.0, 1.0 / static_cast<double>(steps), "heads");
  const Transformer::Pass pass = transformer.run(ids);
  Untouched untouched(transformer, pass.last_hidden);
  HeadMuting muting;
  for (Index layer = 0; layer < config.num_layers; ++layer) {
    const Tensor& input = *pass.layer_inputs[static_cast<std::size_t>(layer)];
    for (Index head = 0; head < config.num_heads; ++head) {
      const auto done = static_cast<double>(muting.heads.size() + 1);
      part.emplace(done / static_cast<double>(steps), (done + 1.0) / static_cast<double>(steps), "heads");
      std::vector<double> gains(static_cast<std::size_t>(config.num_heads), 1.0);
      gains[static_cast<std::size_t>(head)] = 0.0;
      const TensorPtr output = transformer.attention_output(layer, input, gains);
      const TensorPtr last_hidden = transformer.continue_from(pass, layer, *output);
      MutedHead muted;
      muted.layer = layer;
      muted.head = head;
      compare(transformer, untouched, *last_hidden, position_counts, muted);
      muting.heads.push_back(muted);
    }
  }
  return muting;
}

std::optional<SwitchingHead> find_switching_head(const Transformer& transformer, std::span<const TokenId> first,
                                                 std::span<const TokenId> second) {
  if (first.size() != second.size()) return std::nullopt;
  const Transformer::RunOptions with_weights{.keep_weights = true};
  const std::array passes{transformer.run(first, with_weights), transformer.run(second, with_weights)};
  const auto same = [&](Index position) {
    return first[static_cast<std::size_t>(position)] == second[static_cast<std::size_t>(position)];
  };
  const auto length = static_cast<Index>(first.size());
  std::optional<SwitchingHead> best;
  for (Index layer = 0; layer < transformer.config().num_layers; ++layer) {
    for (Index head = 0; head < transformer.config().num_heads; ++head) {
      for (Index query = 0; query < length; ++query) {
        if (!same(query)) continue;
        SwitchingHead found{layer, head, query};
        for (std::size_t version = 0; version < 2; ++version) {
          const Tensor& weights = *passes[version].attn_weights[static_cast<std::size_t>(layer)];
          const auto row = weights.values<float>().subspan(
              static_cast<std::size_t>((head * length + query) * length), first.size());
          found.keys[version] = strongest_key(row);
          found.weights[version] = static_cast<double>(row[static_cast<std::size_t>(found.keys[version])]);
        }
        const auto clearness = [](const SwitchingHead& of) { return std::min(of.weights[0], of.weights[1]); };
        const bool switches = found.keys[0] != found.keys[1] && same(found.keys[0]) && same(found.keys[1]);
        if (switches && (!best || clearness(found) > clearness(*best))) best = found;
      }
    }
  }
  return best;
}

}  // namespace headwise
