// No sentence of a lesson becomes false, whatever one thing is changed on its page.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "core/playlist/lessons.h"
#include "core/reference/reference_backend.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
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

// Nothing where the edit makes no valid scenario, or needs a file. As in the window,
// random parameters stay what they were.
std::optional<Edited> edited_page(PageEdit edit, const ScenarioInputs& inputs_before) {
  try {
    ScenarioInputs inputs = make_scenario_inputs(edit.scenario, DType::f32, {}, &inputs_before);
    TracePtr trace = reference_forward(inputs.attention);
    return Edited{std::move(edit), std::move(inputs), std::move(trace)};
  } catch (const Error&) {
    return std::nullopt;
  }
}

Edited unedited_page(const Scenario& page) {
  ScenarioInputs inputs = make_scenario_inputs(page, DType::f32);
  TracePtr trace = reference_forward(inputs.attention);
  return {{"nothing", page}, std::move(inputs), std::move(trace)};
}

std::vector<PageEdit> edits_of(const Edited& page) {
  return page_edits(page.edit.scenario, *page.trace);
}

// "head" or "heads": a word within another part.
bool claims_nothing(const std::string& text) {
  return text.find(' ') == std::string::npos;
}

// The pages of the lessons that share a scenario are edited together.
struct EditedTogether {
  std::shared_ptr<const Scenario> scenario;
  std::vector<const PlaylistPage*> pages;
};

std::vector<EditedTogether> lesson_scenarios() {
  std::vector<EditedTogether> all;
  for (const Lesson& lesson : lessons())
    for (const PlaylistPage& page : lesson_playlist(lesson.name).pages) {
      auto at = std::ranges::find_if(
          all, [&](const EditedTogether& each) { return *each.scenario == *page.scenario; });
      if (at == all.end()) at = all.insert(all.end(), {page.scenario, {}});
      at->pages.push_back(&page);
    }
  return all;
}

// Computes in another way what the pages say of what they have become.
class ClaimChecks {
 public:
  void check(const Edited& edited, const std::vector<const PlaylistPage*>& pages) {
    const LiveSubject subject(*edited.trace, &edited.edit.scenario, &edited.inputs);
    SeenPage seen{edited.edit.scenario, edited.inputs, *edited.trace};
    ++edits;
    for (const PlaylistPage* page : pages) {
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

  std::set<std::string> made, unchecked;
  std::size_t edits = 0, shown = 0;
};

}  // namespace

TEST_CASE("after every single edit each claim of a page that is shown is true") {
  ClaimChecks checks;
  for (const EditedTogether& each : lesson_scenarios()) {
    const Edited own = unedited_page(*each.scenario);
    for (PageEdit& edit : edits_of(own))
      if (const auto edited = edited_page(std::move(edit), own.inputs)) checks.check(*edited, each.pages);
  }
  for (const std::string& claim : checks.unchecked) FAIL_CHECK("no check for ", claim);
  for (const PageClaim& known : page_claims())
    if (!checks.made.contains(known.words)) FAIL_CHECK("no page says ", known.words);
  MESSAGE(checks.edits, " edits, ", checks.shown, " claims");
  CHECK(checks.edits > 1000);
}

TEST_CASE("after two and three edits each claim of a page that is shown is true") {
  // Of so many together that a part has to do; HEADWISE_PAGE_EDITS asks for more of them.
  const char* more = std::getenv("HEADWISE_PAGE_EDITS");
  const int walks = more ? std::max(1, std::atoi(more)) : 12;
  std::mt19937 random(1);
  ClaimChecks checks;
  for (const EditedTogether& each : lesson_scenarios()) {
    const Edited own = unedited_page(*each.scenario);
    for (int walk = 0; walk < walks; ++walk) {
      Edited page = own;
      std::string what;
      for (int step = 0; step < 3; ++step) {
        std::vector<PageEdit> edits = edits_of(page);
        PageEdit& edit = edits[random() % edits.size()];
        what += (what.empty() ? "" : ", then ") + edit.what;
        edit.what = what;
        auto edited = edited_page(std::move(edit), page.inputs);
        if (!edited) break;
        page = std::move(*edited);
        if (step > 0) checks.check(page, each.pages);
      }
    }
  }
  MESSAGE(checks.edits, " edits, ", checks.shown, " claims");
  CHECK(checks.edits > 200);
}
