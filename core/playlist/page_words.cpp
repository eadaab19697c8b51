#include "core/playlist/page_words.h"

#include <fmt/format.h>

#include <iterator>

namespace headwise {
namespace {

std::string shown(const std::string& written, const LiveSubject& subject, LiveAnswers answers,
                  bool page_changed, bool& claims_changed) {
  LiveWords words = live_words(written, subject, answers);
  claims_changed = page_changed && !words.complete();
  return claims_changed && !words.gaps.empty() ? std::string() : std::move(words.text);
}

}  // namespace

PageWords page_words(const PlaylistPage& page, const Scenario& scenario, const ScenarioInputs& inputs,
                     const Trace& trace, LiveAnswers answers) {
  const LiveSubject subject(trace, &scenario, &inputs);
  const bool changed = !(scenario == *page.scenario);
  PageWords words;
  words.ask = shown(page.ask, subject, answers, changed, words.ask_changed);
  words.caption = shown(page.caption, subject, answers, changed, words.caption_changed);
  if (!page.answer) return words;
  words.key.problem = written_problem(*page.answer);
  if (!words.key.problem.empty()) return words;
  for (const AnswerOption& option : page.answer->options) {
    words.options.push_back(live_text(option.text, subject, answers));
    words.whys.push_back(live_text(option.why, subject, answers));
  }
  words.key = answer_key(*page.answer, subject, answers);
  if (page.answer->tensor)
    words.key.shown = cell_words(trace, inputs, *page.answer->tensor, words.key.row, words.key.column);
  return words;
}

std::string cell_words(const Trace& trace, const ScenarioInputs& inputs, TensorId id,
                       std::optional<Index> row, std::optional<Index> column) {
  const TensorPtr tensor = trace.tensor(id);
  if (!tensor || tensor->shape().rank() < 2) return "";
  const Index rank = tensor->shape().rank();
  const auto named = [&](const char* what, std::optional<Index> index, Index axis) -> std::string {
    if (!index) return "";
    const std::string_view letter = tensor->shape().name(axis);
    const std::vector<std::string>* names = letter == "L"                     ? &inputs.labels.query
                                            : letter == "S" || letter == "S′" ? &inputs.labels.key
                                                                              : nullptr;
    const bool has = names && *index < static_cast<Index>(names->size());
    return has ? fmt::format("{} {}, '{}'", what, *index, (*names)[static_cast<std::size_t>(*index)])
               : fmt::format("{} {}", what, *index);
  };
  const std::string rows = named("row", row, rank - 2), columns = named("column", column, rank - 1);
  return rows + (rows.empty() || columns.empty() ? "" : ", ") + columns;
}

std::vector<std::string> page_gaps(const PlaylistPage& page, const ScenarioInputs& inputs, const Trace& trace) {
  const LiveSubject subject(trace, page.scenario.get(), &inputs);
  std::vector<std::string> gaps;
  for (const std::string* written : {&page.ask, &page.caption}) {
    LiveWords words = live_words(*written, subject);
    for (std::vector<std::string>* list : {&words.gaps, &words.dropped})
      gaps.insert(gaps.end(), std::make_move_iterator(list->begin()), std::make_move_iterator(list->end()));
  }
  return gaps;
}

}  // namespace headwise
