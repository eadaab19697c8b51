// `headwise render` as a process.
#include <sys/resource.h>

#include <filesystem>
#include <string_view>

#include "core/lessons/stage_view.h"
#include "tests/app/cli/program_run.h"
#include "tests/checks.h"
#include "tests/core/export/read_png.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/skipped.h"

using namespace headwise;

namespace {

namespace fs = std::filesystem;

constexpr const char* lesson = R"({ "headwise_playlist": 1, "title": "Scale", "pages": [
  { "scenario": "hand_made", "step": "inputs", "caption": "Each token is a row." },
  { "step": "scores", "head": 1, "title": "Scores", "caption": "Every query & every <key>.",
    "pin": { "tensor": "scores", "index": [0, 1, 3, 2] }, "spotlight": true },
  { "step": "softmax", "view": "all_heads", "caption": "All heads." } ] })";

std::vector<std::uint8_t> to_bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// False, and said aloud, where this machine has no OpenGL at all.
bool has_gl(const ProgramResult& result) {
  if (result.status != 7) return true;
  test::say_skipped(result.err);
  return false;
}

void check_render_refused(const Words& words, int status, const std::string& part) {
  const ProgramResult result = run_program(joined({{"render"}, words}));
  if (!has_gl(result)) return;
  CAPTURE(result.err);
  CHECK(result.status == status);
  CHECK(is_one_line(result.err));
  CHECK_CONTAINS(result.err, part);
}

}  // namespace

TEST_CASE("every page becomes a PNG of the size that was asked for, and its motion an animated one") {
  const TemporaryFolder folder;
  const std::string file = folder.with_file("lesson.json", lesson), out = folder.file("slides/today");
  const ProgramResult result =
      run_program({"render", file, "-o", out, "--size", "640x360", "--theme", "projector", "--motion"});
  if (!has_gl(result)) return;
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  CHECK_CONTAINS(result.out, "3 pages as .png, 640×360, and 2 motions");
  for (const char* name : {"page-01.png", "page-02.png", "page-03.png"}) {
    const std::string png = content_of(out + "/" + name);
    REQUIRE(png.starts_with("\x89PNG"));
    CHECK(big_endian(png, 16) == 640);
    CHECK(big_endian(png, 20) == 360);
    CHECK_LACKS(png, "acTL");
  }
  CHECK_FALSE(fs::exists(out + "/page-01-motion.png"));
  const std::string motion = content_of(out + "/page-02-motion.png");
  const std::size_t control = motion.find("acTL");
  REQUIRE(control != std::string::npos);
  CHECK(big_endian(motion, control + 4) > 10);
  CHECK(decoded_png(to_bytes(motion)).width == 640);
  // Pages differ, and nothing else was left in the folder.
  CHECK(content_of(out + "/page-01.png") != content_of(out + "/page-02.png"));
  CHECK(std::distance(fs::directory_iterator(out), fs::directory_iterator()) == 5);
}

TEST_CASE("a page that asks has a picture of its question before the one with its answer") {
  const TemporaryFolder folder;
  const std::string file = folder.with_file("lesson.json", R"({ "headwise_playlist": 1, "pages": [
    { "scenario": "hand_made", "step": "scores", "veil": true, "ask": "Where?", "caption": "There.", "answer": {"kind": "choice",
      "options": [{"text": "left", "is": "max scores > 0"}, {"text": "right", "is": "max scores ≤ 0"}]} } ] })");
  const std::string out = folder.file("asked");
  const ProgramResult result = run_program({"render", file, "-o", out, "--format", "svg"});
  if (!has_gl(result)) return;
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  CHECK_CONTAINS(result.out, "1 page as .svg, 1920×1080, and 1 question");
  const std::string question = content_of(out + "/page-01-ask.svg"),
                    answer = content_of(out + "/page-01.svg");
  for (const char* words : {"Where?", "1   left", "2   right", "hidden until you answer"})
    CHECK_CONTAINS(question, words);
  CHECK_LACKS(question, "There.");
  CHECK_CONTAINS(answer, "There.");
  CHECK_LACKS(answer, "hidden");
}

