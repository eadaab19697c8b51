// What the export dialog offers for the picture of a map: the same choices as the command line's export.
#include "app/session/tensor_export.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

// The dialog over the map of one head's weights.
struct MapExport {
  TemporaryFolder folder;
  WindowBench bench;
  explicit MapExport(int width = 1280, int height = 720, float scale = 1.0f)
      : bench(open_window(width, height, preset_scenario("hand_made"), scale)) {
    if (!bench.ui) return;
    bench.show(Step::softmax);
    ask();
  }
  UiDriver& ui() { return *bench.ui; }
  ExportDialogState& dialog() { return bench.state().dialogs.export_dialog; }
  void ask() {
    ui().key("Ctrl+E").click("export/subject/this map");
    ui().run_frames(3);  // the dialog finds its size
  }
  void replace(std::string_view field, std::string_view text) {
    ui().click(field).key("Ctrl+A").type(text).run_frames(2);
  }
  // By the button, so that what was typed last is taken over.
  std::string exported(const std::string& name) {
    replace("export/path", folder.file(name));
    ui().click("export/accept");
    CHECK_FALSE(dialog().open);
    return content_of(folder.file(name));
  }
  // What the command line would write.
  std::string expected(const TensorExport& what, ExportFormat format) {
    std::string written;
    export_writer(bench.trace(), bench.session().inputs().labels, what,
                  format)([&](std::span<const std::byte> bytes) {
      written.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    });
    return written;
  }
};

}  // namespace

TEST_CASE("the picture of a map gets the title, label, font size and dpi that are typed, and keeps them") {
  BENCH_OR_SKIP(MapExport, map);
  TensorExport what = map.dialog().what;
  CHECK(map.exported("usual.pdf") == map.expected(what, ExportFormat::pdf));
  map.ask();
  map.replace("export/title/text", "Figure 1");
  map.replace("export/bar/text", "weight");
  map.replace("export/font_size", "23");
  map.replace("export/dpi", "192");
  what.title = "Figure 1";
  what.picture = {.bar_label = "weight", .font_size = 23};
  what.dpi = 192;
  const std::string svg = map.exported("own.svg");
  CHECK(svg == map.expected(what, ExportFormat::svg));
  CHECK_CONTAINS(svg, ">Figure 1</text>");
  map.ask();
  CHECK(map.exported("own.png") == map.expected(what, ExportFormat::png));
  // An emptied field is the usual again.
  map.ask();
  map.ui().click("export/title/text").key("Ctrl+A").key("Delete").click("export/font_size").key("Ctrl+A");
  map.ui().key("Delete");
  what.title.reset();
  what.picture.font_size = 0.0;
  CHECK(map.exported("emptied.svg") == map.expected(what, ExportFormat::svg));
}

TEST_CASE("own words do not pass to the picture of another map; no title and no colour bar do") {
  BENCH_OR_SKIP(MapExport, map);
  map.replace("export/title/text", "Head 0");
  map.ui().click("export/bar/none");
  CHECK_FALSE(map.ui().has("export/bar/text"));
  map.ui().key("Escape");
  map.ask();
  CHECK(map.dialog().what.title == "Head 0");
  map.ui().key("Escape").key("3");
  map.ask();
  REQUIRE(map.dialog().what.head == 3);
  CHECK_FALSE(map.dialog().what.title.has_value());
  CHECK_FALSE(map.dialog().what.picture.color_bar);
  map.ui().click("export/title/none").key("Escape").key("4");
  map.ask();
  CHECK(map.dialog().what.title == "");
  const std::string bare = map.exported("bare.svg");
  CHECK_LACKS(bare, "attn_weights");
  CHECK_LACKS(bare, "all heads");
  map.ask();
  map.ui().click("export/bar/no label");
  CHECK(map.dialog().what.picture.color_bar);
  CHECK(map.dialog().what.picture.bar_label == "");
  map.ui().click("export/title/shown").click("export/bar/labelled");
  CHECK_CONTAINS(map.exported("usual.svg"), ">all heads<");
}

