#include "app/session/answer_check.h"

#include <fmt/format.h>

#include "app/session/computation.h"
#include "core/files/file_paths.h"
#include "core/lessons/lessons.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

std::optional<std::size_t> page_of(const Playlist& playlist, const std::string& title) {
  for (std::size_t i = 0; i < playlist.pages.size(); ++i)
    if (playlist.pages[i].title == title) return i;
  return {};
}

void check_links(const Playlist& playlist, const PageAnswer& answer, const std::string& place) {
  for (std::size_t i = 0; i < answer.options.size(); ++i) {
    const std::string& title = answer.options[i].see;
    if (title.empty() || page_titled(playlist, title)) continue;
    throw Error(ExitStatus::usage,
                {.where = fmt::format("{}.options[{}].see", place, i),
                 .what = "there is no page of this title",
                 .got = fmt::format("\"{}\"", title),
                 .expected = "the title of a page of this playlist, or of a built-in lesson"});
  }
}

}  // namespace

std::optional<TitledPage> page_titled(const Playlist& playlist, const std::string& title) {
  if (const auto own = page_of(playlist, title)) return TitledPage{"", *own};
  for (const Lesson& lesson : lessons())
    if (const auto page = page_of(lesson_playlist(lesson.name), title))
      return TitledPage{std::string(lesson.name), *page};
  for (const Lesson& lesson : lessons())
    if (lesson_playlist(lesson.name).title == title) return TitledPage{std::string(lesson.name), 0};
  return {};
}

std::vector<PageKey> checked_keys(const Playlist& playlist, const std::string& where, bool trains_models,
                                  const SeenQuestion& seen) {
  std::vector<PageKey> keys;
  ComputationPtr computed;  // of the last such page: the next one may share it
  for (std::size_t i = 0; i < playlist.pages.size(); ++i) {
    const PlaylistPage& page = playlist.pages[i];
    if (!page.answer) continue;
    const std::string place = fmt::format("{}: page {}: answer", where, i + 1);
    check_links(playlist, *page.answer, place);
    PageKey& key = keys.emplace_back();
    key.page = i;
    try {
      if (trains_models && waits_for_model(*page.scenario)) make_folder(*page.scenario->parameters.file);
      key.too_large = !computes_at_once(*page.scenario);
      if (key.too_large) continue;
      if (!computed || !(computed->scenario == *page.scenario))
        computed = compute(*page.scenario, computed.get());
    } catch (const Error& error) {
      throw Error(error.status(), {.where = place, .what = error.what()});
    }
    PageWords words = page_words(page, *page.scenario, computed->inputs, *computed->trace);
    if (!words.key.problem.empty())
      throw Error(ExitStatus::usage, {.where = place,
                                      .what = words.key.problem,
                                      .remedy = "change the page's scenario, or the expressions in \"is\""});
    if (seen) seen(i, words, LiveSubject(*computed->trace, page.scenario.get(), &computed->inputs));
    key.key = std::move(words.key);
    key.options = std::move(words.options);
  }
  return keys;
}

Playlist read_checked_playlist(const std::string& path) {
  Playlist playlist = read_playlist_file(path);
  checked_keys(playlist, path);
  return playlist;
}

}  // namespace headwise
