#include "core/train/training_program.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/files/atomic_file.h"
#include "core/files/input_file.h"
#include "core/tensor/error.h"
#include "core/train/training_program_parts.h"

namespace headwise {
namespace {

// Philox as in core/tensor/random.cpp, for arrays of indices at once.
constexpr const char* random_part = R"(

class CounterRandom:
    """Random numbers by seed, stream and index (Philox4x32-10, Salmon et al. 2011): the same wherever they are drawn."""

    def __init__(self, seed, stream):
        number = 0xCBF29CE484222325  # the FNV-1a hash of the stream's name
        for byte in stream.encode():
            number = (number ^ byte) * 0x100000001B3 % 2**64
        self.seed, self.stream = seed, number

    def block(self, index):
        index = np.asarray(index).astype(np.uint64)
        low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
        c0, c1 = index & low, index >> half
        c2, c3 = (np.full_like(index, word) for word in (self.stream & 0xFFFFFFFF, self.stream >> 32))
        key0, key1 = self.seed & 0xFFFFFFFF, self.seed >> 32
        for _ in range(10):
            product0, product1 = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
            c0, c1, c2, c3 = (product1 >> half) ^ c1 ^ np.uint64(key0), product1 & low, \
                (product0 >> half) ^ c3 ^ np.uint64(key1), product0 & low
            key0, key1 = (key0 + 0x9E3779B9) % 2**32, (key1 + 0xBB67AE85) % 2**32
        return c0 | c1 << half, c2 | c3 << half

    def bits(self, index):
        return self.block(index)[0]

    def uniform(self, index):
        return (self.bits(index) >> np.uint64(11)) * 2.0**-53

    def normal(self, index):
        first, second = ((bits >> np.uint64(11)) * 2.0**-53 for bits in self.block(index))
        return np.sqrt(-2.0 * np.log1p(-first)) * np.cos(2.0 * math.pi * second)
)";

std::string constants_part(const TrainTask& task, const TrainingSettings& settings, Index steps) {
  const TrainModelConfig& model = settings.model;
  return fmt::format(
      "STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else {}\n"
      "SEED, BATCH, LENGTH = {}, {}, {}\n"
      "LAYERS, WIDTH, HEADS, KV_HEADS, HEAD_WIDTH, HIDDEN = {}, {}, {}, {}, {}, {}\n",
      steps, settings.seed, settings.batch, task.length, model.layers, model.width, model.heads,
      model.kv_heads, head_width_of(model), feed_forward_width_of(model));
}

std::string content_of(const std::string& path) {
  const InputFile file(path);
  return file.read_text(0, file.size());
}

}  // namespace

TrainingProgram training_program(TaskSource source, const TrainingSettings& settings, DType dtype,
                                 Index steps, const std::string& data_file) {
  const TrainTask task = task_of(source);
  TrainingProgram program;
  if (!source.file.empty()) program.data = content_of(source.file);
  program.text = fmt::format(
      "#!/usr/bin/env python3\n"
      "\"\"\"Trains a small transformer with PyTorch on a task of Headwise, as `headwise train` does: it "
      "begins with the same numbers, is\n"
      "given the same batches{}, and has the same optimiser. Prints the loss of each step.\n\n"
      "    python3 PROGRAM.py [STEPS]\n\"\"\"\n"
      "import {}math{}\nimport sys\n\nimport numpy as np\nimport torch\nimport torch.nn.functional as F\n\n"
      "torch.set_default_dtype(torch.{})\n",
      settings.model.dropout > 0.0 ? " and the same masks of dropout" : "",
      source.file.ends_with(".json") ? "json\nimport " : "", source.file.empty() ? "" : "\nimport os",
      dtype == DType::f32 ? "float32" : "float64");
  program.text += constants_part(task, settings, steps) + random_part + task_part(source, task, data_file) +
                  parameters_part(settings.model) + model_part(settings.model) + training_part(settings);
  return program;
}

void write_training_program(const std::string& path, const TaskSource& source,
                            const TrainingSettings& settings, DType dtype, Index steps) {
  const std::filesystem::path given(path);
  const std::string ending = source.file.ends_with(".json") ? ".json" : ".txt";
  const std::filesystem::path data = std::filesystem::path(given).replace_extension(ending);
  if (!source.file.empty() && std::filesystem::exists(data) &&
      !std::filesystem::equivalent(data, source.file) && content_of(data.string()) != content_of(source.file))
    throw Error(
        ExitStatus::output,
        {data.string(), "the program needs this name for the file of its task, and another file has it", "",
         "", "choose another name for the program"});
  const TrainingProgram program = training_program(source, settings, dtype, steps, data.filename().string());
  if (!program.data.empty() && !std::filesystem::exists(data))
    write_file_atomically(data.string(), program.data);
  write_file_atomically(path, program.text);
}

}  // namespace headwise
