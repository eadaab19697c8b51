// What is handed to a GPU when: the true plan of a layer on simulated cards, from one thread of a software
// driver to a hundred processors.
#include "core/gpu/gpu_work.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/gpu/attention_plan.h"
#include "core/gpu/linear_plan.h"
#include "tests/core/gpu/simulated_card.h"

using namespace headwise;
using namespace headwise::test;

namespace {

constexpr double frame = 1000.0 / 60.0;
constexpr double most_wait = 10.0;        // of a frame
constexpr double half_millisecond = 0.5;  // beside frames

// The speeds are what a tile of a shader reaches, not peaks: a thread of llvmpipe,
// small GPUs in processors, large cards.
const std::vector<SimulatedCard::Properties> cards{
    {.processors = 1, .speed = 1e6},  {.processors = 2, .speed = 1.5e6}, {.processors = 8, .speed = 4e7},
    {.processors = 20, .speed = 8e7}, {.processors = 60, .speed = 1e8},  {.processors = 132, .speed = 1.4e8}};

struct Layer {
  Index embed_dim, heads, length;
  std::optional<PositionReach> reach = std::nullopt;
  const BlockedBlocks* blocked = nullptr;
};

const GpuLimits limits{.shared_bytes = 49152,
                       .storage_block_bytes = (Index{1} << 31) - 4,
                       .offset_alignment = 256,
                       .groups_x = 65535,
                       .groups_y = 65535};

// E 4096 with 8 heads is wider than the shader does (256 columns); 16 are the fewest.
std::vector<Layer> layers(Index most_length) {
  std::vector<Layer> all;
  for (const auto& [embed_dim, heads] : {std::pair<Index, Index>{512, 8}, {512, 32}, {4096, 16}, {4096, 32}})
    for (Index length = 512; length <= most_length; length *= 2) all.push_back({embed_dim, heads, length});
  return all;
}

// The jobs of a layer between barriers, as gl_plan has them, with dispatches that cost the card time.
using Stages = std::vector<std::vector<GpuJob>>;
Stages stages_of(const Layer& layer, SimulatedCard& card, double product_processors,
                 double attention_processors) {
  const Index width = layer.embed_dim / layer.heads;
  const AttentionSizes sizes{.batch = 1,
                             .queries = layer.length,
                             .keys = layer.length,
                             .all_keys = layer.length,
                             .embed_dim = layer.embed_dim,
                             .heads = layer.heads,
                             .kv_heads = layer.heads,
                             .head_dim = width,
                             .v_head_dim = width};
  Stages stages(3);
  const auto add = [&](std::size_t stage, GpuJob job) {
    job.dispatch = [&card, groups = job.groups, work = job.work / static_cast<double>(job.groups),
                    steps_done = job.steps_done](const GpuRange& range) {
      card.dispatch(range.units * groups, [&](Index group) {
        const Index unit = range.first_unit + group / groups, end = range.first_step + range.steps;
        return work * static_cast<double>(steps_done ? steps_done(unit, range.first_step, end) : range.steps);
      });
    };
    stages[stage].push_back(std::move(job));
  };
  const auto add_linear = [&](std::size_t stage, Index out_part) {
    const LinearSizes linear{.rows = layer.length,
                             .depth = layer.embed_dim,
                             .columns = layer.embed_dim,
                             .out_part = out_part,
                             .out_row_stride = out_part,
                             .out_part_stride = layer.length * out_part};
    const MatrixProductTile tile = matrix_product_tile(linear, limits, product_processors);
    for (const LinearPiece& piece : plan_linear(linear, {{0, 0, layer.length}}, limits))
      add(stage, linear_job(linear, tile, piece));
  };
  for (int projection = 0; projection < 3; ++projection) add_linear(0, width);
  const bool masked = layer.reach.has_value() || layer.blocked != nullptr;
  const AttentionTile tile = attention_tile(sizes, {.masks = masked}, limits, attention_processors);
  const AttentionPlan plan =
      plan_attention(sizes, {{0, layer.heads}}, {layer.embed_dim, width, 0}, std::nullopt, limits, tile);
  for (const AttentionPiece& piece : plan.pieces)
    add(1, attention_job(sizes, tile, plan, piece, {layer.reach, layer.blocked}));
  add_linear(2, layer.embed_dim);
  return stages;
}

Stages stages_of(const Layer& layer, SimulatedCard& card, const GpuWork& work) {
  return stages_of(layer, card, work.processors("matrix_product"),
                   work.processors("scaled_dot_product_attention"));
}

void add_layer(GpuWork& work, const Layer& layer, SimulatedCard& card) {
  work.begin();
  for (std::vector<GpuJob>& stage : stages_of(layer, card, work)) {
    work.barrier();
    for (GpuJob& job : stage) work.add(std::move(job));
  }
}

// The share of its processors' time that the card is at work, in a run that nothing draws beside.
double busy_share(GpuWork& work, const Layer& layer, SimulatedCard& card, const SimulatedCard::Properties& of) {
  card.pass(1.0);
  const double begun = card.now(), busy = card.busy();
  add_layer(work, layer, card);
  while (work.advance(slices_alone, true)) {
  }
  CHECK(work.progress() == doctest::Approx(1.0));
  return (card.busy() - busy) / (card.ended() - begun) / static_cast<double>(of.processors);
}

// The share that the number of work groups and the launches of the same plan allow: every stage at once,
// nothing to learn, nobody asks for times.
double most_share(const GpuWork& work, const Layer& layer, const SimulatedCard::Properties& of) {
  SimulatedCard card(of);
  for (const std::vector<GpuJob>& stage : stages_of(layer, card, work)) {
    card.barrier();
    for (const GpuJob& job : stage) job.dispatch({0, job.units, 0, job.steps});
  }
  return card.busy() / card.ended() / static_cast<double>(of.processors);
}

// The largest piece of a layer that cannot be cut: a step of one group, in milliseconds.
double shortest_group(const Layer& layer, const SimulatedCard::Properties& of) {
  SimulatedCard card(of);
  for (const std::vector<GpuJob>& stage : stages_of(layer, card, 0.0, 0.0))
    for (const GpuJob& job : stage) job.dispatch({0, 1, 0, 1});
  return card.longest_group();
}

// A run with frames: each hands over what it may, is drawn behind that, and waits for it.
struct FramesRun {
  double longest_wait = 0.0, milliseconds = 0.0;
};
FramesRun run_with_frames(GpuWork& work, SimulatedCard& card, int calls_of_frame) {
  FramesRun run;
  const double begun = card.now();
  for (bool more = true; more;) {
    for (int call = 0; more && call < calls_of_frame; ++call)
      more = work.advance(slices_beside_window, false);
    run.longest_wait = std::max(run.longest_wait, card.ended() - card.now());
    card.pass(frame);
  }
  run.milliseconds = card.now() - begun;
  return run;
}

std::string name_of(const Layer& layer, const SimulatedCard::Properties& card) {
  return fmt::format("E {} H {} L {} on {} processors", layer.embed_dim, layer.heads, layer.length,
                     card.processors);
}

}  // namespace

