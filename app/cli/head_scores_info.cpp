#include "app/cli/head_scores_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/session/head_finding.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

struct HeadsInfo {
  FoundHeads found;
  std::optional<MutedHeads> muted;
  std::string not_muted;  // why not, if requested; empty: it was, or was not requested
};

HeadsInfo heads_info(const HeadsInfoRequest& request) {
  const HeadQuestion question{request.model, request.text};
  HeadsInfo info{find_heads(question), std::nullopt, ""};
  Warnings warnings;
  if (request.strict && !info.found.notice.empty()) warnings.add(info.found.notice);
  warnings.refuse_where(request.strict);
  if (!request.mute || info.found.empty) return info;
  if (info.found.no_words.empty()) {
    info.muted = mute_heads(question);
  } else {
    info.not_muted = "no head was muted, because this model predicts no words: " + info.found.no_words;
    warnings.add(info.not_muted);
    warnings.refuse_where(request.strict);
  }
  return info;
}

HeadScore score_at(std::size_t i) {
  return static_cast<HeadScore>(i);
}

// From the first head that has it: the score of uniform weights is the same for all.
const MeasuredScore* measured(const HeadSurvey& survey, HeadScore score) {
  for (const SurveyedHead& head : survey.heads)
    if (head.scores[score].value) return &head.scores[score];
  return nullptr;
}

std::string cell(std::string_view name, const std::optional<double>& value) {
  const std::string text = value ? fmt::format("{:.3f}", *value) : "-";
  return fmt::format("  {:>{}}", text, std::max<std::size_t>(name.size(), 5));
}

}  // namespace

std::string heads_info_text(const HeadsInfoRequest& request) {
  const HeadsInfo info = heads_info(request);
  const HeadSurvey& survey = *info.found.survey;
  if (info.found.empty) return info.found.notice + "\n";
  std::string text = fmt::format("heads on {} tokens:", survey.length);
  for (const std::string& token : info.found.tokens) text += " " + one_line(token);
  text += "\n";
  if (!info.found.notice.empty()) text += fmt::format("  {}\n", one_line(info.found.notice));
  text += "  head ";
  for (std::size_t i = 0; i < head_score_count; ++i)
    text += fmt::format("  {:>5}", head_score_words(score_at(i)).name);
  if (info.muted) text += "    bits  words  biggest change when muted";
  text += "\n  unif.";
  for (std::size_t i = 0; i < head_score_count; ++i) {
    const MeasuredScore* const one = measured(survey, score_at(i));
    text += cell(head_score_words(score_at(i)).name, one ? std::optional(one->uniform) : std::nullopt);
  }
  text += "\n";
  for (std::size_t h = 0; h < survey.heads.size(); ++h) {
    const SurveyedHead& head = survey.heads[h];
    text += fmt::format("  {:<5}", fmt::format("{}.{}", head.layer, head.head));
    for (std::size_t i = 0; i < head_score_count; ++i)
      text += cell(head_score_words(score_at(i)).name, head.scores.scores[i].value);
    if (info.muted) {
      const MutedHead& muted = info.muted->muting->heads[h];
      const bool counts = muted.positions > 0;  // else every prediction is NaN
      text += fmt::format("  {:>6}  {:>5}  {}", counts ? fmt::format("{:.3f}", muted.bits) : "-",
                          counts ? fmt::format("{}", muted.words_changed) : "-",
                          counts ? one_line(info.muted->changes[h]) : "the prediction is NaN");
    }
    text += "\n";
  }
  return text;
}

nlohmann::ordered_json heads_info_json(const HeadsInfoRequest& request) {
  using Json = nlohmann::ordered_json;
  const HeadsInfo info = heads_info(request);
  const HeadSurvey& survey = *info.found.survey;
  const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  Json scores = Json::object();
  for (std::size_t i = 0; i < head_score_count; ++i) {
    const MeasuredScore* const one = measured(survey, score_at(i));
    scores[std::string(head_score_words(score_at(i)).id)] = {
        {"uniform", or_null(one ? std::optional(one->uniform) : std::nullopt)},
        {"queries", one ? one->queries : 0}};
  }
  Json heads = Json::array();
  for (std::size_t h = 0; h < survey.heads.size(); ++h) {
    const SurveyedHead& head = survey.heads[h];
    Json one{{"layer", head.layer}, {"head", head.head}};
    for (std::size_t i = 0; i < head_score_count; ++i)
      one[std::string(head_score_words(score_at(i)).id)] = or_null(head.scores.scores[i].value);
    one["entropy_bits"] = or_null(head.scores.entropy_bits);
    if (info.muted) {
      const MutedHead& muted = info.muted->muting->heads[h];
      one["muted"] = {{"bits", muted.positions > 0 ? Json(muted.bits) : Json(nullptr)},
                      {"positions", muted.positions},
                      {"words_changed", muted.words_changed},
                      {"largest_bits", muted.largest_bits},
                      {"position", muted.position},
                      {"before_id", muted.before},
                      {"before_probability", muted.before_probability},
                      {"after_id", muted.after},
                      {"after_probability", muted.after_probability}};
    }
    heads.push_back(std::move(one));
  }
  Json all{{"tokens", info.found.tokens}, {"notice", info.found.notice}, {"scores", scores}, {"heads", heads}};
  if (!info.not_muted.empty()) all["not_muted"] = info.not_muted;
  return all;
}

}  // namespace headwise
