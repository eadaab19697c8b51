#include "app/web/html_lesson.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "app/session/computation.h"
#include "app/web/html_text.h"
#include "app/web/page_data.h"
#include "core/attention/steps.h"
#include "core/export/color_map.h"
#include "core/files/element_type.h"
#include "core/lessons/answer_key.h"
#include "core/lessons/live_text.h"
#include "core/lessons/page_words.h"
#include "core/tensor/error.h"
#include "core/tensor/version.h"

namespace headwise {

std::string_view embedded_page_html(), embedded_page_css(), embedded_page_attention(),
    embedded_page_live_value(), embedded_page_live_expression(), embedded_page_live_text(),
    embedded_page_answers(), embedded_page_provenance(), embedded_page_maps(), embedded_page_elements(),
    embedded_page_reader(), embedded_page_questions(), embedded_page_stage(), embedded_page_walk();

namespace {

std::string deflated(const std::string& text) {
  return deflated_base64(std::as_bytes(std::span(text)));
}

// What the scripts draw; other views are pictures.
bool is_drawn(StageView view) {
  return view == StageView::one_head || view == StageView::all_heads || view == StageView::head_rows;
}

std::string view_word(StageView view) {
  return std::string(stage_view_words[static_cast<std::size_t>(view)]);
}

// Appends the quantities of a page's texts and of its keys, each once.
void add_quantities_of(const PlaylistPage& page, std::vector<LiveQuantity>& all) {
  const auto text = [&](const std::string& written) {
    for (LiveQuantity& quantity : live_quantities(written))
      if (std::ranges::find(all, quantity) == all.end()) all.push_back(std::move(quantity));
  };
  const auto key = [&](const std::string& written) {
    if (!written.empty()) add_quantities(whole_expression(written), all);
  };
  text(page.ask);
  text(page.caption);
  if (!page.answer) return;
  text(page.answer->why);
  for (const std::string* written : {&page.answer->row, &page.answer->column}) key(*written);
  if (!page.answer->chooses()) key(page.answer->is);
  for (const AnswerOption& option : page.answer->options) {
    text(option.text);
    text(option.why);
    key(option.is);
  }
}

// Writes the pages of a playlist with the scenarios that they use.
class PageWriter {
 public:
  PageWriter(const Playlist& playlist, const std::string& name, const PagePicture& picture)
      : playlist_(playlist), name_(name), picture_(picture) {
    // Each page as a playlist's file has it, with all its keys (core/lessons/playlist.h).
    pages_ = PageJson::parse(playlist_to_json(playlist)).at("pages");
  }

  HtmlLesson write() {
    for (std::size_t i = 0; i < playlist_.pages.size(); ++i) write_page(i);
    return {html(), std::move(pictured_)};
  }

 private:
  void write_page(std::size_t at) {
    const PlaylistPage& page = playlist_.pages[at];
    PageJson& json = pages_[at];
    json.erase("scenario");  // it has the arrays that are computed with instead
    json.erase("set");
    json.erase("notes");  // for the presenter
    json["step"] = step_word(page.step);
    json["view"] = view_word(page.view);
    json["batch"] = page.batch;
    json["head"] = page.head;
    const bool computes = estimated_work(*page.scenario) <= most_work;
    if (computes)
      json["data"] = scenario_of(at);
    else
      write_words(at);
    const bool asks_elsewhere = page.ask_view && !is_drawn(*page.ask_view);
    if (is_drawn(page.view) && computes && !asks_elsewhere) return;
    pictured_.push_back(fmt::format("page {}: {}", at + 1,
                                    computes
                                        ? "the view " + view_word(asks_elsewhere ? *page.ask_view : page.view)
                                        : std::string("its scenario is too large to compute in a browser")));
    if (!page.ask.empty()) json["ask_picture"] = picture_index(picture_(at, true));
    json["picture"] = picture_index(picture_(at, false));
  }

  // Of a page that is not computed in the browser: its texts as they are here, and no answer to be judged.
  void write_words(std::size_t at) {
    const PlaylistPage& page = playlist_.pages[at];
    compute_for(at);
    const PageWords words = page_words(page, *page.scenario, computed_->inputs, *computed_->trace);
    if (!page.ask.empty()) pages_[at]["ask"] = words.ask;
    pages_[at]["caption"] = words.caption;
    pages_[at].erase("answer");
  }

  // The index of the page's scenario in the data. Pages with equal scenarios share one.
  std::size_t scenario_of(std::size_t at) {
    const Scenario& scenario = *playlist_.pages[at].scenario;
    compute_for(at);
    const auto known = std::ranges::find(scenarios_, scenario);
    if (known != scenarios_.end()) return static_cast<std::size_t>(known - scenarios_.begin());
    std::vector<LiveQuantity> texts;
    for (const PlaylistPage& page : std::span(playlist_.pages).subspan(at))
      if (*page.scenario == scenario) add_quantities_of(page, texts);
    data_.push_back(scenario_data(*computed_, texts, tensors_));
    scenarios_.push_back(scenario);
    return scenarios_.size() - 1;
  }

