#include "core/gpu/compute_program.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "core/gpu/gpu_limits.h"

namespace headwise {

std::string_view embedded_share_glsl();

ComputeProgram::ComputeProgram(std::string_view label, const std::vector<Define>& defines,
                               std::initializer_list<std::string_view> sources)
    : object_(label) {
  // NVIDIA's compiler keeps arrays in memory that are indexed by a loop which it has not unrolled.
  // Others ignore this line.
  std::string head = fmt::format("#version {}0 core\n#pragma optionNV(unroll all)\n", compute_version);
  for (const Define& define : defines) {
    if (define.name == "CLUSTERED_SUBGROUPS")
      head += "#extension GL_KHR_shader_subgroup_clustered : require\n";
    head += fmt::format("#define {} {}u\n", define.name, define.value);
  }
  std::vector<std::string_view> texts{head, embedded_share_glsl()};
  for (const std::string_view source : sources)
    if (!source.empty()) texts.push_back(source);
  const gl::Object<gl::ShaderKind<GL_COMPUTE_SHADER>> shader(label);
  gl::compile_shader(shader.name(), label, texts);
  gl::link_program(object_.name(), label, {shader.name()});
}

GLint ComputeProgram::at(std::string_view name) const {
  const auto known = places_.find(name);
  if (known != places_.end()) return known->second;
  std::string text(name);
  const GLint place = glGetUniformLocation(object_.name(), text.c_str());
  places_.emplace(std::move(text), place);
  return place;
}

}  // namespace headwise
