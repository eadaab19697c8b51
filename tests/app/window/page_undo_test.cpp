// What undo does among the pages of a walk: it takes back what was changed on the page, then leads back to
// the page before with what was changed there, and never changes another page.
#include <doctest/doctest.h>

#include "app/lesson/page_text.h"
#include "app/session/commands.h"
#include "app/window/page_edits.h"
#include "app/window/page_turns.h"
#include "app/window/playlist_making.h"
#include "app/window/window_commands.h"
#include "core/lessons/lessons.h"
#include "tests/app/window/lecture_bench.h"

using namespace headwise;

namespace {

// The second page is the first with its mask off; the last three share a scenario with it.
constexpr const char* masked = R"({ "headwise_playlist": 1, "title": "Masks", "pages": [
  { "scenario": "causal", "step": "mask", "caption": "Masked." },
  { "set": ["mask.is_causal=false"], "step": "mask", "caption": "Open." },
  { "caption": "Open, too." }, { "caption": "Still open." }, { "caption": "The end." } ] })";

struct Masked : LectureBench {
  Masked() : LectureBench(masked) {}
  void keys(std::initializer_list<const char*> names) {
    for (const char* name : names) key(name);
  }
  // Whether the page stands as it is in its playlist, and says so.
  bool stands_at(std::size_t page) {
    return walk().page == page && bench.scenario() == *this->page().scenario && !ui().has("caption/changed");
  }
  void command(CommandId id) {
    perform(state(), CommandCall{id});
    ui().run_until_still();
  }
};

constexpr const char* nothing_here =
    "There is nothing to undo on this page. Page Up goes to the previous page.";

}  // namespace

TEST_CASE("undo leads back to what was changed before a page was put back, wherever that page has moved to") {
  BENCH_OR_SKIP(Masked, lecture);
  lecture.command(CommandId::remove_page);
  lecture.keys({"PageDown", "C"});
  REQUIRE(lecture.walk().page == 1);
  REQUIRE(lecture.page().caption == "Open, too.");
  lecture.command(CommandId::put_back_page);
  REQUIRE(lecture.stands_at(0));
  CHECK(undo_label(lecture.state().document) == "turn the page");
  lecture.key("Ctrl+Z");
  CHECK(lecture.walk().page == 2);
  CHECK(lecture.page().caption == "Open, too.");
  CHECK(lecture.says("You changed this page: causal mask on."));
}

TEST_CASE("undo after a page turn leads back to the changed page, also where the next one equals it") {
  BENCH_OR_SKIP(Masked, lecture);
  lecture.keys({"C", "PageDown"});
  REQUIRE(lecture.stands_at(1));
  CHECK(undo_label(lecture.state().document) == "turn the page");
  lecture.key("Ctrl+Z");
  CHECK(lecture.walk().page == 0);
  CHECK_FALSE(lecture.bench.scenario().mask.is_causal);
  CHECK(lecture.says("You changed this page: causal mask off."));
  lecture.key("Ctrl+Z");
  CHECK(lecture.stands_at(0));
  lecture.keys({"Ctrl+Z"});
  CHECK(lecture.stands_at(0));
  lecture.keys({"Ctrl+Y"});
  CHECK(lecture.says("You changed this page: causal mask off."));
}

TEST_CASE("undo does not blame a page for what was changed, and taken back, on another with its scenario") {
  BENCH_OR_SKIP(Masked, lecture);
  lecture.key("PageDown");
  lecture.keys({"C", "PageDown", "Ctrl+Z", "Ctrl+Z"});
  CHECK(lecture.stands_at(1));
  lecture.keys({"PageDown", "PageDown"});
  CHECK(lecture.stands_at(3));
  CHECK(undo_label(lecture.state().document).empty());
  lecture.key("Ctrl+Z");
  CHECK(lecture.stands_at(3));
  CHECK(lecture.tells(nothing_here));
  // Edits of each page are its own, and undo goes through both.
  lecture.keys({"C", "PageDown", "C", "M"});
  CHECK(lecture.says("You changed this page: causal mask on, mute head 0."));
  lecture.keys({"Ctrl+Z", "Ctrl+Z"});
  CHECK(lecture.stands_at(4));
  lecture.key("Ctrl+Z");
  CHECK(lecture.walk().page == 3);
  CHECK(lecture.says("You changed this page: causal mask on."));
  lecture.key("Ctrl+Z");
  CHECK(lecture.stands_at(3));
}