TEST_CASE("a whole layer keeps nine tenths of a card's processors at work, or what its work groups allow") {
  int full = 0, all = 0;
  for (const SimulatedCard::Properties& properties : cards) {
    // A slow card takes minutes for a layer of 2048: longer ones are more slices of the same kind.
    for (const Layer& layer : layers(properties.speed < 1e7 ? 2048 : 16384)) {
      CAPTURE(name_of(layer, properties));
      SimulatedCard card(properties);
      GpuWork work(card);
      const double first = busy_share(work, layer, card, properties);
      for (int run = 0; run < 3; ++run) busy_share(work, layer, card, properties);  // tiles may change once
      const double learned = busy_share(work, layer, card, properties);
      const double most = most_share(work, layer, properties);
      CAPTURE(first);
      CAPTURE(most);
      // Small layers on large cards have no more groups than that: E 512, 8 heads,
      // L 512 on 132 processors 0.46, with small tiles.
      CHECK(learned >= (most >= 0.95 ? 0.9 : 0.9 * most));
      CHECK(learned <= 1.0);
      // What a run costs that has everything to learn: some milliseconds.
      const double milliseconds = card.busy() / 5.0 / properties.processors / learned;
      CHECK(first >= 0.99 * learned * milliseconds / (milliseconds + 5.0));
      full += learned >= 0.9;
      ++all;
    }
  }
  CHECK(full >= 0.8 * all);
}

TEST_CASE("a causal mask and a window leave a card nearly as busy, soon where many groups skip everything") {
  for (const SimulatedCard::Properties& properties : cards) {
    constexpr Index all = PositionWindow::unbounded;
    for (const PositionReach reach : {PositionReach{.seen = {all, 0}}, PositionReach{.seen = {699, 699}},
                                      PositionReach{.seen = {299, 0}}}) {
      const Layer layer{4096, 32, 8192, reach};
      CAPTURE(name_of(layer, properties));
      CAPTURE(reach.seen.behind);
      SimulatedCard card(properties);
      GpuWork work(card);
      const double first = busy_share(work, layer, card, properties);
      busy_share(work, layer, card, properties);
      const double third = busy_share(work, layer, card, properties);
      CHECK(first >= 0.9);
      CHECK(third >= 0.9);
    }
  }
}

