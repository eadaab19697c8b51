#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>

#include "app/session/edit_summary.h"
#include "app/session/session.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

Scenario small() {
  Scenario scenario;
  scenario.attention.embed_dim = 32;
  scenario.attention.num_heads = 4;
  scenario.inputs.source = InputSource::text;
  scenario.inputs.text = "The cat sat on the mat";
  return scenario;
}

// Too large to be computed within a frame, small enough for a test.
Scenario large() {
  Scenario scenario = small();
  scenario.attention.embed_dim = 512;
  scenario.attention.num_heads = 8;
  scenario.inputs.source = InputSource::random;
  scenario.inputs.query_length = 160;
  return scenario;
}

Scenario muted(Scenario scenario, std::size_t head) {
  scenario.head_gain = std::vector<double>(static_cast<std::size_t>(scenario.attention.num_heads), 1.0);
  (*scenario.head_gain)[head] = 0.0;
  return scenario;
}

void check_identical(const Trace& a, const Trace& b) {
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr x = a.tensor(entry.id), y = b.tensor(entry.id);
    INFO(entry.name);
    REQUIRE((x == nullptr) == (y == nullptr));
    if (x) CHECK(identical(*x, *y));
  }
}

}  // namespace

TEST_CASE("muting a head changes the output at once and shares what comes before the concat") {
  Session session(small());
  const TracePtr before = session.trace_ptr();
  session.edit(muted(small(), 2), "mute head 2");
  CHECK_FALSE(session.computing());
  CHECK_FALSE(identical(*before->tensors.output, *session.trace().tensors.output));
  CHECK(before->tensors.attn_weights == session.trace().tensors.attn_weights);
  CHECK(before->tensors.head_output == session.trace().tensors.head_output);
  CHECK(session.last_edit().starts_with("Head 2 muted: concat[:, 16:24] is 0, the output changed by "));
  CHECK(session.last_edit().ends_with("The attention weights did not change."));
}

TEST_CASE("undo restores the trace exactly, redo does so too") {
  Session session(small());
  const TracePtr first = session.trace_ptr();
  Scenario causal = small();
  causal.mask.is_causal = true;
  session.edit(causal, "causal mask on");
  const TracePtr second = session.trace_ptr();
  session.edit(muted(causal, 1), "mute head 1");
  CHECK(session.undo());
  CHECK(session.scenario() == causal);
  check_identical(session.trace(), *second);
  CHECK(session.undo());
  CHECK(session.scenario() == small());
  check_identical(session.trace(), *first);
  CHECK_FALSE(session.undo());
  CHECK(session.redo());
  check_identical(session.trace(), *second);
  CHECK(session.last_edit().starts_with("Redone. Causal mask on: "));
}

TEST_CASE("an impossible edit keeps the trace and the history and says why") {
  Session session(small());
  const TracePtr before = session.trace_ptr();
  Scenario impossible = small();
  impossible.attention.num_heads = 5;
  session.edit(impossible, "num_heads", true);
  CHECK_FALSE(session.error().empty());
  CHECK_CONTAINS(session.error(), "5");
  CHECK(session.error().find('\n') == std::string::npos);
  CHECK(session.trace_ptr() == before);
  CHECK(session.scenario() == impossible);
  CHECK(session.traced_scenario() == small());
  CHECK_FALSE(session.history().can_undo());

  // Another number makes it possible: one step, from the last good one.
  Scenario possible = impossible;
  possible.attention.embed_dim = 40;
  session.edit(possible, "embed_dim", true);
  CHECK(session.error().empty());
  CHECK(session.trace().options.num_heads == 5);
  CHECK(session.undo());
  CHECK(session.scenario() == small());
}

TEST_CASE("undo first drops what could not be shown") {
  Session session(small());
  Scenario causal = small();
  causal.mask.is_causal = true;
  session.edit(causal, "causal mask on");
  const TracePtr good = session.trace_ptr();
  Scenario impossible = causal;
  impossible.attention.embed_dim = -1;
  session.edit(impossible, "embed_dim");
  CHECK_FALSE(session.error().empty());
  CHECK(session.undo_label() == "the change without a result");
  CHECK(session.undo());
  CHECK(session.error().empty());
  CHECK(session.scenario() == causal);
  CHECK(session.trace_ptr() == good);
  CHECK(session.undo_label() == "causal mask on");
}

