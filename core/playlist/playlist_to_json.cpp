#include <fmt/format.h>

#include "core/files/json_text.h"
#include "core/playlist/answer_key.h"
#include "core/playlist/playlist.h"
#include "core/scenario/json_document.h"
#include "core/scenario/scenario_json.h"

namespace headwise {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson answer_json(const PageAnswer& answer) {
  if (answer.kind == AnswerKind::shape) return {{"kind", "shape"}, {"is", answer.is}};
  if (answer.kind == AnswerKind::head) return {{"kind", "head"}, {"is", answer.is}};
  if (answer.kind == AnswerKind::weights)
    return {{"kind", "weights"}, {"is", answer.is}, {"within", answer.within}};
  if (answer.kind == AnswerKind::mask) return {{"kind", "mask"}, {"is", answer.is}};
  if (answer.kind == AnswerKind::cell) {
    OrderedJson json{{"kind", "cell"}, {"tensor", tensor_entry(*answer.tensor).name}};
    if (!answer.row.empty()) json["row"] = answer.row;
    if (!answer.column.empty()) json["column"] = answer.column;
    return json;
  }
  if (!answer.chooses()) {
    OrderedJson json{{"kind", "number"}, {"is", answer.is}};
    if (answer.within > 0.0) json["within"] = answer.within;
    if (answer.within_share > 0.0) json["within_share"] = answer.within_share;
    if (!answer.unit.empty()) json["unit"] = answer.unit;
    if (!answer.why.empty()) json["why"] = answer.why;
    return json;
  }
  OrderedJson options = OrderedJson::array();
  for (const AnswerOption& option : answer.options) {
    OrderedJson json{{answer.kind == AnswerKind::tensor ? "tensor" : "text", option.text}, {"is", option.is}};
    if (!option.why.empty()) json["why"] = option.why;
    if (!option.see.empty()) json["see"] = option.see;
    options.push_back(std::move(json));
  }
  return {{"kind", answer_kind_words[static_cast<std::size_t>(answer.kind)]}, {"options", std::move(options)}};
}

// Writes only what differs from the reader's defaults.
OrderedJson page_json(const PlaylistPage& page, const PlaylistPage* before, const std::string& folder,
                      PlaylistText text) {
  const PlaylistPage first;
  OrderedJson json = OrderedJson::object();
  const bool same = before && (before->scenario == page.scenario || *before->scenario == *page.scenario);
  if (!same)
    json["scenario"] = ordered_json_of(scenario_to_json(with_files_relative_to(*page.scenario, folder)));
  const PlaylistPage& at = before ? *before : first;
  json["step"] = step_word(page.step);
  if (page.view != at.view) json["view"] = stage_view_words[static_cast<std::size_t>(page.view)];
  if (page.batch != (same ? at.batch : 0)) json["batch"] = page.batch;
  if (page.head != (same ? at.head : 0)) json["head"] = page.head;
  if (page.beside) json["beside"] = compare_word(*page.beside);
  if (page.tensor) json["tensor"] = tensor_entry(*page.tensor).name;
  if (page.pin) json["pin"] = {{"tensor", to_string(page.pin->tensor)}, {"index", page.pin->index}};
  if (page.spotlight) json["spotlight"] = true;
  const auto word = [](const auto& words, auto choice) { return words[static_cast<std::size_t>(choice)]; };
  if (page.masks_as) json["masks_as"] = word(mask_convention_words, *page.masks_as);
  if (!page.title.empty()) json["title"] = page.title;
  if (!page.ask.empty()) json["ask"] = page.ask;
  // A page without a question has no other step or view to ask at.
  if (page.asks_elsewhere() && page.ask_step) json["ask_step"] = step_word(*page.ask_step);
  if (page.asks_elsewhere() && page.ask_view) json["ask_view"] = word(stage_view_words, *page.ask_view);
  if (!page.ask.empty() && page.veil) json["veil"] = true;
  // What is still being written could be read again only from a draft.
  if (!page.ask.empty() && page.answer && (text == PlaylistText::draft || written_problem(*page.answer).empty()))
    json["answer"] = answer_json(*page.answer);
  if (!page.caption.empty() || !page.ask.empty()) json["caption"] = page.caption;
  if (!page.keywords.empty()) json["keywords"] = page.keywords;
  if (!page.notes.empty()) json["notes"] = page.notes;
  return json;
}

}  // namespace

std::string playlist_to_json(const Playlist& playlist, const std::string& folder, PlaylistText text) {
  OrderedJson pages = OrderedJson::array();
  for (std::size_t i = 0; i < playlist.pages.size(); ++i)
    pages.push_back(page_json(playlist.pages[i], i > 0 ? &playlist.pages[i - 1] : nullptr, folder, text));
  OrderedJson json{{"headwise_playlist", 1}};
  if (!playlist.title.empty()) json["title"] = playlist.title;
  json["pages"] = std::move(pages);
  return json_text(json, {.indent = 2, .replaces_bytes = true}) + "\n";
}

}  // namespace headwise
