// Edits in the setup, and those that have no result.
#include <doctest/doctest.h>

#include "core/scenario/embeddings.h"
#include "tests/app/window/edit_bench.h"
#include "tests/checks.h"

using namespace headwise;

TEST_CASE("muting a head changes the output in the same frame, and undo restores it exactly") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key("End");
  const TracePtr before = bench.session().trace_ptr();
  const std::vector<std::uint8_t> stage = part(bench, "panel/stage");
  bench.ui->key("3");
  const std::vector<std::uint8_t> stage_at_3 = part(bench, "panel/stage");
  bench.ui->push(KeyChanged{'M', true}).run_frames(1);
  REQUIRE(bench.scenario().head_gain.has_value());
  CHECK(bench.scenario().head_gain->at(3) == 0.0);
  CHECK_FALSE(identical(*before->tensors.output, *bench.trace().tensors.output));
  bench.ui->push(KeyChanged{'M', false}).run_frames(3);
  CHECK(part(bench, "panel/stage") != stage_at_3);
  CHECK(
      bench.session().last_edit().starts_with("Head 3 muted: concat[:, 48:64] is 0, the output changed by "));
  bench.ui->key("Ctrl+Z");
  check_identical(*before, bench.trace());
  CHECK(part(bench, "panel/stage") == stage_at_3);
  bench.ui->key("Ctrl+Y");
  CHECK(bench.scenario().head_gain->at(3) == 0.0);
  bench.ui->key("Ctrl+Z").key("0");
  CHECK(part(bench, "panel/stage") == stage);
  bench.ui->key("Ctrl+Shift+Z");
  CHECK(bench.scenario().head_gain->at(3) == 0.0);
}

TEST_CASE("solo mutes all heads but one, and unsolo unmutes them") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key("2").key("S");
  REQUIRE(bench.scenario().head_gain.has_value());
  for (std::size_t head = 0; head < 8; ++head)
    CHECK(bench.scenario().head_gain->at(head) == (head == 2 ? 1.0 : 0.0));
  CHECK(bench.session().last_edit().starts_with("Only head 2 is unmuted"));
  bench.ui->key("S");
  CHECK_FALSE(bench.scenario().head_gain.has_value());
}

TEST_CASE("the causal mask is switched by click and by key") {
  WINDOW_OR_SKIP(bench, open_window());
  const TracePtr before = bench.session().trace_ptr();
  bench.ui->click("setup/causal/on");
  CHECK(bench.scenario().mask.is_causal);
  CHECK(bench.trace().tensors.attn_weights->at({0, 0, 0, 1}) == 0.0);
  CHECK(bench.session().last_edit().starts_with(
      "Causal mask on: 46 % of the pairs are blocked, the output changed by"));
  REQUIRE(bench.ui->has("setup/alignment"));
  bench.ui->click("setup/alignment/bottom-right");
  CHECK(bench.scenario().mask.causal_alignment == CausalAlignment::bottom_right);
  bench.ui->key("Escape").key("C");
  CHECK_FALSE(bench.scenario().mask.is_causal);
  for (int i = 0; i < 3; ++i) bench.ui->key("Ctrl+Z");
  check_identical(*before, bench.trace());
}

TEST_CASE("a text is typed, and all that typing is one undo step") {
  WINDOW_OR_SKIP(bench, open_window());
  const Scenario before = bench.scenario();
  const TracePtr trace = bench.session().trace_ptr();
  type_into(bench, "setup/text", "The bird sang. It was glad!");
  CHECK(bench.scenario().inputs.text == "The bird sang. It was glad!");
  CHECK(bench.trace().tensors.query->shape().size(1) == token_count("The bird sang. It was glad!"));
  CHECK(bench.session().inputs().labels.query[1] == "bird");
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario() == before);
  check_identical(*trace, bench.trace());
  bench.ui->key("Ctrl+Y");
  CHECK(bench.scenario().inputs.text == "The bird sang. It was glad!");
}

TEST_CASE("letters beside an emoji leave its bytes alone") {
  Scenario scenario = preset_scenario("hand_made");
  const std::string odd = "caf\xc3\xa9 \xf0\x9f\x98\x80 \xff end";
  scenario.inputs.text = odd;
  WINDOW_OR_SKIP(bench, open_window(900, 1000, scenario));
  bench.ui->click("setup/text");
  CHECK(bench.scenario().inputs.text == odd);
  bench.ui->key("Ctrl+End").type("s");
  CHECK(bench.scenario().inputs.text == odd + "s");
}

