#include <doctest/doctest.h>

#include "app/session/history.h"

using namespace headwise;

namespace {

Scenario with_heads(std::int64_t heads) {
  Scenario scenario;
  scenario.attention.num_heads = heads;
  return scenario;
}

Scenario with_text(const std::string& text) {
  Scenario scenario;
  scenario.inputs.text = text;
  return scenario;
}

}  // namespace

TEST_CASE("undo goes back one Scenario at a time and redo forth again") {
  History history(with_heads(1));
  CHECK_FALSE(history.can_undo());
  CHECK_FALSE(history.undo());
  history.push(with_heads(2), "num_heads 2");
  history.push(with_heads(4), "num_heads 4");
  CHECK(history.undo_label() == "num_heads 4");
  REQUIRE(history.undo());
  CHECK(history.current() == with_heads(2));
  CHECK(history.redo_label() == "num_heads 4");
  REQUIRE(history.undo());
  CHECK(history.current() == with_heads(1));
  CHECK_FALSE(history.undo());
  REQUIRE(history.redo());
  REQUIRE(history.redo());
  CHECK(history.current() == with_heads(4));
  CHECK_FALSE(history.redo());
}

TEST_CASE("a new step forgets what could be redone") {
  History history(with_heads(1));
  history.push(with_heads(2), "two");
  history.undo();
  history.push(with_heads(4), "four");
  CHECK_FALSE(history.can_redo());
  CHECK(history.step_count() == 2);
}

TEST_CASE("a Scenario equal to the current one is no step") {
  History history(with_heads(1));
  history.push(with_heads(1), "nothing");
  CHECK(history.step_count() == 1);
}

TEST_CASE("a page that is turned is a step, equal or not; one that was not seen yet gives way to the next") {
  History history(with_heads(1));
  history.turn_page(with_heads(1), "page 1", 0);
  CHECK(history.step_count() == 2);
  CHECK(history.step_back(0).page == 0);
  CHECK_FALSE(history.step_back(1).page);
  history.push(with_heads(2), "num_heads 2");
  history.turn_page(with_heads(2), "page 2", 1);
  CHECK(history.step_back(0).page == 1);
  CHECK_FALSE(history.step_back(1).page);
  CHECK(history.undo_label() == "page 2");
  history.turn_page(with_heads(4), "page 3", 2, true);
  CHECK(history.step_back(0).page == 2);
  CHECK(history.step_back(1).label == "num_heads 2");
  history.undo();
  history.undo();
  history.turn_page(with_heads(1), "page 2", 1);
  CHECK_FALSE(history.can_redo());
  CHECK(history.step_count() == 3);
}

TEST_CASE("typing is one step, and the next typing another") {
  History history(with_text(""));
  CHECK_FALSE(history.push(with_text("t"), "text", true));
  CHECK(history.push(with_text("th"), "text", true));
  CHECK(history.push(with_text("the"), "text", true));
  CHECK(history.step_count() == 2);
  history.end_step();
  CHECK_FALSE(history.push(with_text("the c"), "text", true));
  CHECK(history.step_count() == 3);
  history.undo();
  CHECK(history.current() == with_text("the"));
  history.undo();
  CHECK(history.current() == with_text(""));
}

TEST_CASE("two edits with different labels never merge, even while both continue") {
  History history(with_text(""));
  history.push(with_text("a"), "text", true);
  Scenario both = with_text("a");
  both.attention.num_heads = 2;
  CHECK_FALSE(history.push(both, "num_heads 2", true));
  CHECK(history.step_count() == 3);
}

TEST_CASE("the end of a drag belongs to the drag, the next click does not") {
  History history(with_heads(1));
  history.push(with_heads(2), "drag", true);
  CHECK(history.push(with_heads(4), "drag", false));
  CHECK(history.step_count() == 2);
  CHECK_FALSE(history.push(with_heads(8), "drag", false));
  CHECK(history.step_count() == 3);
}

TEST_CASE("a drag back to where it began leaves no step") {
  History history(with_heads(1));
  history.push(with_heads(2), "drag", true);
  history.push(with_heads(1), "drag", true);
  CHECK(history.step_count() == 1);
  CHECK_FALSE(history.can_undo());
}

TEST_CASE("a drag that has not moved yet does not continue the step before it") {
  History history(with_heads(1));
  history.push(with_heads(2), "drag", false);
  history.push(with_heads(2), "drag", true);
  history.push(with_heads(4), "drag", true);
  CHECK(history.step_count() == 3);
}

TEST_CASE("history is bounded in bytes: the oldest steps go, the current one stays") {
  const std::string page(100'000, 'x');
  History history(with_text(""), 1'000'000);
  for (int i = 0; i < 50; ++i) history.push(with_text(page + std::to_string(i)), "text " + std::to_string(i));
  CHECK(history.bytes() <= 1'000'000);
  CHECK(history.step_count() >= 5);
  CHECK(history.step_count() <= 10);
  CHECK(history.current() == with_text(page + "49"));
  int undone = 0;
  while (history.undo()) ++undone;
  CHECK(undone + 1 == static_cast<int>(history.step_count()));

  history.push(with_text(std::string(5'000'000, 'y')), "huge");
  CHECK(history.current().inputs.text.size() == 5'000'000);
  CHECK_FALSE(history.can_undo());
}

TEST_CASE("the bytes of a Scenario count its texts, lists and edits") {
  Scenario scenario;
  const std::size_t empty = scenario_bytes(scenario);
  scenario.inputs.text = std::string(1000, 'a');
  scenario.inputs.key_text = std::string(1000, 'b');
  scenario.head_gain = std::vector<double>(100, 1.0);
  scenario.mask.valid_lens = {{1}, {2}};
  scenario.edits.push_back({"query", {0, 0, 0}, 1.0});
  CHECK(scenario_bytes(scenario) >= empty + 2000 + 800 + 16 + 24);
}
