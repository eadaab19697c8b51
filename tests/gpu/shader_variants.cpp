#include <epoxy/gl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <string_view>
#include <vector>

#include "core/gpu/gpu_programs.h"
#include "core/tensor/error.h"
#include "tests/gpu/json_text.h"
#include "tests/gpu/phases.h"

namespace headwise::gpu_bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Variant {
  std::string name;
  bool subgroups = false;
  std::function<const ComputeProgram&(GpuPrograms&)> compile;
};

std::vector<Variant> variants(const GpuLimits& limits) {
  std::vector<Variant> all;
  for (const Index rows : {1, 2})
    for (const Index columns : {1, 2})
      for (const bool ragged : {false, true})
        for (const bool ahead : {false, true})
          all.push_back({fmt::format("matrix_product {}x{}{}{}", rows, columns, ragged ? " ragged" : "",
                                     ahead ? " loads_ahead" : ""),
                         false, [=](GpuPrograms& programs) -> const ComputeProgram& {
                           return programs.matrix_product({rows, columns, ragged, ahead});
                         }});
  for (const bool subgroups : {false, true}) {
    if (subgroups && !limits.clustered_subgroups) continue;
    for (const Index rows : {1, 2})
      for (const Index columns : {1, 2, 4})
        for (const bool ragged : {false, true})
          for (const ScoreNeeds& needs :
               {ScoreNeeds{}, ScoreNeeds{.masks = true}, ScoreNeeds{true, true, true}})
            for (const bool ahead : {false, true}) {
              const AttentionTile tile{rows, columns, ragged, ahead, needs};
              if (!attention_tile_fits(rows, columns, limits)) continue;
              all.push_back({fmt::format("scaled_dot_product_attention {}{}", variant_of(tile),
                                         subgroups ? " subgroups" : ""),
                             subgroups, [=](GpuPrograms& programs) -> const ComputeProgram& {
                               return programs.scaled_dot_product_attention(tile);
                             }});
            }
  }
  using Member = const ComputeProgram& (GpuPrograms::*)();
  for (const auto& [name, member] :
       {std::pair<const char*, Member>{"attention_weights", &GpuPrograms::attention_weights},
        {"frozen_weights", &GpuPrograms::frozen_weights},
        {"head_gains", &GpuPrograms::head_gains},
        {"rotary_embedding", &GpuPrograms::rotary_embedding},
        {"all_finite", &GpuPrograms::all_finite}})
    all.push_back({name, false, [member = member](GpuPrograms& programs) -> const ComputeProgram& {
                     return (programs.*member)();
                   }});
  return all;
}

// Of the program in use; empty where the driver gives none.
std::vector<char> program_binary() {
  GLint name = 0, length = 0;
  glGetIntegerv(GL_CURRENT_PROGRAM, &name);
  glGetProgramiv(static_cast<GLuint>(name), GL_PROGRAM_BINARY_LENGTH, &length);
  std::vector<char> bytes(static_cast<std::size_t>(std::max(length, 0)));
  GLsizei written = 0;
  GLenum format = 0;
  if (length > 0) glGetProgramBinary(static_cast<GLuint>(name), length, &written, &format, bytes.data());
  bytes.resize(static_cast<std::size_t>(std::max(written, 0)));
  while (glGetError() != GL_NO_ERROR) {
  }
  return bytes;
}

Index occurrences(std::string_view text, std::string_view word) {
  Index count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size()))
    ++count;
  return count;
}

}  // namespace

std::string shaders_phase(const PhaseOptions& options) {
  const GpuLimits limits = gpu_limits();
  std::vector<std::string> told;
  Index failed = 0;
  const std::vector<Variant> all = variants(limits);
  for (const Variant& variant : all) {
    if (options.time_is_up()) break;
    GpuLimits used = limits;
    used.clustered_subgroups = variant.subgroups;
    GpuPrograms programs(used);
    JsonObject shader;
    shader.text("name", variant.name);
    const auto begun = Clock::now();
    try {
      variant.compile(programs).use();
      shader.number("ms", std::chrono::duration<double, std::milli>(Clock::now() - begun).count());
      const std::vector<char> binary = program_binary();
      const std::string_view text(binary.data(), binary.size());
      shader.count("binary_bytes", static_cast<Index>(binary.size()));
      // Where a binary holds assembly text, as NVIDIA's does,
      // arrays that did not fit in registers are named there.
      for (const std::string_view word : {"lmem", "LOCAL", "spill"})
        if (const Index count = occurrences(text, word); count > 0) shader.count(word, count);
      if (!options.binaries.empty() && !binary.empty()) {
        std::string file = variant.name;
        std::ranges::replace(file, ' ', '_');
        std::ofstream(options.binaries + "/" + file + ".bin", std::ios::binary)
            .write(binary.data(), static_cast<std::streamsize>(binary.size()));
      }
    } catch (const Error& error) {
      ++failed;
      shader.text("problem", error.what());
    }
    told.push_back(shader.written());
  }
  return JsonObject()
      .count("variants", static_cast<Index>(told.size()))
      .flag("complete", told.size() == all.size())
      .count("failed", failed)
      .json("shaders", json_array(told))
      .written();
}

}  // namespace headwise::gpu_bench
