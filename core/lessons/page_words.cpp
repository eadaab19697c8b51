#include "core/lessons/page_words.h"

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

std::vector<std::string> tokens_along(const ScenarioInputs& inputs, const Tensor& map, Index axis) {
  const std::vector<std::string>* tokens = inputs.labels.along(map.shape().name(axis));
  return tokens ? *tokens : std::vector<std::string>();
}

}  // namespace

PageWords page_words(const PlaylistPage& page, const Scenario& scenario, const ScenarioInputs& inputs,
                     const Trace& trace, LiveAnswers answers) {
  const LiveSubject subject(trace, &scenario, &inputs);
  const bool changed = !is_scenario_of(page, scenario);
  PageWords words;
  words.ask = shown(page.ask, subject, answers, changed, words.ask_changed);
  words.caption = shown(page.caption, subject, answers, changed, words.caption_changed);
  bool notes_changed = false;  // nobody but the presenter sees them
  words.notes = shown(page.notes, subject, answers, changed, notes_changed);
  if (!page.answer) return words;
  words.key.problem = written_problem(*page.answer);
  if (!words.key.problem.empty()) return words;
  for (const AnswerOption& option : page.answer->options) {
    words.options.push_back(live_text(option.text, subject, answers));
    words.reasons.push_back(live_text(option.why, subject, answers));
  }
  words.why = live_text(page.answer->why, subject, answers);
  words.key = answer_key(*page.answer, subject, answers);
  if (words.key.weights) {
    const auto& [weights, axis, from] = *words.key.weights;
    const std::vector<std::string>* names = inputs.labels.along(axis);
    for (Index i = from; i < from + static_cast<Index>(weights.size()); ++i) {
      const bool has = names && i < static_cast<Index>(names->size());
      words.weight_labels.push_back(has ? (*names)[static_cast<std::size_t>(i)] : fmt::format("{}", i));
    }
  }
  if (!page.answer->tensor) return words;
  const TensorPtr map = trace.tensor(*page.answer->tensor);
  if (!map || map->shape().rank() < 2) return words;
  words.rows = tokens_along(inputs, *map, map->shape().rank() - 2);
  words.columns = tokens_along(inputs, *map, map->shape().rank() - 1);
  words.key.shown = cell_words(words.rows, words.columns, words.key.row, words.key.column);
  return words;
}

std::string cell_words(const std::vector<std::string>& rows, const std::vector<std::string>& columns,
                       std::optional<Index> row, std::optional<Index> column) {
  const auto named = [](const char* what, std::optional<Index> index, const std::vector<std::string>& names) {
    if (!index) return std::string();
    return *index < static_cast<Index>(names.size())
               ? fmt::format("“{}” ({} {})", names[static_cast<std::size_t>(*index)], what, *index)
               : fmt::format("{} {}", what, *index);
  };
  const std::string first = named("row", row, rows), second = named("column", column, columns);
  return first + (first.empty() || second.empty() ? "" : ", ") + second;
}

std::vector<std::string> page_gaps(const PlaylistPage& page, const ScenarioInputs& inputs, const Trace& trace) {
  const LiveSubject subject(trace, page.scenario.get(), &inputs);
  std::vector<std::string> gaps;
  for (const std::string* written : {&page.ask, &page.caption, &page.notes}) {
    LiveWords words = live_words(*written, subject);
    for (std::vector<std::string>* list : {&words.gaps, &words.dropped})
      gaps.insert(gaps.end(), std::make_move_iterator(list->begin()), std::make_move_iterator(list->end()));
  }
  return gaps;
}

}  // namespace headwise
