// What the words of a query find in the command palette, and what they do not.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/window/window_commands.h"
#include "tests/app/palette_bench.h"

using namespace headwise;

TEST_CASE("a question in plain English finds its answer") {
  const Session session(preset_scenario("hand_made"));
  const std::vector<PaletteEntry> all = palette_entries(session, ""), questions = question_entries();
  REQUIRE(questions.size() > 20);
  const auto first = [&](const std::vector<PaletteEntry>& entries, const std::string& query) {
    const std::vector<PaletteMatch> matches = find_entries(entries, query);
    return matches.empty() ? std::string("nothing") : entries[matches[0].entry].name;
  };
  const auto finds = [&](const std::string& query, const std::string& name) {
    CAPTURE(query);
    CHECK(first(questions, query) == name);
    // Beside the commands it is near the top.
    const std::vector<PaletteMatch> matches = find_entries(all, query);
    bool near = false;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, matches.size()); ++i)
      near = near || all[matches[i].entry].name == name;
    CHECK(near);
  };
  const char* scale = "Why divide by √d_k, and why use the head's width?";
  const char* wide = "Is one head of 128 the same as 8 of 16?";
  const char* empty = "What if every key of a row is blocked?";
  const char* split = "Is the embedding cut into heads, or the projection?";
  finds("why divide by sqrt", scale);
  finds("Why do we divide by the square root of dk?", scale);
  finds("one head of 512", wide);
  finds("wholly masked", empty);
  finds("fully masked row", empty);
  finds("when are the heads cut", split);
  finds("when exactly are the heads split?", split);
  finds("does True mean keep or block", "Does True in a mask keep, or block?");
  finds("why is there a W_O after the heads", "Why a fourth linear layer, W_O?");
  CHECK(first(questions, "my cat sleeps xyzzy today") != "nothing");
  CHECK(first(all, "blorp xyzzy qqzz") != "nothing");
  CHECK(first(all, "glossary") == "Documentation");
}

TEST_CASE("the training is found by whoever wonders how heads come to differ") {
  const Session session(preset_scenario("hand_made"));
  const std::vector<PaletteEntry> entries = palette_entries(session, "");
  for (const char* query : {"why do the heads do different things", "how do heads learn", "watch it learn",
                            "train", "who tells a head what to do", "training data"}) {
    CAPTURE(query);
    const std::vector<PaletteMatch> matches = find_entries(entries, query);
    std::string listed;
    bool near = false;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, matches.size()); ++i) {
      const PaletteEntry& entry = entries[matches[i].entry];
      near = near || entry.target == decltype(entry.target)(CommandCall{CommandId::train});
      listed += entry.name + "; ";
    }
    CAPTURE(listed);
    CHECK(near);
  }
}

TEST_CASE("names are found before sentences, and a sentence before some of its words") {
  const Session session(preset_scenario("hand_made"));
  const std::vector<PaletteEntry> entries = palette_entries(session, "");
  const auto first = [&](const char* query) { return entries[find_entries(entries, query).at(0).entry].name; };
  CHECK(first("is it the same") == "Is it the same?");
  CHECK(first("go to the softmax") == "Go to Softmax");
  CHECK(find_entries(entries, "undo xyzzy").size() >= 1);
  CHECK(find_entries(entries, "xyzzy").empty());
}

TEST_CASE("a setting is found by its name or by what it is about, shown and given the keyboard") {
  WindowBench bench = open_unpainted(1280, 620);  // so low that rows are left out and others scrolled away
  if (!bench.ui) return;
  CHECK_FALSE(bench.ui->has("setup/mask_convention"));
  const std::pair<const char*, const char*> queries[] = {
      {"temperature", "temperature"}, {"dropout", "dropout"},     {"shown as", "mask_convention"},
      {"softcap", "softcap"},         {"num_heads", "num_heads"}, {"gain", "gain"},
      {"KV heads", "groups"},         {"setting: scale", "scale"}};
  for (const auto& [query, row] : queries) {
    CAPTURE(query);
    ask_for(bench, query);
    CAPTURE(listed(bench).at(0));
    const bool named = listed(bench).front().starts_with("Setting: ") || query == std::string_view("dropout");
    CHECK(named);
    if (!listed(bench).front().starts_with("Setting: ")) bench.ui->key("Down");
    bench.ui->key("Enter").run_frames(3);
    const std::string id = std::string("setup/") + row;
    REQUIRE(bench.ui->has(id));
    const UiRect there = bench.ui->rect(id), panel = bench.ui->rect("panel/setup");
    CHECK(there.min.y >= panel.min.y);
    CHECK(there.max.y <= panel.max.y);
    const FocusOrder& focus = bench.state().view.focus;
    CHECK(focus.focused != 0);
    CHECK(focus.ring);
    CHECK(focus.ring_min.y >= there.min.y - 2);
    CHECK(focus.ring_max.y <= there.max.y + 2);
    bench.ui->key("Escape");
  }
  ask_for(bench, "mask convention");
  const std::vector<std::string> names = listed(bench);
  CHECK(std::find(names.begin(), names.end(), "Setting: masks shown as") - names.begin() < 3);
  bench.ui->key("Escape");
  ask_for(bench, "temperature");
  bench.ui->key("Enter").type("2");
  CHECK(bench.scenario().attention.temperature == 2.0);
}