TEST_CASE("an SVG has its words as text, its cells as shapes, and no shape that is not finite") {
  const TemporaryFolder folder;
  const std::string file = folder.with_file("lesson.json", lesson), out = folder.file("svg");
  const ProgramResult result =
      run_program({"render", file, "-o", out, "--format", "svg", "--size", "1280x720"});
  if (!has_gl(result)) return;
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  const std::string svg = content_of(out + "/page-02.svg");
  CHECK(svg.starts_with("<?xml"));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK_CONTAINS(svg, "width=\"1280\" height=\"720\"");
  for (const char* words : {">Scores</text>", ">Every query &amp; every &lt;key&gt;.</text>",
                            ">because</text>", "font-weight=\"bold\"", "Mono"}) {
    CHECK_MESSAGE(svg.find(words) != std::string::npos, words);
  }
  CHECK_LACKS(svg, "data:image/png;base64,");
  // As a hall sees it: the map that the step makes,
  // without the thumbnails of the heads and what it was made from.
  CHECK_LACKS(svg, ">heads</text>");
  CHECK_LACKS(svg, "q_heads[0,");
  CHECK_LACKS(svg, "nan");
  CHECK_LACKS(svg, "inf\"");
  // What is there only to be clicked is not.
  for (const char* control : {"Tokens", "Gradients", "click"}) CHECK_LACKS(svg, control);
}

TEST_CASE("a playlist becomes one PDF with a page for each slide, or a PDF for each") {
  const TemporaryFolder folder;
  const std::string file = folder.with_file("lesson.json", lesson), out = folder.file("slides.pdf");
  const ProgramResult result = run_program({"render", file, "-o", out, "--size", "640x360"});
  if (!has_gl(result)) return;
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  CHECK_CONTAINS(result.out, "slides.pdf: 3 pages as .pdf, 640×360");
  const std::string pdf = content_of(out);
  CHECK(count_of(pdf, "/MediaBox [ 0 0 480 270 ]") == 3);
  CHECK_CONTAINS(pdf, "/Count 3");
  CHECK_CONTAINS(pdf, "+DejaVuSans-Bold");
  CHECK_LACKS(pdf, "CreationDate");
  run_well({"render", file, "-o", out, "--size", "640x360"});
  CHECK(content_of(out) == pdf);
  REQUIRE(run_program({"render", file, "-o", folder.file("each"), "--format", "pdf", "--size", "640x360"}).status ==
          0);
  for (const char* name : {"each/page-01.pdf", "each/page-02.pdf", "each/page-03.pdf"})
    CHECK_CONTAINS(content_of(folder.file(name)), "/Count 1");
  check_render_refused({file, "-o", out, "--motion"}, 2, "animations");
  check_render_refused({file, "-o", out, "--format", "svg"}, 2, "one PDF");
}

TEST_CASE("a slide has one title, and in no view anything to click or a hint to do so") {
  const TemporaryFolder folder;
  std::string pages;
  for (const std::string_view view : stage_view_words)
    pages += std::string(pages.empty() ? "" : ", ") + R"({ "scenario": "welcome", "step": ")" +
             (view == "memory" ? "split_heads" : "softmax") + R"(", "view": ")" + std::string(view) +
             (view == "compare" ? R"(", "beside": "scale)" : "") +
             R"(", "title": "A heading", "caption": "Words." })";
  const std::string file =
      folder.with_file("lesson.json", R"({ "headwise_playlist": 1, "pages": [)" + pages + "] }");
  const std::string out = folder.file("svg");
  const ProgramResult result =
      run_program({"render", file, "-o", out, "--format", "svg", "--size", "1280x720"});
  if (!has_gl(result)) return;
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  for (std::size_t page = 1; page <= stage_view_words.size(); ++page) {
    CAPTURE(stage_view_words[page - 1]);
    const bool of_memory = stage_view_words[page - 1] == "memory";
    const std::string svg =
        content_of(out + (page < 10 ? "/page-0" : "/page-") + std::to_string(page) + ".svg");
    CHECK(count_of(svg, ">A heading</text>") == 1);
    CHECK(count_of(svg, of_memory ? ">Split heads</text>" : ">Softmax</text>") <= 1);
    CHECK(count_of(svg, ">Words.</text>") == 1);
    for (const char* control :
         {"click", "press ", "Move the mouse", "pin this", ">pinned<", "beside", ">each head<",
          ">query gives<", ">95 %<", "first cell", ">‹<", "‹", "One head", ">rows<", "mute a head"})
      CHECK_MESSAGE(svg.find(control) == std::string::npos, control);
  }
}