TEST_CASE("sizes are typed, and the picture follows") {
  WINDOW_OR_SKIP(bench, open_window(900, 1500));
  const TracePtr before = bench.session().trace_ptr();
  type_into(bench, "setup/num_heads", "4");
  CHECK(bench.trace().options.num_heads == 4);
  CHECK(bench.trace().options.head_dim == 32);
  CHECK(bench.session().last_edit().starts_with("num_heads 8 → 4: the output changed by"));
  type_into(bench, "setup/num_kv_heads", "2");
  CHECK(bench.trace().tensors.k_heads->shape().size(1) == 2);
  type_into(bench, "setup/num_kv_heads", "");
  CHECK_FALSE(bench.scenario().attention.num_kv_heads.has_value());
  type_into(bench, "setup/batch", "2");
  CHECK(bench.trace().tensors.query->shape().size(0) == 2);
  type_into(bench, "setup/scale", "0.5");
  CHECK(bench.scenario().attention.scale == 0.5);
  type_into(bench, "setup/valid_length", "7");
  REQUIRE(bench.scenario().mask.valid_lens.has_value());
  CHECK(bench.scenario().mask.valid_lens->size() == 2);
  CHECK(bench.trace().tensors.attn_weights->at({1, 0, 0, 7}) == 0.0);
  type_into(bench, "setup/window", "3");
  CHECK(bench.scenario().mask.sliding_window == 3);
  type_into(bench, "setup/window", "none");  // as the field shows it
  CHECK_FALSE(bench.scenario().mask.sliding_window);
  type_into(bench, "setup/window", "3");
  type_into(bench, "setup/dropout", "0.5");
  CHECK(bench.scenario().attention.dropout == 0.5);
  bench.ui->key("Escape");
  int undone = 0;
  while (bench.session().history().can_undo()) {
    bench.ui->key("Ctrl+Z");
    ++undone;
  }
  CHECK(undone == 10);
  check_identical(*before, bench.trace());
}

TEST_CASE("undo while a field is edited shows the value that is back") {
  WINDOW_OR_SKIP(bench, open_window());
  type_into(bench, "setup/num_heads", "4");
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario().attention.num_heads == 8);
  // The field goes on from the 8: Backspace and a digit.
  bench.ui->key("End").key("Backspace").type("2");
  CHECK(bench.scenario().attention.num_heads == 2);
}

TEST_CASE("inputs, heads, positions and self or cross are chosen") {
  WINDOW_OR_SKIP(bench, open_window());
  const TracePtr before = bench.session().trace_ptr();
  bench.ui->click("setup/positions/off");
  CHECK_FALSE(bench.scenario().inputs.positions);
  CHECK_FALSE(identical(*before->tensors.query, *bench.trace().tensors.query));
  bench.ui->click("setup/parameters/random");
  CHECK(bench.scenario().parameters.source == ParameterSource::random);
  bench.ui->click("setup/attention/cross");
  REQUIRE(bench.scenario().inputs.key_text.has_value());
  CHECK(bench.trace().tensors.key != bench.trace().tensors.query);
  type_into(bench, "setup/key_text", "one two");
  CHECK(bench.trace().tensors.key->shape().size(1) == 2);
  bench.ui->click("setup/source/random");
  CHECK(bench.scenario().inputs.source == InputSource::random);
  CHECK(bench.session().error().empty());
  type_into(bench, "setup/query_length", "5");
  CHECK(bench.trace().tensors.query->shape().size(1) == 5);
}

TEST_CASE("looking at a number in its field does not edit it") {
  Scenario scenario = preset_scenario("hand_made");
  scenario.attention.scale = 1.0 / 3.0;
  WINDOW_OR_SKIP(bench, open_window(900, 1000, scenario));
  bench.ui->click("setup/scale").key("Right").key("Tab");
  CHECK(bench.scenario() == scenario);
  CHECK(bench.session().history().step_count() == 1);
}

TEST_CASE("Enter ends the typing, Shift+Enter breaks the line, and empty lines at the end take no room") {
  WINDOW_OR_SKIP(bench, open_window());
  type_into(bench, "setup/text", "one two");
  const auto height = [&] {
    const UiRect box = bench.ui->rect("setup/text");
    return box.max.y - box.min.y;
  };
  const float before = height();
  bench.ui->key("Enter");
  CHECK(bench.state().view.focus.focused == 0);
  CHECK(bench.scenario().inputs.text == "one two");
  bench.ui->key("C");  // a command again, and no letter
  CHECK(bench.scenario().mask.is_causal);
  bench.ui->click("setup/text").key("Ctrl+End");
  for (int i = 0; i < 3; ++i) bench.ui->key("Shift+Enter");
  CHECK(bench.scenario().inputs.text == "one two\n\n\n");
  CHECK(height() == before);
  bench.ui->type("three");
  CHECK(bench.scenario().inputs.text == "one two\n\n\nthree");
  CHECK(height() > before);
  type_into(bench, "setup/num_heads", "4");
  bench.ui->key("Enter");
  CHECK(bench.state().view.focus.focused == 0);
  CHECK(bench.trace().options.num_heads == 4);
  type_into(bench, "setup/num_heads", "x");
  bench.ui->key("Enter");  // what is no number is mended first
  CHECK(bench.state().view.focus.focused != 0);
}

