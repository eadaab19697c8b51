#include "app/session/token_predictions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/files/file_paths.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/text_inputs.h"

namespace headwise {
namespace {

// About 10 ms on one core of 2020.
constexpr double predicted_at_once = 100e6;

// Of two passes through the remaining layers, and the token predictions of both. An MLP has about twice the
// work of attention.
double work_of(const ModelInput& input) {
  const TransformerConfig& config = input.model->transformer()->config();
  const auto length = static_cast<double>(input.text.length()), width = static_cast<double>(config.embed_dim);
  const double block = 12.0 * width * width + 2.0 * width * length;
  const auto predicted = static_cast<double>(input.model->transformer()->logit_rows(input.text.length()));
  return 2.0 * (length * static_cast<double>(config.num_layers - input.layer) * block +
                predicted * width * static_cast<double>(config.vocabulary));
}

// (N,L,E) → (1,L,E) of one sequence.
Tensor sequence(const Tensor& output, Index n) {
  const Index length = output.shape().size(1), width = output.shape().size(2);
  Tensor one(Shape{{"N", 1}, {"L", length}, {"E", width}}, DType::f32);
  for (Index i = 0; i < one.size(); ++i) one.set_flat(i, output.flat(n * one.size() + i));
  return one;
}

}  // namespace

std::string predictions_refusal(const Computation& computation) {
  const Scenario& scenario = computation.scenario;
  const ModelInput* const input = computation.inputs.model_input.get();
  if (!is_of_model(scenario)) {
    return names_a_model(scenario)
               ? "only the trained model predicts words: under PARAMETERS, set heads to model"
               : "only a trained model predicts words: open one (File menu, or drop its folder here)";
  }
  const bool of_pictures = reads_pictures(scenario);
  if (const std::string why = no_text_for_model(scenario); !why.empty() && !of_pictures)
    return "this model cannot read text, so it predicts no words: " + why;
  if (!input && of_pictures)
    return "give the model a picture to name (drop a PNG here, or set inputs.picture)";
  if (!input && scenario.inputs.source != InputSource::text)
    return "give the model a text to predict words (under TEXT, set inputs to text)";
  const std::shared_ptr<const TextModel> model =
      input ? input->model : TextModel::open(path_from(scenario.origin.folder, *scenario.parameters.file));
  const Transformer& transformer = *model->transformer();
  if (const std::string& why = transformer.no_words(); !why.empty())
    return (of_pictures ? "this model predicts no classes: " : "this model predicts no words: ") + why;
  if (!input)
    return fmt::format(
        "the text does not reach this layer, so there are no words to predict: it goes through layers {} to "
        "{}",
        transformer.first_layer(), transformer.first_layer() + transformer.config().num_layers - 1);
  const TensorPtr& output = computation.trace->tensors.output;
  const Index length = input->text.length();
  if (!output || length == 0 || output->shape().size(1) != length || output->shape().size(0) == 0)
    return "there is no token to predict a word for";
  return "";
}

PredictionRuns::PredictionRuns(std::function<void()> wake)
    : work_(predict, std::move(wake), [](const Question& question) {
        return work_of(*question.computation->inputs.model_input) <= predicted_at_once;
      }) {}

WordPredictionsPtr PredictionRuns::of(const ComputationPtr& computation, Index batch) {
  const Question question{computation, batch};
  if (known_of_ == question) {
    work_.suspend();
    return known_;
  }
  const auto keep = [&](WordPredictionsPtr predictions) {
    known_of_ = question;
    return known_ = std::move(predictions);
  };
  if (std::string why = predictions_refusal(*computation); !why.empty()) {
    work_.suspend();
    return keep(std::make_shared<const TokenPredictions>(TokenPredictions{computation, {}, std::move(why)}));
  }
  const auto outcome = work_.of(question);
  if (!outcome) return nullptr;
  if (outcome->answer) return keep(outcome->answer->predictions);
  return keep(std::make_shared<const TokenPredictions>(TokenPredictions{computation, {}, outcome->error}));
}

PredictionRuns::Answer PredictionRuns::predict(const Question& question, const Work::AnswerPtr& before) {
  const Computation& computation = *question.computation;
  const ModelInput& input = *computation.inputs.model_input;
  const Transformer& transformer = *input.model->transformer();
  const Tensor& hidden = *input.hidden_state;
  Untouched untouched = before ? before->untouched : Untouched{};
  if (untouched.hidden_state != input.hidden_state) {
    const TensorPtr given = transformer.layer_input(input.layer, hidden);
    untouched = {
        input.hidden_state,
        transformer.continue_from(hidden, input.layer, *transformer.attention_output(input.layer, *given))};
  }
  const Tensor& output = *computation.trace->tensors.output;
  const Index batch = std::min(question.batch, output.shape().size(0) - 1);
  const TensorPtr now = transformer.continue_from(hidden, input.layer, sequence(output, batch));
  TokenPredictions predictions{question.computation,
                               prediction_changes(transformer, *untouched.last_hidden, *now, predicted_tokens),
                               ""};
  return {std::make_shared<const TokenPredictions>(std::move(predictions)), std::move(untouched)};
}

}  // namespace headwise
