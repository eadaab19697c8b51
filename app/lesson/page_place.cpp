#include "app/lesson/page_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/content/cell_terms.h"
#include "app/content/stage_content.h"
#include "app/content/stage_views.h"
#include "app/session/tensor_export.h"
#include "app/stage/views.h"

namespace headwise {
namespace {

// "Scores", "Scores in the view All heads", "the view Tokens", which is the same at each step.
std::string place_words(const Selection& place) {
  if (!stage_view_entry(place.view).turns)
    return fmt::format("the view {}", stage_view_entry(place.view).name);
  const std::string_view name = step_entries()[static_cast<std::size_t>(place.step)].name;
  return place.view == StageView::one_head
             ? std::string(name)
             : fmt::format("{} in the view {}", name, stage_view_entry(place.view).name);
}

// "the strongest 80 % of what each query gives"
std::string lines_words(const Trace& trace, const TokenLines& lines) {
  const TensorPtr& weights = trace.tensors.attn_weights;
  const Index tokens = weights ? std::max(weights->shape().size(2), weights->shape().size(3)) : 0;
  const auto share = static_cast<std::size_t>(shown_share(lines, tokens));
  const bool every = share + 1 == TokenLines::shares.size();
  return fmt::format("{} of what each {}",
                     every ? "all" : fmt::format("the strongest {}", TokenLines::share_names[share]),
                     TokenLines::way_names[lines.per_key ? 1 : 0]);
}

// The map that the view shows, where it shows one; else null.
TensorPtr shown_map(const Trace& trace, const Selection& now) {
  const auto picture = stage_view_entry(now.view).turns ? shown_picture(trace, now) : std::nullopt;
  return picture ? trace.tensor(picture->result) : nullptr;
}

// Whether the stage shows one head by itself, as its result or as what that is made from.
bool is_of_one_head(const Trace& trace, const Selection& now) {
  const auto picture = now.view == StageView::one_head ? shown_picture(trace, now) : std::nullopt;
  const auto of_heads = [&](std::optional<TensorId> id) {
    const TensorPtr tensor = id ? trace.tensor(*id) : nullptr;
    return tensor && tensor->shape().rank() == 4 && trace.options.num_heads > 1;
  };
  return shows_one_head(trace, now) || (picture && (of_heads(picture->left) || of_heads(picture->above)));
}

// Whether the selected head is marked where more than it is shown: its columns, or its map among all.
bool marks_a_head(const Trace& trace, const Selection& now) {
  return trace.options.num_heads > 1 && !is_of_one_head(trace, now) &&
         (now.step != Step::inputs || !stage_view_entry(now.view).turns);
}

// In what the stage differs from the page's place of the same step and view: "head 7", "head 3".
PlaylistWalk::Departure detail_left(const PlaylistWalk& walk, const Selection& of_page,
                                    const Selection& on_stage, const Trace& trace, const QueryOnStage& query) {
  // What a changed scenario has no more is no place to go back to: that it was changed is told.
  const Selection place = selection_within(of_page, trace), now = selection_within(on_stage, trace);
  const bool lost_pin = of_page.pinned && !place.pinned;
  PlaylistWalk::Departure left;
  const auto add = [&](const std::string& page, const std::string& stage) {
    const char* between = left.page.empty() ? "" : ", ";
    left.page += between + page;
    left.stage += between + stage;
  };
  const auto compare = [&](const auto& page, const auto& stage, auto words) {
    if (page != stage) add(words(page), words(stage));
  };
  const auto choice = [](const char* text, const auto& names) {
    return [text, &names](auto chosen) {
      return fmt::format(fmt::runtime(text), names[static_cast<std::size_t>(chosen)]);
    };
  };
  const auto numbered = [](const char* what) {
    return [what](Index number) { return fmt::format("{} {}", what, number); };
  };
  const PlaylistPage& page = *walk.shown();
  const StageViewEntry& view = stage_view_entry(now.view);
  // A lesson is explored by its reader, to whom it leaves what it does not set;
  // a class is shown what the words are about.
  const bool explores = walk.from_program && !query.full_screen;

  const auto picture = [&](const Selection& selection) {
    const std::optional<StepPicture> shown = shown_picture(trace, selection);
    return shown ? std::string(tensor_entry(shown->result).name) : "";
  };
  if (view.turns && (walk.answered || !page.asks_covered()))
    compare(picture(place), picture(now), [](const std::string& name) { return name; });
  compare(place.batch, now.batch, numbered("sequence"));
  // While the page asks for a head, its own might be the answer.
  if (is_of_one_head(trace, now) && !asks_for_head(walk)) compare(place.head, now.head, numbered("head"));
  // Few other pages are about one: those that chose another than the first.
  if (marks_a_head(trace, now) && place.head != now.head && place.head > 0 && !explores && !asks_for_head(walk))
    add(fmt::format("head {}", place.head), fmt::format("head {} marked", now.head));

  // Other views mark the pinned cell; these are about its query alone.
  const bool of_query = now.view == StageView::head_rows || now.view == StageView::elementwise ||
                        now.view == StageView::query_key_plane || now.view == StageView::prediction;
  const auto query_at = [](const Selection& at, Index unpinned) {
    return at.pinned && at.pinned->index.size() == 4 ? at.pinned->index[2] : unpinned;
  };
  const Index own = query_at(place, query.first), other = query_at(now, query.chosen.value_or(query.first));
  const bool other_query = of_query && !lost_pin && own != other && (place.pinned || !walk.from_program);
  // A sentence that was changed has other words than the page's.
  const TokenLabels &labels_now = *query.labels,
                    &own_labels = walk.words.labels ? *walk.words.labels : labels_now;
  const auto query_words = [](Index at, const std::vector<std::string>& labels) {
    return fmt::format(fmt::runtime(at < std::ssize(labels) ? "query “{}”" : "query {}"),
                       token_at(labels, at, ""));
  };
  if (other_query) add(query_words(own, own_labels.query), query_words(other, labels_now.query));
  // In the memory a cell is always marked; without a pin, one that the view chooses.
  const bool of_cell = place.pinned || (now.view == StageView::memory && !walk.from_program && !lost_pin);
  const auto cell_words = [&](const std::optional<CellRef>& cell, const TokenLabels& labels) {
    if (!cell) return std::string("no particular cell");
    const std::string tokens = cell_tokens(trace, labels, *cell);
    return box_text(trace, box_of(*cell)) + (tokens.empty() ? "" : fmt::format(" ({})", tokens));
  };
  if (of_cell && place.batch == now.batch && !explores && !other_query && place.pinned != now.pinned)
    add(cell_words(of_page.pinned, own_labels), cell_words(now.pinned, labels_now));
  if (place.pinned && place.pinned == now.pinned && place.head == now.head && !explores)
    compare(place.spotlight, now.spotlight, [](bool lit) {
      return std::string(lit ? "its cell under the spotlight" : "its cell without the spotlight");
    });
  if (query.halfway && view.motion == StepMotion::shown && !explores) add("the whole step", "it halfway");
  if (query.moved && now.view == StageView::query_key_plane && !explores)
    add("the queries of the layer", "a query that was moved");

  const DisplayChoices chosen = choices_of_page(walk);
  if (chosen.beside && now.view == StageView::compare && chosen.beside != now.compare_with) {
    // With another mask or scale than the page's, one button compares with something else.
    const CompareChoices there = compare_choices(trace), here = walk.words.comparisons.value_or(there);
    const auto words = [&](const CompareChoices& choices, CompareWith with) {
      return choice("the comparison with “{}”", choices.names)(with);
    };
    add(words(here, *chosen.beside), words(there, now.compare_with));
  }
  if (chosen.masks_as && now.step == Step::mask && view.turns)
    compare(*chosen.masks_as, now.mask_convention, choice("masks as “{}”", mask_convention_names));
  const TensorPtr map = shown_map(trace, now);
  if (chosen.queries_as_columns && map && is_pair_map(*map))
    compare(*chosen.queries_as_columns, now.queries_as_columns,
            [](bool columns) { return fmt::format("queries as {}", columns ? "columns" : "rows"); });
  // In the view of one head the small maps above it, which a class does not see, are there from the split on.
  const bool small_maps =
      now.view == StageView::one_head && !query.full_screen && now.step >= Step::split_heads;
  const bool maps = now.view == StageView::all_heads && map && map->shape().rank() == 4;
  if (chosen.colors_by_head && (small_maps || maps) && trace.options.num_heads > 1)
    compare(*chosen.colors_by_head, now.colors_by_head, [](bool per_head) {
      return std::string(per_head ? "a colour scale per head" : "one colour scale for all heads");
    });
  if (now.view == StageView::tokens && (!walk.from_program || page.lines != TokenLines{}))
    compare(lines_words(trace, page.lines), lines_words(trace, now.lines),
            [](const std::string& words) { return words; });
  if (now.view == StageView::gradients && (!walk.from_program || page.loss))
    compare(page.loss, now.loss, [&](std::optional<Loss> loss) {
      return loss ? choice("the loss “{}”", loss_names)(*loss) : std::string("the usual loss");
    });
  return left;
}

// Where all heads are shown, the window's other panels would show the one that is asked for.
Selection without_answer(Selection place, const PlaylistPage& page) {
  if (page.asks_for_head() && !stage_view_entry(place.view).of_head) place.head = 0;
  return place;
}

}  // namespace

void ask_at_all_heads(PlaylistPage& page) {
  if (page.asks_for_head() && !page.veil && !page.asks_elsewhere() && stage_view_entry(page.view).of_head)
    page.ask_view = StageView::all_heads;
}

Selection selection_of(const PlaylistPage& page, bool answered) {
  Selection selection;
  selection.batch = page.batch;
  selection.head = page.head;
  selection.lines = page.lines;
  selection.loss = page.loss;
  if (!answered && (page.asks_elsewhere() || veil_of_question(page))) {
    selection.step = page.ask_step.value_or(page.step);
    selection.view = page.ask_view.value_or(page.view);
    return without_answer(selection, page);
  }
  selection.step = page.step;
  selection.view = page.view;
  selection.tensor = page.tensor;
  if (answered || !(page.asks_for_head() || page.asks_for_pinned())) {
    selection.pinned = page.pin;
    selection.spotlight = page.spotlight;
  }
  if (page.beside) selection.compare_with = *page.beside;
  return answered ? selection : without_answer(selection, page);
}

std::optional<PlaylistWalk::Departure> departure_of(const PlaylistWalk& walk, const Selection& now,
                                                    const Trace& trace, const QueryOnStage& query) {
  if (!walk.page || walk.arrival) return {};
  const bool of_step = stage_view_entry(now.view).turns;
  const auto is_at = [&](const Selection& place) {
    return (now.step == place.step || !of_step) && now.view == place.view;
  };
  Selection place = selection_of(*walk.shown(), walk.answered);
  // Where it asks is a place of the page, too.
  if (!is_at(place)) place = selection_of(*walk.shown(), !walk.answered);
  if (!is_at(place))
    return PlaylistWalk::Departure{true, place_words(selection_of(*walk.shown(), walk.answered)),
                                   place_words(now)};
  PlaylistWalk::Departure left = detail_left(walk, place, now, trace, query);
  if (left.page.empty()) return {};
  return left;
}

DisplayChoices choices_of_page(const PlaylistWalk& walk) {
  if (!walk.page) return {};
  const PlaylistPage& page = *walk.shown();
  DisplayChoices choices{page.beside, page.masks_as, {}, {}};
  if (page.queries_as_columns) choices.queries_as_columns = true;
  if (page.colors_by_head) choices.colors_by_head = true;
  if (walk.from_program) return choices;
  const Selection usual;
  if (!choices.beside && (page.view == StageView::compare || page.ask_view == StageView::compare))
    choices.beside = usual_comparison;
  if (!choices.masks_as && (page.step == Step::mask || page.ask_step == Step::mask))
    choices.masks_as = usual.mask_convention;
  choices.queries_as_columns = page.queries_as_columns;
  choices.colors_by_head = page.colors_by_head;
  return choices;
}

bool has_changed_scenario(const PlaylistWalk& walk, const Scenario& shown) {
  return walk.page && !is_scenario_of(*walk.shown(), shown);
}

bool answers_on_stage(const PlaylistWalk& walk, const Selection& now, const Trace& trace, bool full_screen) {
  if (!asks_now(walk) || !walk.shown()->answer) return false;
  if (walk.shown()->answer->is_tensor()) return !full_screen;
  if (const std::optional<TensorId> asked = walk.shown()->answer->tensor) {
    const auto shown = now.view == StageView::one_head ? shown_picture(trace, now) : std::nullopt;
    return shown && (shown->result == *asked || shown->left == *asked || shown->above == *asked);
  }
  if (!asks_for_head(walk)) return true;
  const bool rows = now.view == StageView::head_rows;
  const auto picture =
      rows ? StepPicture{TensorId::attn_weights, {}, {}, false, 0, 0} : shown_picture(trace, now);
  const TensorPtr map = picture ? trace.tensor(picture->result) : nullptr;
  const std::optional<Veil> veil = veil_of(walk);
  if (!map || map->shape().rank() != 4 || map->shape().name(1) != "H" ||
      (veil && veil->hides({picture->result})))
    return false;
  return rows || now.view == StageView::all_heads || (now.view == StageView::one_head && !full_screen);
}

std::string departure_words(const PlaylistWalk::Departure& departure) {
  return fmt::format("This page is about {}; the stage shows {}.", departure.page, departure.stage);
}

std::vector<StageDifference> stage_differences(const PlaylistWalk& walk, bool full_screen) {
  std::vector<StageDifference> all;
  if (walk.departure) all.push_back({departure_words(*walk.departure), "Back to this page", true});
  const PlaylistWalk::Words& words = walk.words;
  const bool no_mask = walk.asking() && words.edits && walk.shown()->answer &&
                       walk.shown()->answer->is_mask() && !words.key.mask;
  const bool shows_edits = words.edits && (full_screen || !walk.from_program || no_mask);
  const std::string what = shows_edits && !words.edits->empty() ? fmt::format(": {}.", *words.edits) : ".";
  if (shows_edits || words.changed(walk.answered))
    all.push_back({page_changed_text + what, page_restore_text, false});
  return all;
}

Selection place_of_page(const PlaylistWalk& walk, const Selection& now) {
  Selection place = selection_of(*walk.shown(), walk.answered);
  const DisplayChoices choices = choices_of_page(walk);
  DisplayChoices::each([&](auto choice, auto shown) { place.*shown = (choices.*choice).value_or(now.*shown); });
  return place;
}

}  // namespace headwise