TEST_CASE("a size is dragged on its field through what is possible, as one step, and a click still types") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1700));
  const auto drag = [&](const char* field, float pixels) {
    const UiRect rect = bench.ui->rect(field);
    const float x = rect.max.x - 20, y = 0.5f * (rect.min.y + rect.max.y);
    bench.ui->drag(x, y, x + pixels, y, 20).run_frames(3);
  };
  drag("setup/embed_dim", 26);
  CHECK(bench.scenario().attention.embed_dim == 160);  // four steps of num_heads
  CHECK(bench.session().error() == "");
  bench.ui->key("Escape").key("Ctrl+Z");
  CHECK(bench.scenario().attention.embed_dim == 128);
  drag("setup/num_heads", -13);  // 8 → 4 → 2
  CHECK(bench.scenario().attention.num_heads == 2);
  bench.ui->key("Escape").key("Ctrl+Z");
  CHECK(bench.scenario().attention.num_heads == 8);
  drag("setup/temperature", 25);
  CHECK(bench.scenario().attention.temperature == doctest::Approx(1.2));
  bench.ui->key("Escape").click("setup/embed_dim").key("Ctrl+A").type("64");
  CHECK(bench.scenario().attention.embed_dim == 64);
}

TEST_CASE("Shift with a letter is the letter, as the sheet of keys writes it") {
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  bench.ui->key("Shift+C");
  CHECK(bench.scenario().mask.is_causal);
  bench.ui->key("Shift+Right");
  CHECK(bench.selection().step == Step::inputs);
}

TEST_CASE("an impossible size shows its sentence beside the field and keeps the picture") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key("End");
  const TracePtr before = bench.session().trace_ptr();
  const std::vector<std::uint8_t> stage = part(bench, "panel/stage");
  type_into(bench, "setup/num_heads", "7");
  CHECK_FALSE(bench.session().error().empty());
  CHECK(bench.session().trace_ptr() == before);
  const UiRect sentence = bench.ui->rect("error"), field = bench.ui->rect("setup/num_heads");
  CHECK(sentence.min.y >= field.max.y - 1);
  CHECK(sentence.min.y < field.max.y + 30);
  CHECK(part(bench, "panel/stage") == stage);
  CHECK_FALSE(bench.ui->has("notice/lasting"));
  // 126 = 7 · 18: possible again.
  type_into(bench, "setup/embed_dim", "126");
  CHECK(bench.session().error() == "");
  CHECK(bench.trace().options.head_dim == 18);
  CHECK_FALSE(bench.ui->has("error"));
  bench.ui->key("Escape").key("Ctrl+Z");
  check_identical(*before, bench.trace());
}

TEST_CASE("what is no number is told under its field and asked for by nobody") {
  WINDOW_OR_SKIP(bench, open_window());
  const Scenario before = bench.scenario();
  for (const char* nonsense : {"abc", "1e9", "12.5", "--3", "99999999999999999999", ""}) {
    type_into(bench, "setup/embed_dim", nonsense);
    CAPTURE(nonsense);
    CHECK(bench.scenario() == before);
    CHECK(bench.ui->has("error"));
  }
  bench.ui->key("Escape");
  CHECK_FALSE(bench.ui->has("error"));
  CHECK(bench.session().history().step_count() == 1);
  for (const char* size : {"-1", "0", "9223372036854775807", "1000000007"}) {
    type_into(bench, "setup/embed_dim", size);
    bench.session().finish();
    bench.ui->run_frames(2);
    CAPTURE(size);
    CHECK_FALSE(bench.session().error().empty());
    CHECK(bench.ui->has("error"));
  }
  bench.ui->key("Escape");
  bench.ui->key("Escape");  // lets go of what cannot be shown
  CHECK(bench.scenario() == before);
}