  void compute_for(std::size_t at) {
    try {
      const Scenario& scenario = *playlist_.pages[at].scenario;
      if (!computed_ || !(computed_->scenario == scenario)) computed_ = compute(scenario, computed_.get());
    } catch (const Error& error) {
      throw Error(error.status(), {.where = fmt::format("{}: page {}", name_, at + 1), .what = error.what()});
    }
    const std::string problem = page_problem(playlist_.pages[at], *computed_->trace);
    if (!problem.empty())
      throw Error(ExitStatus::usage, {.where = fmt::format("{}: page {}", name_, at + 1), .what = problem});
  }

  std::size_t picture_index(const std::string& svg) {
    const auto known = std::ranges::find(pictures_, svg);
    if (known != pictures_.end()) return static_cast<std::size_t>(known - pictures_.begin());
    pictures_.push_back(svg);
    return pictures_.size() - 1;
  }

  // Letters and what else is declared of each tensor.
  static PageJson tensor_table() {
    PageJson table = PageJson::object();
    for (const TensorEntry& entry : tensor_entries()) {
      PageJson axes = PageJson::array();
      const std::string_view shape = entry.shape;
      for (std::size_t begin = 1, end = 0; begin < shape.size(); begin = end + 1) {
        end = std::min(shape.find_first_of(",)", begin), shape.size());
        axes.push_back(shape.substr(begin, end - begin));
      }
      table[std::string(entry.name)] = {{"axes", std::move(axes)},
                                        {"probabilities", entry.probabilities},
                                        {"what", entry.what},
                                        {"step", static_cast<int>(step_of(entry.id))}};
    }
    return table;
  }

  static PageJson step_table() {
    PageJson table = PageJson::array();
    for (const StepEntry& entry : step_entries())
      table.push_back({{"word", step_word(entry.step)}, {"name", entry.name}, {"question", entry.question}});
    return table;
  }

  // "rrggbb", of a table 256 times, for each theme a page may have.
  static PageJson color_tables() {
    const auto hex = [](Rgba8 color) { return fmt::format("{:02x}{:02x}{:02x}", color.r, color.g, color.b); };
    PageJson themes = PageJson::object();
    for (const Theme theme : {Theme::light, Theme::dark}) {
      PageJson& own = themes[std::string(theme_names[static_cast<std::size_t>(theme)])];
      for (const ColorMap map : {ColorMap::viridis, ColorMap::blue_orange}) {
        std::string colors;
        for (const Rgba8& color : color_table(map, theme)) colors += hex(color);
        own[map == ColorMap::viridis ? "probabilities" : "signed"] = colors;
      }
      own["blocked"] = hex(blocked_color(theme));
      own["nan"] = hex(nan_color(theme));
    }
    return themes;
  }

  std::string html() {
    // Deflated, it is small, and the expressions of the keys do not lie open to whoever looks at the source.
    const PageJson data{
        {"title", playlist_.title},      {"version", version()},         {"tensor_table", tensor_table()},
        {"steps", step_table()},         {"colors", color_tables()},     {"pages", std::move(pages_)},
        {"scenarios", std::move(data_)}, {"arrays", tensors_.entries()}, {"pictures", std::move(pictures_)}};
    const std::string packed = fmt::format("{{\"lesson\":\"{}\",\"numbers\":\"{}\"}}", deflated(data.dump()),
                                           deflated(tensors_.bytes()));
    std::string script;
    for (const auto part : {embedded_page_attention, embedded_page_live_value, embedded_page_live_expression,
                            embedded_page_live_text, embedded_page_answers, embedded_page_provenance,
                            embedded_page_maps, embedded_page_elements, embedded_page_reader,
                            embedded_page_questions, embedded_page_stage, embedded_page_walk})
      script += part();
    std::string page(embedded_page_html());
    const auto fill = [&page](std::string_view name, std::string_view with) {
      const std::size_t at = page.find(name);
      page.replace(at, name.size(), with);
    };
    fill("@title@", html_text(playlist_.title.empty() ? name_ : playlist_.title));
    fill("@style@", embedded_page_css());
    fill("@script@", script);
    fill("@data@", packed);  // last: what it contains is not looked through
    if (page.size() > most_page_bytes)
      throw Error(ExitStatus::output, {.where = name_,
                                       .what = "the page would be too large for a browser",
                                       .got = fmt::format("{} MiB", page.size() >> 20),
                                       .expected = fmt::format("at most {} MiB", most_page_bytes >> 20),
                                       .remedy = "use fewer pages or smaller scenarios"});
    return page;
  }

  static constexpr double most_work = 2e8;  // multiply-adds: about a second in a browser

  const Playlist& playlist_;
  const std::string& name_;
  const PagePicture& picture_;
  PageJson pages_, data_ = PageJson::array();
  PageTensors tensors_;
  std::vector<Scenario> scenarios_;  // in the order of data_
  std::vector<std::string> pictures_, pictured_;
  ComputationPtr computed_;
};

}  // namespace

HtmlLesson html_lesson(const Playlist& playlist, const std::string& name, const PagePicture& picture) {
  return PageWriter(playlist, name, picture).write();
}

}  // namespace headwise