TEST_CASE("a brush of the mask is found by what it does, and lies in the hand on the Mask step") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  const std::pair<std::string, std::string> queries[] = {{"paint", "Paint mask pairs"},
                                                         {"block pairs", "Paint mask pairs"},
                                                         {"brush", "Paint mask pairs"},
                                                         {"brush row", "Paint rows of the mask"},
                                                         {"paint column", "Paint columns of the mask"},
                                                         {"box", "Paint a box of the mask"}};
  for (const auto& [query, name] : queries) {
    CAPTURE(query);
    bench.selection().view = StageView::tokens;
    ask_for(bench, query);
    REQUIRE_FALSE(listed(bench).empty());
    CHECK(listed(bench).front() == std::string(name));
    bench.ui->key("Enter").run_frames(2);
    CHECK(bench.selection().step == Step::mask);
    CHECK(bench.selection().view == StageView::one_head);
    bench.ui->key("Home");
  }
  ask_for(bench, "box");
  bench.ui->key("Enter").run_frames(70);
  const UiRect map = bench.ui->rect("stage/result");
  const float w = (map.max.x - map.min.x) / 12, h = (map.max.y - map.min.y) / 12;
  bench.ui->drag(map.min.x + 2.5f * w, map.min.y + 4.5f * h, map.min.x + 3.5f * w, map.min.y + 6.5f * h, 5);
  CHECK(bench.scenario().edits.size() == 6);
  ask_for(bench, "clear painted");
  bench.ui->key("Enter");
  CHECK(bench.scenario().edits.empty());
}

TEST_CASE("every setting that is offered has its row, in stage-only windows too") {
  WINDOW_OR_SKIP(bench, open_unpainted(900, 700));
  bench.ui->key("C");
  for (const PaletteEntry& entry : palette_entries(bench.session(), "")) {
    const auto* setting = std::get_if<SettingId>(&entry.target);
    if (!setting) continue;
    CAPTURE(setting->row);
    bench.state().view.stage_only = true;
    perform(bench.state(), entry);
    bench.ui->run_frames(5);
    CHECK(bench.ui->has(setting->row));
    CHECK(bench.state().view.focus.focused != 0);
  }
}

TEST_CASE("letters strewn over a name find nothing") {
  const Session session(preset_scenario("hand_made"));
  const std::vector<PaletteEntry> entries = palette_entries(session, "");
  const auto finds = [&](const char* query, const char* name) {
    return std::ranges::any_of(find_entries(entries, query),
                               [&](const PaletteMatch& match) { return entries[match.entry].name == name; });
  };
  CHECK_FALSE(finds("shown as", "Walk the cells"));
  CHECK_FALSE(finds("akhel", "Walk the cells"));
  CHECK(finds("wtc", "Walk the cells"));
  CHECK(finds("sftmx", "Go to Softmax"));
}

TEST_CASE("a query of any length is answered at once") {
  const Session session(preset_scenario("hand_made"));
  const std::vector<PaletteEntry> entries = palette_entries(session, "");
  CHECK(find_entries(entries, "").size() == entries.size());
  CHECK(find_entries(entries, " \t ").size() == entries.size());
  CHECK(find_entries(entries, "head head head").size() == find_entries(entries, "head").size());
  std::string endless;
  while (endless.size() < 1'000'000) endless += "a ";
  CHECK(find_entries(entries, endless).empty());
  CHECK(find_entries(entries, "\xf0\x9f\x99\x82 \xff").empty());
  CHECK(find_entries(entries, "q∘k").size() >= 1);
}
