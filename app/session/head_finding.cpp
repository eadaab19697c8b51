#include "app/session/head_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/files/file_paths.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/layer_scenario.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr Index most_heads_named = 6;

std::string change_text(const TextModel& model, const ModelText& text, const MutedHead& head) {
  if (head.position < 0) return "–";
  return fmt::format("{} {:.2f} → {} {:.2f} at {} ({})", model.label(head.before), head.before_probability,
                     model.label(head.after), head.after_probability,
                     text.labels[static_cast<std::size_t>(head.position)], head.position);
}

// Heads with rows that cannot be measured: numbers in the model's files are NaN or infinite, or overflow.
std::string heads_without_number(const HeadSurvey& survey) {
  std::string names;
  Index count = 0;
  for (const SurveyedHead& head : survey.heads) {
    if (head.scores.left_out == 0) continue;
    if (count++ < most_heads_named)
      names += fmt::format("{}{}.{}", names.empty() ? "" : ", ", head.layer, head.head);
  }
  if (count == 0) return "";
  return fmt::format(
      "{} of {} heads ({}{}) have NaN weights, because their input to the softmax is not finite: they have "
      "no score, or one over fewer tokens",
      count, survey.heads.size(), names, count > most_heads_named ? " …" : "");
}

}  // namespace

FoundHeads find_heads(const HeadQuestion& question) {
  const auto model = TextModel::open(question.model);
  const ModelText text = model->read(question.text);
  FoundHeads found;
  found.model = model_name(question.model);
  found.survey =
      std::make_shared<const HeadSurvey>(survey_heads(*model->transformer(), scored_tokens(text.tokens)));
  found.tokens = text.labels;
  const auto of_text = [](const EncodedToken& token) { return token.begin < token.end; };
  found.empty = std::ranges::none_of(text.tokens, of_text);
  found.notice = found.empty ? "the text is empty, so nothing was measured" : join(text.notices, "; ");
  if (const std::string note = heads_without_number(*found.survey); !found.empty && !note.empty())
    found.notice += (found.notice.empty() ? "" : "; ") + note;
  found.no_words = model->transformer()->no_words();
  return found;
}

MutedHeads mute_heads(const HeadQuestion& question) {
  const auto model = TextModel::open(question.model);
  const ModelText text = model->read(question.text);
  MutedHeads muted;
  muted.muting =
      std::make_shared<const HeadMuting>(mute_each_head(*model->transformer(), scored_tokens(text.tokens)));
  for (const MutedHead& head : muted.muting->heads) muted.changes.push_back(change_text(*model, text, head));
  return muted;
}

std::optional<HeadQuestion> head_question(const Scenario& scenario) {
  if (!is_of_model(scenario) || scenario.inputs.source != InputSource::text) return std::nullopt;
  return HeadQuestion{path_from(scenario.origin.folder, *scenario.parameters.file), scenario.inputs.text};
}

HeadFinding::HeadFinding(const std::function<void()>& wake)
    : survey(find_heads, wake), muting(mute_heads, wake) {}

void HeadFinding::suspend() {
  survey.suspend();
  muting.suspend();
  to_mute.reset();
}

std::optional<HeadScore> score_of(HeadColumn column) {
  const int score = static_cast<int>(column) - static_cast<int>(HeadColumn::first_score);
  if (score < 0 || score >= static_cast<int>(head_score_count)) return std::nullopt;
  return static_cast<HeadScore>(score);
}

HeadOrder clicked(const HeadOrder& order, HeadColumn column) {
  if (order.column == column) return {column, !order.descending};
  return {column, column != HeadColumn::head};
}

std::optional<double> number_in(const HeadSurvey& survey, const HeadMuting* muting, std::size_t i,
                                HeadColumn column) {
  if (column == HeadColumn::head) return static_cast<double>(i);
  if (const std::optional<HeadScore> score = score_of(column)) return survey.heads[i].scores[*score].value;
  if (!muting || muting->heads[i].positions == 0) return std::nullopt;
  const MutedHead& muted = muting->heads[i];
  if (column == HeadColumn::effect) return muted.bits;
  if (column == HeadColumn::words_changed) return static_cast<double>(muted.words_changed);
  return muted.largest_bits;
}

std::vector<std::size_t> ordered_heads(const HeadSurvey& survey, const HeadMuting* muting,
                                       const HeadOrder& order) {
  std::vector<std::size_t> heads(survey.heads.size());
  std::iota(heads.begin(), heads.end(), std::size_t{0});
  std::ranges::stable_sort(heads, [&](std::size_t a, std::size_t b) {
    const std::optional<double> left = number_in(survey, muting, a, order.column);
    const std::optional<double> right = number_in(survey, muting, b, order.column);
    if (!left || !right) return left.has_value() && !right.has_value();
    return order.descending ? *left > *right : *left < *right;
  });
  return heads;
}

LargestHeads largest_heads(const HeadSurvey& survey, const HeadMuting* muting) {
  LargestHeads largest;
  for (int column = static_cast<int>(HeadColumn::first_score); column < head_column_count; ++column) {
    double most = 0.0;
    for (std::size_t i = 0; i < survey.heads.size(); ++i) {
      const double number = number_in(survey, muting, i, static_cast<HeadColumn>(column)).value_or(0.0);
      if (number > most) {
        most = number;
        largest[static_cast<std::size_t>(column)] = i;
      }
    }
  }
  return largest;
}

}  // namespace headwise