TEST_CASE("a refused value is told over the stage once its field is left, and the next edit drops it") {
  for (const bool by_key : {true, false}) {
    WINDOW_OR_SKIP(bench, open_window());
    type_into(bench, "setup/num_heads", "7");
    CHECK_FALSE(bench.ui->has("notice/lasting"));
    bench.ui->key("Enter");
    CHECK_FALSE(bench.session().error().empty());
    bench.ui->check_shown({"notice/lasting", "error"});
    if (by_key) {
      bench.ui->key("C");
    } else {
      bench.ui->click("setup/causal/on");
    }
    CHECK(bench.session().error() == "");
    bench.ui->check_absent({"notice/lasting", "error"});
    CHECK(bench.scenario().attention.num_heads == 8);
    CHECK(bench.scenario().mask.is_causal);
    CHECK(bench.session().last_edit().starts_with(
        "num_heads was reset to 8. Causal mask on: 46 % of the pairs are blocked"));
    bench.ui->key("Ctrl+Z");
    CHECK(bench.scenario() == preset_scenario("hand_made"));
  }
}

TEST_CASE("an error under a row at the foot of the setup is scrolled to, once") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  const UiRect panel = bench.ui->rect("panel/setup");
  // The row stands just over the foot: what is said under it would be cut.
  bench.ui->move_to(0.5 * (panel.min.x + panel.max.x), 0.5 * (panel.min.y + panel.max.y));
  for (int i = 0; i < 40 && bench.ui->rect("setup/num_heads").max.y > panel.max.y; ++i)
    bench.ui->wheel(-0.25);
  const UiRect row = bench.ui->rect("setup/num_heads");
  REQUIRE(row.max.y <= panel.max.y);
  bench.ui->resize(1280, static_cast<int>(720 - (panel.max.y - row.max.y) + 4));
  type_into(bench, "setup/num_heads", "7");
  bench.ui->run_frames(3);
  REQUIRE(bench.ui->has("error"));
  const UiRect there = bench.ui->rect("panel/setup");
  CHECK(bench.ui->rect("error").max.y <= there.max.y);
  CHECK(bench.ui->rect("setup/num_heads").min.y >= there.min.y);
  // Who scrolls on is not taken back.
  bench.ui->move_to(0.5 * (there.min.x + there.max.x), there.min.y + 20).wheel(3).run_frames(3);
  CHECK(bench.ui->rect("error").max.y > there.max.y);
}

TEST_CASE("the error stays with the row at fault: an edit that is wrong too drops the one before") {
  WINDOW_OR_SKIP(bench, open_window(900, 1520));
  type_into(bench, "setup/num_heads", "7");
  type_into(bench, "setup/temperature", "-1");
  CHECK(bench.scenario().attention.num_heads == 8);
  CHECK(bench.scenario().attention.temperature == -1.0);
  CHECK_CONTAINS(bench.session().error(), "temperature");
  CHECK_CONTAINS(bench.session().last_edit(), "num_heads was reset to 8");
  const UiRect sentence = bench.ui->rect("error"), field = bench.ui->rect("setup/temperature");
  CHECK(sentence.min.y >= field.max.y - 1);
  CHECK(sentence.min.y < field.max.y + 30);
  // A head that is muted now is one of eight.
  type_into(bench, "setup/temperature", "1");
  type_into(bench, "setup/num_heads", "7");
  bench.ui->key("Enter").key("2").key("M");
  CHECK(bench.session().error() == "");
  REQUIRE(bench.scenario().head_gain);
  CHECK(*bench.scenario().head_gain == std::vector<double>{1, 1, 0, 1, 1, 1, 1, 1});
}

TEST_CASE("what has no result is not saved, and one sentence says so") {
  WINDOW_OR_SKIP(bench, open_window());
  const auto told = [&] {
    const auto& notices = bench.state().view.notices.notices;
    return notices.empty() ? std::string() : notices.back().text;
  };
  type_into(bench, "setup/num_heads", "7");
  bench.ui->key("Enter").key("Ctrl+S");
  CHECK_FALSE(bench.state().dialogs.files.open);
  CAPTURE(told());
  CHECK(told().starts_with("Not saved: "));
  CHECK_CONTAINS(told(), "num_heads");
  bench.ui->key("Ctrl+Z").key("Ctrl+S");
  CHECK(bench.state().dialogs.files.open);
}

TEST_CASE("Escape puts a refused value back, and a drag stays at the last value that there is a result for") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1700));
  type_into(bench, "setup/num_heads", "7");
  CHECK_FALSE(bench.session().error().empty());
  bench.ui->key("Escape");
  CHECK(bench.session().error().empty());
  CHECK(bench.scenario().attention.num_heads == 8);

  const UiRect rect = bench.ui->rect("setup/num_heads");
  const float x = rect.max.x - 20, y = 0.5f * (rect.min.y + rect.max.y);
  bench.ui->drag(x, y, x + 40, y, 20);  // 16, 32 …: too narrow for heads that are made by hand
  bench.ui->run_frames(3);
  CHECK(bench.session().error().empty());
  CHECK(bench.scenario().attention.num_heads > 8);
  CHECK(bench.scenario().attention.num_heads == bench.trace().options.num_heads);
}
