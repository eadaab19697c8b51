#include "core/playlist/page_words.h"

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
  for (const AnswerOption& option : page.answer->options) {
    words.options.push_back(live_text(option.text, subject, answers));
    words.whys.push_back(live_text(option.why, subject, answers));
  }
  words.key = answer_key(*page.answer, subject, answers);
  return words;
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