TEST_CASE("a wrong rendering is one line, with the exit status of what is wrong") {
  const TemporaryFolder folder;
  const std::string file = folder.with_file("lesson.json", lesson), out = folder.file("out");
  check_render_refused({file}, 2, "--output is required");
  check_render_refused({folder.file("none.json"), "-o", out}, 2, "file not found");
  check_render_refused(
      {folder.with_file("bad.json", R"({"headwise_playlist":1,"pages":[{"step":"scor"}]})"), "-o", out}, 2,
      "\"scores\"");
  check_render_refused({file, "-o", out, "--size", "1920"}, 2, "WIDTHxHEIGHT");
  check_render_refused({file, "-o", out, "--size", "10x10"}, 2, "160");
  check_render_refused({file, "-o", out, "--format", "webp"}, 2, "png, svg or pdf");
  check_render_refused({file, "-o", out, "--theme", "beige"}, 2, "projector");
  CHECK_FALSE(fs::exists(out));
  check_render_refused({file, "-o", file}, 4, "folder");
  // What the system does not even let be looked at, as in a folder that may not be entered.
  check_render_refused({file, "-o", folder.file(std::string(300, 'a'))}, 4,
                       "the folder cannot be created: got File name too long");
  check_render_refused({"welcome", "-o", out}, 2, "this is a preset");
  check_render_refused({folder.with_file("head.json", R"({"headwise_playlist":1,"pages":[{},{"head":40}]})"),
                        "-o", out, "--size", "320x200"},
                       2, "page 2: there is no head 40");
  check_render_refused(
      {folder.with_file("odd.json", R"({"headwise_playlist":1,"pages":[{"set":["attention.num_heads=7"]}]})"),
       "-o", out, "--size", "320x200"},
      2, "page 1");
}

TEST_CASE("a number that a page asks for and that is not there is told, and the picture is made anyway") {
  const TemporaryFolder folder;
  const std::string path = folder.with_file(
      "gap.json", R"({ "headwise_playlist": 1, "pages": [ { "scenario": "hand_made", "step": "scores",
        "caption": "Row 99 has {max scores[0,0,99,:]}." } ] })");
  const ProgramResult result = run_program({"render", path, "-o", folder.file("slides"), "--size", "320x200"});
  if (!has_gl(result)) return;
  CHECK(result.status == 0);
  CHECK_CONTAINS(result.err, "page 1: there is no number for {max scores[0,0,99,:]}");
  CHECK(fs::exists(folder.file("slides/page-01.png")));
}

// AddressSanitizer reserves terabytes for itself: under a limit of memory it cannot start.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool no_render_limits = true;
#else
constexpr bool no_render_limits = false;
#endif

TEST_CASE("with little memory render says so, and never crashes" * doctest::skip(no_render_limits)) {
  const TemporaryFolder folder;
  const std::string playlist = folder.with_file("lesson.json", lesson);
  int refused = 0;
  for (const rlim_t mebibytes : {60, 150, 235, 250, 265, 330, 350, 375, 400, 500}) {
    CAPTURE(mebibytes);
    const auto limited = [mebibytes] {
      const rlimit limit{mebibytes << 20, mebibytes << 20};
      setrlimit(RLIMIT_AS, &limit);
    };
    const ProgramResult result =
        run_program({"render", playlist, "-o", folder.file("pictures")}, {"", limited, {}});
    CAPTURE(result.err);
    if (!has_gl(result)) return;
    if (result.status == 0) continue;
    CHECK(result.status == 5);
    CHECK(is_one_line(result.err));
    CHECK_CONTAINS(result.err, "memory");
    ++refused;
  }
  CHECK(refused >= 5);
}
