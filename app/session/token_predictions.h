// What the model predicts with the layer as the scenario has it, next to its prediction with the untouched
// layer: the trace's output is passed through the rest of the model, so that every edit (a muted head, a
// mask, a scale, a cell) affects its predicted tokens.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/async_query.h"
#include "app/session/computation.h"
#include "core/model/transformer/predictions.h"

namespace headwise {

struct TokenPredictions {
  ComputationPtr of;                        // computed from its model input; kept alive
  std::vector<PredictionChange> positions;  // one per token; empty if `why` says why there are none
  std::string why;                          // a sentence; empty if there are predictions
};
using WordPredictionsPtr = std::shared_ptr<const TokenPredictions>;

// Whether a scenario has a model, without which there are no predictions.
inline bool offers_prediction(const Scenario& scenario) {
  return scenario.parameters.source == ParameterSource::model;
}

// How many of the most probable tokens are kept for each position.
inline constexpr Index predicted_tokens = 8;

// Why a computation has no predictions: no model, no text, no language-model head; a sentence with the
// remedy. Empty if it has.
std::string predictions_refusal(const Computation& computation);

class PredictionRuns {
 public:
  // `wake` as AsyncQuery has it.
  explicit PredictionRuns(std::function<void()> wake = {});

  // For sequence `batch`. Those of a small model are ready at once, others later: null until then;
  // never waits.
  WordPredictionsPtr of(const ComputationPtr& computation, Index batch);
  // None are needed: cancels the work under way.
  void suspend() { work_.suspend(); }
  Waiting waiting() const { return work_.waiting(); }
  // Waits for the work under way (tests, and pictures of the window).
  void finish() { work_.finish(); }

 private:
  // The untouched model's last hidden state, the same for every edit of one text.
  struct Untouched {
    TensorPtr hidden_state, last_hidden;
  };
  struct Question {
    ComputationPtr computation;
    Index batch = 0;
    friend bool operator==(const Question& a, const Question& b) {
      return a.computation->trace == b.computation->trace && a.batch == b.batch;
    }
  };
  struct Answer {
    WordPredictionsPtr predictions;
    Untouched untouched;
  };
  using Work = AsyncQuery<Question, Answer>;
  static Answer predict(const Question& question, const Work::AnswerPtr& before);

  std::optional<Question> known_of_;
  WordPredictionsPtr known_;
  Work work_;
};

}  // namespace headwise