TEST_CASE("a frame waits for at most ten milliseconds of work, and no work group takes over half of one") {
  for (const SimulatedCard::Properties& properties : cards) {
    for (Layer layer : layers(properties.speed < 1e7 ? 1024 : 8192)) {
      for (const bool causal : {false, true}) {
        for (const int calls : {1, 3}) {
          if (causal) layer.reach = PositionReach{.seen = {.ahead = 0}};
          CAPTURE(name_of(layer, properties));
          CAPTURE(causal);
          CAPTURE(calls);
          SimulatedCard card(properties);
          GpuWork work(card);
          // From the first guess on, and after it has learned all.
          for (const bool learned : {false, true}) {
            CAPTURE(learned);
            add_layer(work, layer, card);
            const FramesRun run = run_with_frames(work, card, calls);
            CHECK(run.longest_wait <= most_wait);
            CHECK(work.longest_slice() <= most_wait);
          }
          CHECK(card.longest_group() <=
                std::max(1.1 * half_millisecond, 1.05 * shortest_group(layer, properties)));
        }
      }
    }
  }
}

TEST_CASE("blocks that a given mask rules out are planned for: neither a frame nor a processor waits") {
  using Rules = bool (*)(Index row, Index column, Index rows);
  constexpr std::array<Rules, 3> patterns{
      [](Index row, Index, Index rows) { return row < rows / 2; },
      [](Index row, Index, Index rows) { return row >= rows / 2; },
      [](Index row, Index column, Index) { return row / 2 != column / 2 && row / 2 % 4 != 0; }};
  for (const SimulatedCard::Properties& properties : cards) {
    const Index length = properties.speed < 1e7 ? 1024 : 8192, side = length / mask_block;
    for (const Rules rules_out : patterns) {
      BlockedBlocks blocked{.bits = std::vector<std::uint32_t>(static_cast<std::size_t>(side * side / 32)),
                            .row_step = side};
      for (Index row = 0; row < side; ++row)
        for (Index column = 0; column < side; ++column)
          if (rules_out(row, column, side))
            blocked.bits[static_cast<std::size_t>((row * side + column) / 32)] |=
                1u << ((row * side + column) % 32);
      const Layer layer{512, 8, length, std::nullopt, &blocked};
      CAPTURE(name_of(layer, properties));
      SimulatedCard card(properties);
      GpuWork work(card);
      for (int run = 0; run < 3; ++run) {
        CAPTURE(run);
        // The attention by itself: no other kind of work has told how fast the card is.
        work.begin();
        Stages stages = stages_of(layer, card, work);
        for (GpuJob& job : stages[1]) work.add(std::move(job));
        CHECK(run_with_frames(work, card, 3).longest_wait <= most_wait);
      }
    }
  }
}

TEST_CASE("a card that slows down to half is late for few frames, and is kept busy again when it speeds up") {
  for (const SimulatedCard::Properties& properties : cards) {
    const Layer layer{4096, 32, properties.speed < 1e7 ? 512 : 8192};
    CAPTURE(name_of(layer, properties));
    SimulatedCard card(properties);
    GpuWork work(card);
    add_layer(work, layer, card);
    run_with_frames(work, card, 3);
    card.set_speed(properties.speed / 2.0);
    add_layer(work, layer, card);
    int frames = 0, late = 0;
    for (bool more = true; more; ++frames) {
      for (int call = 0; more && call < 3; ++call) more = work.advance(slices_beside_window, false);
      late += card.ended() - card.now() > most_wait;
      card.pass(frame);
    }
    CAPTURE(frames);
    CHECK(late <= 8);  // an eighth of a second
    CHECK(frames > 10);
    card.set_speed(properties.speed);
    busy_share(work, layer, card, properties);
    CHECK(busy_share(work, layer, card, properties) >= 0.85 * most_share(work, layer, properties));
  }
}

TEST_CASE("one work group after the other, as if they were serial, leaves a large card idle") {
  const SimulatedCard::Properties properties = cards.back();
  const Layer layer{4096, 32, 16384};
  SimulatedCard card(properties);
  for (const std::vector<GpuJob>& stage : stages_of(layer, card, 0.0, 0.0)) {
    for (const GpuJob& job : stage) {
      for (Index unit = 0; unit < job.units; ++unit) {
        card.barrier();
        job.dispatch({unit, 1, 0, job.steps});
      }
    }
  }
  const double share = card.busy() / card.ended() / properties.processors;
  CHECK(share < 0.05);
  CHECK(share > 0.5 / properties.processors);
}

TEST_CASE("the number of processors is found out by handing over more and more groups") {
  for (const SimulatedCard::Properties& properties : cards) {
    CAPTURE(properties.processors);
    SimulatedCard card(properties);
    GpuWork work(card);
    CHECK(work.processors("matrix_product") == 0.0);
    busy_share(work, {4096, 32, 4096}, card, properties);
    for (const char* const kind : {"matrix_product", "scaled_dot_product_attention"})
      CHECK(work.processors(kind) == doctest::Approx(properties.processors).epsilon(0.1));
  }
}
