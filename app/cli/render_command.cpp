// headwise render: the pages of a playlist as pictures.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include "app/cli/command_line.h"
#include "app/cli/command_options.h"
#include "app/cli/playlist_argument.h"
#include "app/cli/report.h"
#include "app/cli/standard_streams.h"
#include "app/platform/offscreen_context.h"
#include "app/session/tensor_export.h"
#include "app/web/doc_site.h"
#include "app/web/html_lesson.h"
#include "app/window/slides.h"
#include "app/window/stage_pictures.h"
#include "app/window/window_state.h"
#include "core/export/pdf_document.h"
#include "core/files/atomic_file.h"
#include "core/lessons/page_words.h"
#include "core/scenario/presets.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view docs_name = "docs";
constexpr int html_picture_width = 1280, html_picture_height = 800;

struct RenderWords {
  std::string playlist, output, size = "1920x1080", theme = "light", format = "png";
  bool motion = false, strict = false, json = false;
};

void write_bytes(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  write_file_atomically(path, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

// Whether it ends with this extension, in either case.
bool ends_with(std::string path, std::string_view extension) {
  std::ranges::transform(path, path.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return path.ends_with(extension);
}

// Throws Error(usage) for the name of one picture.
void require_folder_name(const std::string& output) {
  const std::string extension = fs::path(output).extension().string();
  std::error_code missing;
  for (const char* picture : {".png", ".apng", ".svg", ".jpg", ".jpeg", ".gif", ".pptx"})
    if (extension == picture && !fs::is_directory(output, missing))
      refuse_option("--output", "this is the name of one file", output,
                    "a folder for the pictures, or one file that ends in .pdf or .html");
}

void make_folder(const std::string& folder) {
  std::error_code error, unseen;  // a folder that may not be entered cannot be inspected either
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder, unseen))
    throw Error(ExitStatus::output, {.where = folder,
                                     .what = "the folder cannot be created",
                                     .got = error ? error.message() : "a file of this name",
                                     .expected = "a folder for the pictures"});
}

// As show_slide; throws if the page cannot be shown as it specifies.
void show(WindowState& window, const Playlist& playlist, const std::string& name, std::size_t page,
          bool asking, Warnings& warnings) {
  WindowDocument& document = window.document;
  const std::string place = fmt::format("page {}", page + 1);
  const std::string why = show_slide(window, playlist, page, asking);
  if (!why.empty()) refuse_option(page_place(name, page), why);
  warnings.set_place("");  // each page has gaps of its own, even where they read the same
  for (const std::string& gap :
       page_gaps(playlist.pages[page], document.session.inputs(), document.trace_at_hand()))
    warnings.add(gap.starts_with("if ")
                     ? fmt::format("{}: no condition of {{{}: …}} holds, so nothing is shown for it", place, gap)
                     : fmt::format("{}: there is no number for {{{}}}, so – is shown for it", place, gap));
  warnings.set_place(place);
  for (const std::string& note : document.session.inputs().notes) warnings.add(note);
  for (const std::string& warning : document.session.trace().warnings) warnings.add(warning);
}

// A line of JSON.
void print_picture(const Playlist& playlist, const SlideName& slide, const std::string& file) {
  const Json line{{"page", slide.page + 1},
                  {"title", playlist.pages[slide.page].title},
                  {"asks", slide.asks},
                  {"file", file}};
  print(line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

// Draws pages for HTML, when the first is asked for: only they need OpenGL.
class HtmlPictures {
 public:
  explicit HtmlPictures(const std::string& name) : name_(name) {}

  std::string svg(const Playlist& playlist, std::size_t page, bool asks) {
    if (!context_) {
      context_.emplace(64, 64);
      window_.emplace(preset_scenario("welcome"));
      pictures_.emplace(html_picture_width, html_picture_height, Theme::light);
    }
    Warnings unread;  // of the pages' texts: HTML says them itself
    show(*window_, playlist, name_, page, asks, unread);
    return pictures_->svg(*window_);
  }

 private:
  std::string name_;
  std::optional<OffscreenContext> context_;
  std::optional<WindowState> window_;
  std::optional<StagePictures> pictures_;
};

// The documentation as a folder of pages.
void render_docs(const RenderWords& wanted) {
  HtmlPictures pictures("docs");
  const std::vector<SiteFile> files = doc_site([&](const Playlist& playlist, std::size_t page, bool asks) {
    return pictures.svg(playlist, page, asks);
  });
  for (const SiteFile& file : files) {
    const fs::path path = fs::path(wanted.output) / file.path;
    make_folder(path.parent_path().string());
    write_file_atomically(path.string(), file.content);
    if (wanted.json) print(Json{{"file", path.string()}}.dump() + "\n");
  }
  if (!wanted.json)
    print(fmt::format("{}: {}; begin with {}\n", wanted.output, counted(std::ssize(files), "file"),
                      (fs::path(wanted.output) / "index.html").string()));
}

// A lesson in one file, for a browser.
void render_html(const Playlist& playlist, const RenderWords& wanted, Warnings& warnings) {
  HtmlPictures pictures(wanted.playlist);
  const auto picture = [&](std::size_t page, bool asks) { return pictures.svg(playlist, page, asks); };
  const HtmlLesson page = html_lesson(playlist, wanted.playlist, picture);
  if (page.html.size() > usual_page_bytes)
    warnings.add(fmt::format("{}: {:.1f} MB is large for a phone or a mail", wanted.output,
                             static_cast<double>(page.html.size()) * 1e-6));
  warnings.refuse_where(wanted.strict);
  write_file_atomically(wanted.output, page.html);
  if (wanted.json) {
    for (std::size_t i = 0; i < playlist.pages.size(); ++i)
      print_picture(playlist, {.page = i, .asks = !playlist.pages[i].ask.empty(), .name = {}}, wanted.output);
    return;
  }
  print(fmt::format("{}: {} as one file, {:.2f} MB\n", wanted.output,
                    counted(std::ssize(playlist.pages), "page"), static_cast<double>(page.html.size()) * 1e-6));
  for (const std::string& pictured : page.pictured) print(fmt::format("  as a picture: {}\n", pictured));
}

}  // namespace

void run_render(CommandOptions& options, const Words& words) {
  RenderWords wanted;
  options.value(
      "PLAYLIST", wanted.playlist,
      "A playlist file (.json), or the name of a lesson; docs: the documentation, as a folder of web pages",
      {.required = true});
  options.value(
      "-o,--output", wanted.output,
      "The folder for the pictures, created if missing; or one file with all pages: .pdf, or .html to walk "
      "through in a browser, where attention is computed and answers are judged",
      {.type = "FOLDER|FILE", .required = true});
  options.value("--size", wanted.size, "The size of each picture in pixels",
                {.type = "WxH", .shows_default = true});
  options.value("--theme", wanted.theme, "light, dark or projector", {.type = "NAME", .shows_default = true});
  options.value("--format", wanted.format, "png, svg or pdf: of each picture",
                {.type = "NAME", .shows_default = true});
  options.flag("--motion", wanted.motion, "Also write the animation of each page's step, as an animated PNG");
  add_strict_flag(options, wanted.strict);
  options.flag("--json", wanted.json,
               "Print a line of JSON for each picture, or each page of one file, as it is written");
  if (!options.parse(words)) return;

  refuse_standard_stream("--output", wanted.output);
  const PixelSize size =
      pixel_size_of(wanted.size, StagePictures::least_side, StagePictures::largest_side, "1920x1080");
  const Theme theme = theme_of(wanted.theme);
  const bool one_file = ends_with(wanted.output, ".pdf"), html = ends_with(wanted.output, ".html");
  for (const char* option : {"--size", "--theme", "--format", "--motion"})
    if ((html || wanted.playlist == docs_name) && options.given(option))
      refuse_option(option, "a page for a browser follows its window and the reader's settings", "",
                    "a folder or a .pdf as output");
  const bool docs = wanted.playlist == docs_name && !is_playlist_file(wanted.playlist);
  if (!one_file && !html) require_folder_name(wanted.output);
  if (docs && (one_file || html))
    refuse_option("--output", "the documentation is a folder of pages", wanted.output, "a folder");
  if (docs) return render_docs(wanted);
  const std::string& format = wanted.format;
  if (format != "png" && format != "svg" && format != "pdf")
    refuse_option("--format", "there is no such format", format, "png, svg or pdf");
  if (one_file && options.given("--format") && format != "pdf")
    refuse_option("--format", "the output is one PDF", format, "pdf, or a folder as output");
  if (one_file && wanted.motion)
    refuse_option("--motion", "a PDF has no animations", "", "a folder as output");
  const Playlist playlist = playlist_named(wanted.playlist);
  check_pages(playlist, wanted.playlist);  // before the first picture is written
  Warnings warnings;
  if (html) return render_html(playlist, wanted, warnings);
  const OffscreenContext context(64, 64);  // pictures have a framebuffer of their own

  WindowState window(preset_scenario("welcome"));
  if (wanted.strict)  // every page before the first picture is written
    for (std::size_t i = 0; i < playlist.pages.size(); ++i)
      show(window, playlist, wanted.playlist, i, false, warnings);
  warnings.refuse_where(wanted.strict);
  PdfDocument document;
  StagePictures pictures(size.width, size.height, theme, StagePictures::Look::presentation);
  std::optional<StagePictures> moving;  // with what the result is made from: numbers fly from there
  if (wanted.motion) moving.emplace(size.width, size.height, theme);
  std::size_t motions = 0, questions = 0;
  for (const SlideName& slide : slide_names(playlist)) {
    const std::string name = fmt::format("{}/page-{}", wanted.output, slide.name);
    show(window, playlist, wanted.playlist, slide.page, slide.asks, warnings);
    if (!one_file) make_folder(wanted.output);  // not for a playlist that cannot be shown
    if (one_file)
      pictures.add_page(window, document);
    else if (format == "svg")
      write_file_atomically(name + ".svg", pictures.svg(window));
    else if (format == "pdf")
      write_file_atomically(name + ".pdf", pictures.pdf(window));
    else
      write_bytes(name + ".png", to_png(pictures.image(window)));
    if (wanted.json) print_picture(playlist, slide, one_file ? wanted.output : name + "." + format);
    if (slide.asks) ++questions;
    if (slide.asks || !wanted.motion ||
        !no_motion(window.view.selection, window.document.session.trace()).empty())
      continue;
    write_bytes(name + "-motion.png", moving->motion(window));
    ++motions;
  }
  if (one_file) write_file_atomically(wanted.output, document.finish());
  if (wanted.json) return;
  const auto also = [](std::size_t count, const char* what) {
    return count == 0 ? "" : ", and " + counted(static_cast<Index>(count), what);
  };
  print(fmt::format("{}: {} as .{}, {}×{}{}{}\n", wanted.output, counted(std::ssize(playlist.pages), "page"),
                    one_file ? "pdf" : format, size.width, size.height, also(questions, "question"),
                    also(motions, "motion")));
}

}  // namespace headwise