TEST_CASE("a page that was updated says of what is taken back that it was changed, and of no other page") {
  BENCH_OR_SKIP(Masked, lecture);
  lecture.keys({"PageDown", "C"});
  lecture.command(CommandId::update_page);
  CHECK(lecture.stands_at(1));
  lecture.key("Ctrl+Z");
  CHECK(lecture.says("You changed this page."));
}

TEST_CASE("what was changed on a page of a lesson is not led back to on the own page it was visited from") {
  BENCH_OR_SKIP(Masked, lecture);
  visit_lesson(lecture.state(), lesson_playlist("break_it"), 0);
  lecture.ui().run_until_still();
  lecture.keys({"C", "Escape", "Escape"});
  REQUIRE(lecture.stands_at(0));
  lecture.key("Ctrl+Z");
  CHECK(lecture.stands_at(0));
  CHECK(lecture.tells("There is nothing to undo on this page."));
}

TEST_CASE("pages that are added, put back or moved take nothing over from the page before") {
  BENCH_OR_SKIP(Masked, lecture);
  lecture.keys({"PageDown", "C"});
  lecture.command(CommandId::add_page);
  lecture.key("Ctrl+Z");  // while its caption is written
  CHECK(lecture.tells(nothing_here));
  lecture.ui().click("caption/edit");
  CHECK(lecture.stands_at(2));
  CHECK(lecture.bench.scenario().mask.is_causal);
  lecture.command(CommandId::undo);
  CHECK(lecture.walk().page == 1);
  CHECK(lecture.says("You changed this page: causal mask on."));
  lecture.keys({"Ctrl+Z", "PageDown"});
  CHECK(lecture.stands_at(2));

  lecture.command(CommandId::remove_page);
  REQUIRE(lecture.stands_at(2));
  lecture.key("C");
  lecture.command(CommandId::put_back_page);
  CHECK(lecture.stands_at(2));
  CHECK(lecture.bench.scenario().mask.is_causal);
  lecture.key("Ctrl+Z");  // to what was changed meanwhile, on a page that has moved
  CHECK(lecture.walk().page == 3);
  CHECK(lecture.says("You changed this page: causal mask on."));
  lecture.key("Ctrl+Z");
  CHECK(lecture.stands_at(3));

  lecture.keys({"C", "PageDown"});
  REQUIRE(lecture.stands_at(4));
  lecture.command(CommandId::page_earlier);
  CHECK(lecture.stands_at(3));
  lecture.key("Ctrl+Z");
  CHECK(lecture.stands_at(3));
}

TEST_CASE("undo brings back a page's words as they were, whether their field has the focus or not") {
  BENCH_OR_SKIP(Masked, lecture);
  const std::string before = lecture.page().caption;
  lecture.ui().click("caption/edit").type(" Typed").type(" on.");
  REQUIRE(lecture.page().caption == before + " Typed on.");
  CHECK(undo_label(lecture.state().document) == "edit the words");
  lecture.key("Ctrl+Z");
  CHECK(lecture.page().caption == before);
  lecture.ui().type(" Again.");
  lecture.key("Escape");
  lecture.ui().click("caption/text");
  lecture.key("Ctrl+Z");
  CHECK(lecture.page().caption == before);
  lecture.ui().type("A caption.").click("caption/title").type("A heading");
  lecture.key("Escape").key("Ctrl+Z");
  CHECK(lecture.page().title.empty());
  CHECK(lecture.page().caption != before);
  lecture.key("Ctrl+Z");
  CHECK(lecture.page().caption == before);
  // What was changed last is undone first.
  lecture.ui().click("caption/text").type("More");
  lecture.command(CommandId::toggle_causal);
  lecture.key("Ctrl+Z");
  CHECK(lecture.bench.scenario().mask.is_causal);
  CHECK(lecture.page().caption != before);
  lecture.key("Ctrl+Z");
  CHECK(lecture.page().caption == before);
  CHECK(lecture.walk().page == 0);
}

