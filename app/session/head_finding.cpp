#include "app/session/head_finding.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/model/text_model.h"

namespace headwise {
namespace {

std::string change_text(const TextModel& model, const ModelText& text, const MutedHead& head) {
  if (head.position < 0) return "–";
  return fmt::format("{} {:.2f} → {} {:.2f} at {} ({})", model.label(head.before), head.before_probability,
                     model.label(head.after), head.after_probability,
                     text.labels[static_cast<std::size_t>(head.position)], head.position);
}

}  // namespace

FoundHeads find_heads(const HeadQuestion& question) {
  const auto model = TextModel::open(question.model);
  const ModelText text = model->read(question.text);
  FoundHeads found;
  found.model = std::filesystem::path(model->files().folder()).filename().string();
  found.survey =
      std::make_shared<const HeadSurvey>(survey_heads(*model->encoder(), scored_tokens(text.tokens)));
  found.tokens = text.labels;
  found.notice = fmt::format("{}", fmt::join(text.notices, ". "));
  found.no_words = model->encoder()->no_words();
  return found;
}

MutedHeads mute_heads(const HeadQuestion& question) {
  const auto model = TextModel::open(question.model);
  const ModelText text = model->read(question.text);
  MutedHeads muted;
  muted.muting =
      std::make_shared<const HeadMuting>(mute_each_head(*model->encoder(), scored_tokens(text.tokens)));
  for (const MutedHead& head : muted.muting->heads) muted.changes.push_back(change_text(*model, text, head));
  return muted;
}

std::optional<HeadQuestion> head_question(const Scenario& scenario) {
  if (scenario.parameters.source != ParameterSource::model || scenario.inputs.source != InputSource::text ||
      !scenario.parameters.file)
    return std::nullopt;
  return HeadQuestion{*scenario.parameters.file, scenario.inputs.text};
}

HeadFinding::HeadFinding(const std::function<void()>& wake)
    : survey(find_heads, wake), muting(mute_heads, wake) {}

void HeadFinding::rest() {
  survey.rest();
  muting.rest();
  to_mute.reset();
}

}  // namespace headwise