TEST_CASE("an edit on top of one that failed is taken alone, and what was opened is mended in place") {
  Session session(small());
  Scenario impossible = small();
  impossible.attention.num_heads = 5;
  session.edit(impossible, "num_heads", true);
  Scenario both = impossible;
  both.inputs.text = "The cat \xff sat";
  both.edits.push_back({"query", {0, 0, 0}, 0.5});
  session.edit(both, "text");
  CHECK(session.error() == "");
  CHECK(session.scenario().attention.num_heads == 4);
  CHECK(session.scenario().inputs.text == both.inputs.text);
  CHECK(session.scenario().edits == both.edits);
  CHECK(session.last_edit().starts_with("num_heads was reset to 4. "));
  CHECK(session.undo());
  CHECK(session.scenario() == small());

  session.open(impossible, "open a file");
  CHECK_FALSE(session.error().empty());
  Scenario mended = impossible;
  mended.mask.is_causal = true;
  session.edit(mended, "causal mask on");
  CHECK(session.scenario() == mended);
  CHECK_FALSE(session.error().empty());
  mended.attention.embed_dim = 40;
  session.edit(mended, "embed_dim");
  CHECK(session.error().empty());
  CHECK(session.traced_scenario() == mended);
}

TEST_CASE("an edit is carried over key by key, and no key of the format is forgotten") {
  const nlohmann::json all = nlohmann::json::parse(scenario_to_json(Scenario{}, true)).flatten();
  int carried = 0;
  for (const auto& [pointer, value] : all.items()) {
    std::string path = pointer.substr(1);
    std::ranges::replace(path, '/', '.');
    Scenario edited;
    for (const char* text :
         {"true", "false", "2", "0.25", "zero", "x.npy", "text", "bottom_right", "\"nan\"", "causal"}) {
      try {
        edited = with_setting(Scenario{}, path + "=" + text);
      } catch (const Error&) {
        continue;
      }
      if (edited == Scenario{}) continue;
      CAPTURE(path);
      CHECK(with_edit_of(Scenario{}, Scenario{}, edited) == edited);
      ++carried;
      break;
    }
  }
  CHECK(carried > 35);
  Scenario from = small(), edited = small(), onto = small();
  onto.mask.is_causal = true;
  edited.attention.scale = 2.0;
  edited.head_gain = std::vector<double>{1, 0, 1, 1};
  onto.attention.num_heads = 8;
  const Scenario made = with_edit_of(onto, from, edited);
  CHECK(made.mask.is_causal);
  CHECK(made.attention.scale == 2.0);
  CHECK(*made.head_gain == std::vector<double>{1, 0, 1, 1, 1, 1, 1, 1});
}

TEST_CASE("a large edit on top of one that failed is taken alone too") {
  Session session(large());
  Scenario impossible = large();
  impossible.attention.num_heads = 7;
  session.edit(impossible, "num_heads");
  session.finish();
  REQUIRE_FALSE(session.error().empty());
  Scenario both = impossible;
  both.mask.is_causal = true;
  session.edit(both, "causal mask on");
  session.finish();
  CHECK(session.error().empty());
  CHECK(session.traced_scenario().attention.num_heads == 8);
  CHECK(session.traced_scenario().mask.is_causal);
  CHECK(session.scenario() == session.traced_scenario());
}

TEST_CASE("typing is one undo step, and its summary speaks of the whole of it") {
  Session session(small());
  Scenario typed = small();
  for (const char* text : {"The cat sat on the m", "The cat sat on the", "The cat sat on the rug today"}) {
    typed.inputs.text = text;
    session.edit(typed, "text", true);
  }
  session.end_step();
  CHECK_CONTAINS(session.last_edit(), "7 tokens instead of 6");
  CHECK(session.undo());
  CHECK(session.scenario() == small());
  CHECK_FALSE(session.undo());
}

