#include "app/web/doc_site.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "app/content/doc_pages.h"
#include "app/content/stage_views.h"
#include "app/web/html_lesson.h"
#include "app/web/html_text.h"
#include "core/lessons/lessons.h"
#include "core/scenario/presets.h"
#include "core/tensor/version.h"

namespace headwise {

std::string_view embedded_page_site_css();

namespace {

// `up`: from the page's folder to the site's: "" or "../".
std::string site_page(const std::string& title, std::string_view up, const std::string& body) {
  std::string links;
  for (const DocPage& page : doc_pages())
    links += fmt::format("<a href=\"{}{}.html\">{}</a>\n", up, page.name, html_text(page.label));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{0}</title>\n"
      "<link rel=\"stylesheet\" href=\"{1}site.css\">\n</head>\n<body>\n"
      "<nav><a href=\"{1}index.html\"><strong>Headwise</strong></a>\n{2}</nav>\n<main>\n{3}</main>\n"
      "<footer>Headwise {4}</footer>\n</body>\n</html>\n",
      html_text(title), up, links, body, version());
}

// A playlist of one page that shows a view.
std::string gallery_playlist(const StageViewEntry& view) {
  const std::string word(stage_view_words[static_cast<std::size_t>(view.view)]);
  return fmt::format(
      "{{ \"headwise_playlist\": 1, \"title\": \"{0}\",\n  \"pages\": [\n"
      "    {{ \"scenario\": \"{3}\", \"step\": \"{2}\", \"view\": \"{1}\", \"head\": 0,{4} \"caption\": \"\" "
      "}} ] }}\n",
      view.name, word, view.view == StageView::memory ? "split_heads" : "softmax",
      view.view == StageView::compare ? "hand_made" : "welcome",
      view.view == StageView::compare ? " \"beside\": \"one_wide_head\"," : "");
}

void add_gallery(std::vector<SiteFile>& files, const SitePicture& picture) {
  std::string body =
      "<h1>Gallery</h1>\n<p>A picture of each view of the stage, and the command that makes it from the "
      "playlist beside it.</p>\n";
  const std::vector<StageView> offered = offered_views(preset_scenario("welcome"), StageView::one_head);
  for (const StageViewEntry& view : stage_views()) {
    if (std::ranges::find(offered, view.view) == offered.end()) continue;
    const std::string word(stage_view_words[static_cast<std::size_t>(view.view)]);
    const std::string json = gallery_playlist(view);
    const Playlist playlist = playlist_from_json(json, "the gallery");
    files.push_back({fmt::format("gallery/{}.json", word), json});
    files.push_back({fmt::format("gallery/{}.svg", word), picture(playlist, 0, false)});
    body += fmt::format(
        "<section id=\"{0}\">\n<h2>{1}</h2>\n<p>{2}</p>\n"
        "<p><img src=\"{0}.svg\" alt=\"{2}\"></p>\n"
        "<pre><code>headwise render <a href=\"{0}.json\">{0}.json</a> -o pictures --format svg</code></pre>\n"
        "</section>\n",
        word, html_text(view.name), html_text(view.what));
  }
  files.push_back({"gallery/index.html", site_page("Gallery – Headwise", "../", body)});
}

}  // namespace

std::vector<SiteFile> doc_site(const SitePicture& picture) {
  std::vector<SiteFile> files;
  std::string index =
      "<h1>Headwise</h1>\n<p>See multi-head attention happen, number by "
      "number.</p>\n<h2>Lessons</h2>\n<ul>\n";
  for (const Lesson& lesson : lessons()) {
    const Playlist& playlist = lesson_playlist(lesson.name);
    const auto of_lesson = [&](std::size_t page, bool asks) { return picture(playlist, page, asks); };
    files.push_back({fmt::format("lessons/{}.html", lesson.name),
                     html_lesson(playlist, std::string(lesson.name), of_lesson).html});
    index += fmt::format("<li><a href=\"lessons/{}.html\">{}</a>: {}</li>\n", lesson.name,
                         html_text(playlist.title), html_text(lesson.what));
  }
  index += "</ul>\n<h2>Pages</h2>\n<ul>\n";
  for (const DocPage& page : doc_pages()) {
    files.push_back(
        {page.name + ".html", site_page(page.title + " – Headwise", "", doc_html(page, "", ".html"))});
    index += fmt::format("<li><a href=\"{}.html\">{}</a></li>\n", page.name, html_text(page.title));
  }
  index += "</ul>\n<p><a href=\"gallery/index.html\">Gallery</a>: a picture of each view</p>\n";
  add_gallery(files, picture);
  files.push_back({"index.html", site_page("Headwise", "", index)});
  files.push_back({"site.css", std::string(embedded_page_site_css())});
  return files;
}

}  // namespace headwise
