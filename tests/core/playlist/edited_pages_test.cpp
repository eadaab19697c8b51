// No sentence of a lesson becomes false, whatever one thing is changed on its page.
#include <doctest/doctest.h>

#include <set>

#include "core/playlist/lessons.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "core/trace/reference_backend.h"
#include "tests/core/playlist/page_claims.h"
#include "tests/core/playlist/page_edits.h"

using namespace headwise;
using namespace headwise::lessons_test;

namespace {

struct Edited {
  PageEdit edit;
  ScenarioInputs inputs;
  TracePtr trace;
};

// All that one page can become. Edits that make no valid scenario, or that need a file, are left out.
std::vector<Edited> edited_pages(const Scenario& page) {
  const ScenarioInputs own_inputs = make_scenario_inputs(page, DType::f32);
  const TracePtr own = reference_forward(own_inputs.attention);
  std::vector<Edited> all;
  for (PageEdit& edit : page_edits(page, *own)) {
    try {
      ScenarioInputs inputs =
          make_scenario_inputs(edit.scenario, DType::f32, {}, &own_inputs, &page);  // shares parameters
      TracePtr trace = reference_forward(inputs.attention);
      all.push_back({std::move(edit), std::move(inputs), std::move(trace)});
    } catch (const Error&) {
    }
  }
  return all;
}

// "head" or "heads": a word within another part.
bool claims_nothing(const std::string& text) {
  return text.find(' ') == std::string::npos;
}

}  // namespace

TEST_CASE("after every single edit each claim of a page that is shown is true") {
  std::vector<const Scenario*> scenarios;
  std::vector<std::vector<const PlaylistPage*>> pages;
  for (const Lesson& lesson : lessons())
    for (const PlaylistPage& page : lesson_playlist(lesson.name).pages) {
      std::size_t i = 0;
      while (i < scenarios.size() && !(*scenarios[i] == *page.scenario)) ++i;
      if (i == scenarios.size()) scenarios.push_back(page.scenario.get()), pages.emplace_back();
      pages[i].push_back(&page);
    }
  std::set<std::string> made, unchecked;
  std::size_t edits = 0, shown = 0;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    for (const Edited& edited : edited_pages(*scenarios[i])) {
      ++edits;
      const LiveSubject subject(*edited.trace, &edited.edit.scenario, &edited.inputs);
      SeenPage seen{edited.edit.scenario, edited.inputs, *edited.trace};
      for (const PlaylistPage* page : pages[i]) {
        for (const std::string& written : {page->ask, page->caption}) {
          const LiveWords words = live_words(written, subject);
          for (const LiveClaim& claim : words.claims) {
            ++shown;
            seen.text = claim.text;
            bool checked = claims_nothing(claim.text);
            for (const PageClaim& known : page_claims()) {
              if (claim.text.find(known.words) == std::string::npos) continue;
              checked = true;
              made.insert(known.words);
              if (known.holds(seen)) continue;
              CAPTURE(page->title);
              CAPTURE(edited.edit.what);
              CAPTURE(claim.condition);
              FAIL_CHECK(known.words, ": ", claim.text);
            }
            if (!checked) unchecked.insert(page->title + ": " + claim.text);
          }
        }
      }
    }
  }
  for (const std::string& claim : unchecked) FAIL_CHECK("no check for ", claim);
  for (const PageClaim& known : page_claims())
    if (!made.contains(known.words)) FAIL_CHECK("no page says ", known.words);
  MESSAGE(edits, " edits, ", shown, " claims");
  CHECK(edits > 1000);
}