TEST_CASE("a large scenario is computed behind the window, which is woken when it is done") {
  std::atomic<int> woken = 0;
  Session session(small(), [&] { ++woken; });
  const TracePtr before = session.trace_ptr();
  REQUIRE(estimated_work(large()) > 1e8);
  session.edit(large(), "sizes");
  CHECK(session.computing());
  CHECK(session.trace_ptr() == before);
  CHECK(session.scenario() == large());
  session.finish();
  CHECK_FALSE(session.computing());
  CHECK(woken == 1);
  CHECK(session.trace().options.embed_dim == 512);
  CHECK(session.history().step_count() == 2);
  CHECK(session.undo());
  session.finish();
  check_identical(session.trace(), *before);
}

TEST_CASE("what is asked for later wins over what is still under way") {
  Session session(small());
  session.edit(large(), "sizes");
  REQUIRE(session.computing());
  const Scenario after = muted(small(), 0);
  session.edit(after, "mute head 0");
  CHECK(session.traced_scenario() == after);
  session.finish();
  CHECK(session.scenario() == after);
  CHECK(session.traced_scenario() == after);
  CHECK(session.trace().options.embed_dim == 32);
}

TEST_CASE("undo while a large scenario is under way goes back to what is shown") {
  Session session(small());
  session.edit(large(), "sizes");
  REQUIRE(session.computing());
  CHECK(session.undo());
  CHECK(session.scenario() == small());
  session.finish();
  CHECK(session.traced_scenario() == small());
  CHECK(session.error().empty());
}

TEST_CASE("a page is a step of the history as soon as it is turned to, and what was under way is none") {
  Session session(small());
  const TracePtr before = session.trace_ptr();
  session.open_page(small(), 0);
  CHECK(session.trace_ptr() == before);
  CHECK(session.undo_label() == "page 1");
  session.edit(muted(small(), 2), "mute head 2");
  const auto label_back = [&](std::size_t steps) { return session.history().step_back(steps).label; };
  SUBCASE("one that was passed over before it was there leaves nothing") {
    session.open_page(large(), 1);
    CHECK(session.computing());
    CHECK(session.undo_label() == "page 2");
    session.open_page(small(), 2);
    CHECK(label_back(1) == "mute head 2");
  }
  SUBCASE("one with the same scenario goes on with its computation") {
    session.open_page(large(), 1);
    session.open_page(large(), 2);
    session.finish();
    CHECK(session.traced_scenario() == large());
    CHECK(label_back(0) == "page 3");
    CHECK(label_back(1) == "mute head 2");
    session.open_page(small(), 3);
    CHECK(label_back(1) == "page 3");
  }
  SUBCASE("an edit that has no result yet stays behind") {
    session.edit(large(), "larger");
    CHECK(session.computing());
    session.open_page(small(), 1);
    CHECK(label_back(1) == "mute head 2");
  }
  SUBCASE("one without a result is a step too, and what mends it another") {
    Scenario broken = small();
    broken.attention.num_heads = 5;
    session.open_page(broken, 1);
    CHECK_FALSE(session.error().empty());
    CHECK(session.scenario() == session.history().current());
    Scenario mended = broken;
    mended.attention.embed_dim = 30;
    session.edit(mended, "embed_dim 30");
    CHECK(session.error().empty());
    CHECK(label_back(0) == "embed_dim 30");
    CHECK(label_back(1) == "page 2");
    session.undo();
    CHECK_FALSE(session.error().empty());
    CHECK(session.scenario() == broken);
    session.open_page(small(), 2);
    CHECK(session.error().empty());
  }
  session.finish();
  CHECK_FALSE(session.computing());
  CHECK(session.scenario() == session.history().current());
  CHECK(session.traced_scenario() == session.scenario());
  CHECK(session.error().empty());
}