TEST_CASE("a format that is chosen sets the extension, and a table has no choices of pictures") {
  BENCH_OR_SKIP(MapExport, map);
  map.replace("export/path", map.folder.file("map.v2"));
  for (const std::string_view word : export_format_words()) {
    map.ui().click("export/format/" + std::string(word));
    CHECK(map.dialog().path == map.folder.file("map.v2.") + std::string(word));
    CHECK(map.ui().has("export/dpi") == (word == "png" || word == "svg" || word == "pdf"));
  }
  CHECK(map.exported("weights.NPY").find("NUMPY") == 1);
}

TEST_CASE("numbers out of bounds are explained and not taken; a range that is upside down is not exported") {
  BENCH_OR_SKIP(MapExport, map);
  map.replace("export/font_size", "3");
  CHECK(map.ui().has("error"));
  CHECK(map.dialog().what.picture.font_size == 0.0);
  // The line that says so does not go while the next field is pressed, which would move away.
  map.replace("export/dpi", "0.5");
  CHECK(map.ui().has("error"));
  CHECK(map.dialog().what.dpi == usual_dpi);
  map.replace("export/font_size", "401");
  CHECK(map.ui().has("error"));
  CHECK(map.dialog().what.picture.font_size == 0.0);
  map.ui().click("export/dpi");
  const UiRect dpi = map.ui().rect("export/dpi");
  map.ui().key("Ctrl+A").type("5").key("Enter");
  map.ui().drag(dpi.min.x + 20, dpi.min.y + 5, dpi.min.x - 400, dpi.min.y + 5);
  CHECK(map.dialog().what.dpi == dpi_choice.least);
  map.ui().click("export/range/fixed").run_frames(2);
  map.replace("export/range/lo", "2");
  CHECK(map.ui().has("error"));
  map.replace("export/path", map.folder.file("fixed.svg"));
  map.ui().key("Enter").click("export/accept");
  CHECK(map.dialog().open);
  CHECK(content_of(map.folder.file("fixed.svg")).empty());
  map.replace("export/range/lo", "-0.25");
  map.ui().key("Enter");
  CHECK_FALSE(map.ui().has("error"));
  const std::string svg = map.exported("fixed.svg");
  CHECK_CONTAINS(svg, ">fixed<");
  CHECK(map.dialog().what.range == ValueRange{-0.25, 1.0});
}

TEST_CASE("the dialog with all its rows fits into the window, each row below the one before") {
  constexpr std::pair<int, int> sizes[] = {{1280, 720}, {1600, 1000}, {900, 600}};
  for (const Theme theme : {Theme::light, Theme::dark})
    for (const auto& [width, height] : sizes) {
      BENCH_OR_SKIP(MapExport, map, width, height);
      map.bench.state().view.settings.theme = theme;
      map.ui().click("export/range/fixed").run_frames(3);
      CAPTURE(width);
      float last = 0.0f;
      for (const char* row :
           {"export/path", "export/format", "export/subject", "export/heads", "export/color_map",
            "export/range", "export/range/lo", "export/range/hi", "export/theme", "export/title",
            "export/title/text", "export/bar", "export/bar/text", "export/cell_pixels", "export/font_size",
            "export/dpi", "export/accept"}) {
        CAPTURE(row);
        const UiRect rect = map.ui().rect(row), panel = map.ui().rect("overlay/export");
        CHECK(rect.min.y >= last);
        CHECK(rect.min.x > panel.min.x);
        CHECK(rect.max.x < panel.max.x);
        last = rect.max.y;
        CHECK(last < static_cast<float>(height));
      }
      map.ui().save_png("map_export_" + std::to_string(width) + "_" +
                        std::string(theme_names[static_cast<std::size_t>(theme)]));
    }
}