TEST_CASE("where nothing can be undone or redone a word says so, of a page before only where there is one") {
  BENCH_OR_SKIP(Masked, lecture);
  lecture.key("Ctrl+Z");
  CHECK(lecture.tells("There is nothing to undo on this page."));
  lecture.key("Ctrl+Y");
  CHECK(lecture.tells("There is nothing to redo."));
  lecture.keys({"F5", "PageDown"});
  CHECK(lecture.state().view.notices.notices.empty());
  lecture.key("Ctrl+Z");
  CHECK(lecture.tells(nothing_here));
  leave_walk(lecture.state());
  lecture.state().view.notices.dismiss_all();
  lecture.key("Ctrl+Z");
  CHECK(lecture.tells("There is nothing to undo."));
}

TEST_CASE("a notice about a page does not outlive its being shown, nor one about its number its place") {
  BENCH_OR_SKIP(Masked, lecture);
  const std::string updated =
      "Page 2 now shows what the window shows. “Put page back” in the Teach menu undoes this.";
  const auto turn = [&](auto how) {
    lecture.show(1).key("C").key("Ctrl+U");
    REQUIRE(lecture.tells(updated));
    lecture.key("Ctrl+U");
    REQUIRE(lecture.tells("The page shows this already."));
    how();
    lecture.ui().run_frames(2);
    CHECK(lecture.state().view.notices.notices.empty());
  };
  turn([&] { lecture.key("PageDown"); });
  turn([&] { lecture.ui().click("caption/forward"); });
  turn([&] { lecture.ui().click("filmstrip/page/0"); });
  turn([&] { lecture.key("F5"), lecture.key("Right"), lecture.key("Escape"); });
  turn([&] { lecture.key("Alt+Down"); });
  lecture.key("Alt+Up");
  turn([&] { lecture.key("Ctrl+M"); });
}

TEST_CASE("a key that has nothing to do says so: a head past the last, and what the full screen hides") {
  BENCH_OR_SKIP(Masked, lecture);
  lecture.key("F5");
  const Index heads = lecture.bench.trace().options.num_heads;
  lecture.key("Up");
  CHECK(lecture.tells("Head 0 is the first head."));
  for (Index head = 1; head < heads; ++head) lecture.key("Down");
  lecture.key("Down");
  CHECK(lecture.now().head == heads - 1);
  CHECK(lecture.tells(fmt::format("Head {} is the last head: there is no head {}.", heads - 1, heads)));
  lecture.key("W");
  CHECK(
      lecture.tells("“All the way” is on: point at a number to highlight everything it depends on and "
                    "everything it feeds."));
  lecture.key("W");
  CHECK(lecture.tells("“All the way” is off."));
  lecture.now().pinned = CellRef{{TensorId::attn_weights}, {0, heads - 1, 3, 1}};
  lecture.key("W");
  CHECK(lecture.tells(
      "“All the way” is on: everything this number depends on, and everything it feeds, is highlighted."));
}

TEST_CASE("turning the pages of a model is nothing that undo could take back") {
  BENCH_OR_SKIP(LectureBench, bench, R"({ "headwise_playlist": 1, "pages": [
    { "scenario": "welcome", "step": "softmax", "caption": "One." }, { "caption": "Two." },
    { "set": ["mask.is_causal=true"], "caption": "Three." } ] })");
  for (const char* key : {"F5", "End", "PageUp", "PageUp", "Ctrl+Z"}) bench.key(key);
  CHECK(bench.walk().page == 0);
  CHECK_FALSE(bench.bench.scenario().mask.is_causal);
  CHECK_FALSE(bench.ui().has("caption/changed"));
}

TEST_CASE("undo leads back to every edit of the page before, also one that makes another page's scenario") {
  BENCH_OR_SKIP(LectureBench, bench, R"({ "headwise_playlist": 1, "pages": [
    { "scenario": "welcome", "step": "softmax", "head": 7, "caption": "One." }, { "caption": "Two." },
    { "set": ["mask.is_causal=true"], "caption": "Three." } ] })");
  for (const char* key : {"C", "PageDown", "Ctrl+Z"}) bench.key(key);
  CHECK(bench.walk().page == 0);
  CHECK(bench.bench.scenario().mask.is_causal);
  CHECK(bench.walk().words.edits == "causal mask on");
  for (const char* key : {"M", "PageDown", "Ctrl+Z"}) bench.key(key);
  CHECK(bench.walk().page == 0);
  CHECK(bench.walk().words.edits == "causal mask on, mute head 7");
  for (const char* key : {"Ctrl+Z", "C", "C", "PageDown", "Ctrl+Z"}) bench.key(key);
  CHECK(bench.walk().page == 1);
}