TEST_CASE("what is given up leaves everything as it was, an undo and a redo too") {
  Session session(large());
  CHECK_FALSE(session.cancel());  // nothing is under way
  const TracePtr before = session.trace_ptr();
  Scenario longer = large();
  longer.inputs.query_length = 170;
  longer.parameters.seed = 5;
  session.edit(longer, "sizes");
  REQUIRE(session.computing());
  CHECK(session.cancel());
  CHECK_FALSE(session.computing());
  session.finish();
  CHECK(session.scenario() == large());
  CHECK(session.trace_ptr() == before);
  CHECK_FALSE(session.history().can_undo());
  CHECK_FALSE(session.cancel());

  session.edit(longer, "sizes");
  session.finish();
  REQUIRE(session.traced_scenario() == longer);
  CHECK(session.undo());
  REQUIRE(session.computing());
  CHECK(session.cancel());
  session.finish();
  CHECK(session.scenario() == longer);
  CHECK(session.traced_scenario() == longer);
  CHECK(session.undo_label() == "sizes");

  CHECK(session.undo());
  session.finish();
  CHECK(session.redo());
  REQUIRE(session.computing());
  CHECK(session.cancel());
  session.finish();
  CHECK(session.scenario() == large());
  CHECK(session.redo_label() == "sizes");
  CHECK(session.error().empty());
}

TEST_CASE("a large scenario tells how far it has come") {
  Session session(small());
  CHECK_FALSE(session.waiting().is_long());
  session.edit(large(), "sizes");
  REQUIRE(session.computing());
  double last = 0.0;
  bool falls = false;
  std::string names;
  while (!session.poll()) {
    const Waiting waiting = session.waiting();
    falls = falls || waiting.fraction < last;
    last = waiting.fraction;
    if (names.find(waiting.doing) == std::string::npos) names += waiting.doing;
  }
  CHECK_FALSE(falls);
  CHECK(last <= 1.0);
  CHECK(Waiting{0.1, 0.5, "scores"}.text().empty());
  CHECK(Waiting{1.0, 0.426, "scores"}.text() == ": scores, 43 %");
  CHECK(Waiting{1.0, 0.0, ""}.text() == ": 0 %");
}

TEST_CASE("several large edits in a row end with the last one") {
  Session session(small());
  Scenario asked = large();
  for (const std::int64_t length : {161, 162, 163, 164}) {
    asked.inputs.query_length = length;
    session.edit(asked, "query length", true);
  }
  session.finish();
  CHECK(session.traced_scenario() == asked);
  CHECK(session.trace().tensors.query->shape().size(1) == 164);
  CHECK(session.undo());
  session.finish();
  CHECK(session.traced_scenario() == small());
}

TEST_CASE("a large scenario that fails in the background leaves the picture and says why") {
  Session session(small());
  const TracePtr before = session.trace_ptr();
  Scenario huge = small();
  huge.attention.embed_dim = 1'000'000'000;
  huge.attention.num_heads = 1;
  session.edit(huge, "embed_dim");
  session.finish();
  CHECK_FALSE(session.error().empty());
  CHECK(session.trace_ptr() == before);
  CHECK_FALSE(session.history().can_undo());
  CHECK(session.undo());
  CHECK(session.error().empty());
}

TEST_CASE("a trace that fits nowhere is refused before its inputs are made") {
  const Scenario scenario = scenario_from_json(
      R"({"attention":{"embed_dim":64,"num_heads":4},"inputs":{"source":"random","query_length":8000000}})",
      "t");
  const auto largest_so_far = [] {
    rusage usage{};
    REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0);
    return usage.ru_maxrss;  // KiB
  };
  const long before = largest_so_far();
  CHECK_THROWS_WITH_AS(compute(scenario, nullptr), doctest::Contains("the trace: it would not fit in memory"),
                       Error);
  CHECK(largest_so_far() - before < 500'000);  // the inputs have 2,000,000
}

TEST_CASE("a session can be thrown away while it computes") {
  Session session(small());
  session.edit(large(), "sizes");
  CHECK(session.computing());
}

TEST_CASE("a first scenario without a trace is an Error") {
  Scenario impossible = small();
  impossible.attention.num_heads = 0;
  CHECK_THROWS_AS(Session{impossible}, Error);
}

TEST_CASE("the work of a scenario is guessed from its sizes alone") {
  CHECK(estimated_work(small()) < 1e7);
  Scenario absurd;
  absurd.attention.embed_dim = std::int64_t{1} << 60U;
  CHECK(estimated_work(absurd) > 1e30);
  absurd.attention.num_heads = -5;
  absurd.inputs.batch = -1;
  CHECK(estimated_work(absurd) >= 0.0);
}
