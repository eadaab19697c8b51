#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>

#include "core/attention/reference_backend.h"
#include "core/files/array_files.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/random.h"
#include "tests/app/cli/program_run.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

// The same numbers in the same sizes; files know no axis names.
bool same_numbers(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape().same_sizes(b.shape()) && identical(a.reshaped(b.shape()), b);
}

NamedTensor random_array(const std::string& name, const std::vector<Index>& sizes) {
  std::vector<Axis> axes;
  for (const Index size : sizes) axes.push_back({"axis", size});
  Tensor tensor(Shape(std::move(axes)), DType::f64);
  const CounterRandom random(1, name);
  for (Index i = 0; i < tensor.size(); ++i) tensor.set_flat(i, random.normal(static_cast<std::uint64_t>(i)));
  return {name, std::make_shared<const Tensor>(std::move(tensor)), "f64"};
}

}  // namespace

TEST_CASE("what contradicts itself in a scenario file is told with the file's name") {
  const TemporaryFolder folder;
  const std::string path =
      folder.with_file("odd.json", R"({"headwise":1,"attention":{"embed_dim":8,"num_heads":3}})");
  const ProgramResult result = run_program({"run", path, "-o", folder.file("out.npz")});
  CHECK(result.status == 2);
  CHECK(result.err.starts_with("headwise: " + path + ": "));
}

TEST_CASE("run writes every tensor of the trace and the parameters, the same in both formats") {
  const TemporaryFolder folder;
  for (const auto& [dtype, type] : {std::pair("f32", DType::f32), std::pair("f64", DType::f64)}) {
    const TracePtr trace =
        reference_forward(make_scenario_inputs(preset_scenario("hand_made"), type).attention);
    for (const char* name : {"trace.npz", "trace.safetensors"}) {
      const ProgramResult result = run_well({"run", "hand_made", "--dtype", dtype, "-o", folder.file(name)});
      CHECK(result.out.empty());
      const auto arrays = arrays_of(folder.file(name));
      std::size_t count = 0;
      for (const TensorEntry& entry : tensor_entries()) {
        const TensorPtr tensor = trace->tensor(entry.id);
        if (!tensor) continue;
        ++count;
        CAPTURE(entry.name);
        REQUIRE(arrays.contains(std::string(entry.name)));
        CHECK(same_numbers(*arrays.at(std::string(entry.name)), *tensor));
      }
      CHECK(arrays.size() == count);
      CHECK(arrays.contains("out_proj.weight"));
      CHECK(arrays.contains("attn_output_weights"));
    }
  }
}

TEST_CASE("the same run gives the same bytes") {
  const TemporaryFolder folder;
  for (const char* name : {"a.npz", "b.npz"}) run_program({"run", "hand_made", "-o", folder.file(name)});
  CHECK(content_of(folder.file("a.npz")) == content_of(folder.file("b.npz")));
}

TEST_CASE("arrays from files set the sizes and take the place of what the scenario would make") {
  const TemporaryFolder folder;
  const std::string scenario = folder.with_file(
      "mha.json",
      R"({"headwise":1,"attention":{"embed_dim":8,"num_heads":2,"add_bias_kv":true},"inputs":{"self_attention":false}})");
  std::vector<NamedTensor> arrays;
  arrays.push_back(random_array("query", {3, 4, 8}));
  arrays.push_back(random_array("key", {3, 5, 8}));
  arrays.push_back(random_array("value", {3, 5, 8}));
  write_npz(folder.file("inputs.npz"), arrays);
  std::vector<NamedTensor> weights;
  weights.push_back(random_array("in_proj_weight", {24, 8}));
  weights.push_back(random_array("in_proj_bias", {24}));
  weights.push_back(random_array("out_proj.weight", {8, 8}));
  weights.push_back(random_array("out_proj.bias", {8}));
  weights.push_back(random_array("bias_k", {1, 1, 8}));
  weights.push_back(random_array("bias_v", {1, 1, 8}));
  write_safetensors(folder.file("weights.safetensors"), weights);
  write_npy(folder.file("key_padding_mask.npy"), Tensor(Shape{{"N", 3}, {"S", 5}}, DType::boolean));

  run_well({"run", scenario, "--input", folder.file("inputs.npz"), "--input",
            folder.file("weights.safetensors"), "--input", folder.file("key_padding_mask.npy"), "--set",
            "mask.is_causal=true", "--dtype", "f64", "-o", folder.file("out.npz")});
  const auto out = arrays_of(folder.file("out.npz"));
  CHECK(out.at("attn_weights")->shape().sizes() == std::vector<Index>{3, 2, 4, 6});
  CHECK(out.at("attn_weights")->flat(1) == 0.0);  // query 0 does not see key 1
  CHECK(out.contains("key_padding_mask"));
  for (const auto& given : {arrays, weights}) {
    for (const NamedTensor& array : given) {
      CAPTURE(array.name);
      CHECK(same_numbers(*out.at(array.name), *array.tensor));
    }
  }
  // The output again, from what was written: concat · Wᵀ + b.
  const Tensor &concat = *out.at("concat"), &weight = *out.at("out_proj.weight"),
               &bias = *out.at("out_proj.bias");
  double sum = bias.flat(5);
  for (Index e = 0; e < 8; ++e) sum += concat.at({2, 3, e}) * weight.at({5, e});
  CHECK(out.at("output")->at({2, 3, 5}) == doctest::Approx(sum).epsilon(1e-12));
}

TEST_CASE("--only writes what it names and nothing else") {
  const TemporaryFolder folder;
  run_well({"run", "hand_made", "--only", "output,scores", "--only", "out_proj.weight", "-o",
            folder.file("out.npz")});
  const auto out = arrays_of(folder.file("out.npz"));
  CHECK(out.size() == 3);
  CHECK(out.contains("scores"));
}

TEST_CASE("--backward adds the gradient of every tensor, from ones or from a given grad_output") {
  const TemporaryFolder folder;
  const std::vector<std::string> run{"run", "hand_made", "--dtype", "f64", "--backward"};
  const auto with = [&](const Words& more) {
    run_well(joined({run, more, {"-o", folder.file("out.npz")}}));
    return arrays_of(folder.file("out.npz"));
  };
  const auto ones = with({});
  const TracePtr trace = reference_backward(
      *reference_forward(make_scenario_inputs(preset_scenario("hand_made"), DType::f64).attention));
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorName name{entry.id, true};
    REQUIRE(ones.contains(to_string(name)) == (trace->tensor(name) != nullptr));
    if (trace->tensor(name)) CHECK(same_numbers(*ones.at(to_string(name)), *trace->tensor(name)));
  }
  const std::vector<Index> sizes = ones.at("output")->shape().sizes();
  write_npz(folder.file("grad.npz"), {random_array("grad_output", sizes)});
  const auto given = with({"--input", folder.file("grad.npz")});
  CHECK(same_numbers(*given.at("grad.output"), *random_array("grad_output", sizes).tensor));
  CHECK_FALSE(same_numbers(*given.at("grad.query"), *ones.at("grad.query")));
}

TEST_CASE("a gradient that was not computed is refused with the flag that computes it") {
  const TemporaryFolder folder;
  check_refused({"run", "hand_made", "--only", "grad.query", "-o", folder.file("out.npz")}, 2,
                "add --backward");
  check_refused({"run", "hand_made", "--backward", "--only", "grad.static_k", "-o", folder.file("out.npz")},
                2, "grad.static_k");
}

TEST_CASE("backends that are not there are refused, never faked") {
  const TemporaryFolder folder;
  check_refused({"run", "hand_made", "--backend", "vulkan", "-o", folder.file("out.npz")}, 2,
                "reference, fused, gl");
  CHECK(folder.count_files() == 0);
}

TEST_CASE("the fused backend writes what it keeps, and the reference makes the rest that is asked for") {
  const TemporaryFolder folder;
  const auto run = [&](const Words& more) {
    const ProgramResult result = run_well(joined({{"run", "causal", "-o", folder.file("out.npz")}, more}));
    return std::pair(arrays_of(folder.file("out.npz")), result.err);
  };
  const auto far = [](const TensorPtr& a, const TensorPtr& b) {
    double worst = 0.0;
    for (Index i = 0; i < a->size(); ++i) worst = std::max(worst, std::abs(a->flat(i) - b->flat(i)));
    return worst;
  };
  const auto reference = run({}).first;
  const auto fused = run({"--backend", "fused"}).first;
  CHECK(far(fused.at("output"), reference.at("output")) < 1e-5);
  CHECK(fused.contains("k"));
  CHECK_FALSE(fused.contains("scores"));
  const auto asked = run({"--backend", "fused", "--only", "output,scores,attn_weights"}).first;
  CHECK(asked.size() == 3);
  CHECK(identical(*asked.at("output"), *fused.at("output")));
  CHECK(identical(*asked.at("scores"), *reference.at("scores")));
  const auto [doubles, warning] = run({"--backend", "fused", "--dtype", "f64"});
  CHECK(doubles.contains("scores"));
  CHECK_CONTAINS(warning, "f32");
}

TEST_CASE("the gl backend computes without a display, or says who does instead") {
  const TemporaryFolder folder;
  const auto run = [&](const Words& more) {
    const ProgramResult result = run_well(joined({{"run", "causal", "-o", folder.file("out.npz")}, more}));
    return std::pair(arrays_of(folder.file("out.npz")), result.err);
  };
  const auto reference = run({}).first;
  const auto [gl, warning] = run({"--backend", "gl", "--only", "output,attn_weights"});
  CHECK((warning.empty() || warning.find("using the fused backend") != std::string::npos));
  CHECK(gl.size() == 2);
  for (const char* name : {"output", "attn_weights"}) {
    REQUIRE(gl.at(name)->shape() == reference.at(name)->shape());
    for (Index i = 0; i < gl.at(name)->size(); ++i)
      CHECK(std::abs(gl.at(name)->flat(i) - reference.at(name)->flat(i)) < 1e-5);
  }
}

TEST_CASE("a wrong input file is status 3, and the old output stays") {
  const TemporaryFolder folder;
  const std::string output = folder.with_file("out.npz", "old");
  const std::string damaged = folder.with_file("damaged.npz", "PK\3\4 and no more");
  check_refused({"run", "hand_made", "--input", damaged, "-o", output}, 3, "damaged.npz");
  check_refused({"run", "hand_made", "--input", folder.file("missing.npz"), "-o", output}, 3, "missing.npz");
  check_refused({"run", "hand_made", "--input", "/dev/zero", "-o", output}, 3, "a device");
  write_npz(folder.file("wrong.npz"), {random_array("in_proj_weight", {3, 5, 7})});
  check_refused({"run", "hand_made", "--input", folder.file("wrong.npz"), "-o", output}, 3, "(3,5,7)");
  write_npz(folder.file("a.npz"), {random_array("query", {2, 3})});
  check_refused(
      {"run", "hand_made", "--input", folder.file("a.npz"), "--input", folder.file("a.npz"), "-o", output}, 3,
      "twice");
  CHECK(content_of(output) == "old");
}

TEST_CASE("an output that cannot be written is status 4 and leaves nothing behind") {
  const TemporaryFolder folder;
  check_refused({"run", "hand_made", "-o", folder.file("missing/out.npz")}, 4, "create the folder first");
  REQUIRE(mkdir(folder.file("folder.npz").c_str(), 0755) == 0);
  check_refused({"run", "hand_made", "-o", folder.file("folder.npz")}, 4, "directory");
  REQUIRE(symlink("/dev/full", folder.file("full.npz").c_str()) == 0);
  check_refused({"run", "hand_made", "-o", folder.file("full.npz")}, 4, "No space left");
  const std::string output = folder.with_file("out.npz", "old");
  const auto small_files = [] {
    const rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  check_refused({"run", "hand_made", "-o", output}, 4, "ulimit", {"", small_files, {}});
  CHECK(content_of(output) == "old");
  CHECK(folder.count_files() == 3);
}

TEST_CASE("what would not fit in memory is status 5, at once") {
  const TemporaryFolder folder;
  check_refused({"run", "hand_made", "--set", "inputs.source=random", "--set",
                 "inputs.query_length=100000000", "-o", folder.file("out.npz")},
                5, "memory");
  // The inputs alone would fit; making them takes minutes, so the scores are asked for before.
  const auto start = std::chrono::steady_clock::now();
  check_refused({"run", "random", "--set", "inputs.source=random", "--set", "inputs.query_length=10000000",
                 "--only", "attn_weights", "-o", folder.file("out.npz")},
                5, "the trace: it would not fit in memory");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
  CHECK(folder.count_files() == 0);
}

TEST_CASE("a text that does not become the inputs is told, unless another source was chosen") {
  const TemporaryFolder folder;
  const std::string out = folder.file("out.npz");
  const std::string scenario =
      folder.with_file("scenario.json", R"({"headwise":1,"attention":{"embed_dim":8,"num_heads":2}})");
  const ProgramResult told = run_well({"run", scenario, "--set", "inputs.text=a b c", "-o", out});
  CHECK(is_one_line(told.err));
  CHECK_CONTAINS(told.err,
                 "inputs.text = \"a b c\" is not used, because inputs.source is random: set "
                 "inputs.source=text");
  CHECK(run_program({"run", scenario, "--set", "inputs.text=a b c", "--set", "inputs.source=text", "-o", out})
            .err.empty());
  CHECK(run_program({"run", "random", "--set", "inputs.source=random", "-o", out}).err.empty());
}

// AddressSanitizer reserves terabytes for itself: under a limit of memory it cannot start.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool no_memory_limits = true;
#else
constexpr bool no_memory_limits = false;
#endif

TEST_CASE("a limit of the process counts as memory that is not there" * doctest::skip(no_memory_limits)) {
  const TemporaryFolder folder;
  const auto little_memory = [] {
    const rlimit limit{rlim_t{200} << 20, rlim_t{200} << 20};
    setrlimit(RLIMIT_DATA, &limit);
  };
  check_refused({"run", "random", "--set", "inputs.source=random", "--set", "inputs.query_length=4000", "-o",
                 folder.file("out.npz")},
                5, "memory", {"", little_memory, {}});
  CHECK(folder.count_files() == 0);
  // The fused backend keeps no scores: the same sizes are none too many for it.
  run_well({"run", "random", "--set", "inputs.source=random", "--set", "inputs.query_length=4000",
            "--backend", "fused", "--only", "output", "-o", folder.file("out.npz")},
           {"", little_memory, {}});
}

TEST_CASE("Ctrl+C ends a run with status 6 and nothing is left behind") {
  const TemporaryFolder folder;
  const auto interrupt = [](int process) {
    // As soon as the program catches the signal: "SigCgt:" is a mask in hexadecimal.
    for (std::uint64_t caught = 0; (caught >> (SIGINT - 1) & 1) == 0;) {
      std::ifstream status("/proc/" + std::to_string(process) + "/status");
      for (std::string word; status >> word;) {
        if (word == "SigCgt:") status >> std::hex >> caught;
      }
    }
    kill(process, SIGINT);
  };
  check_refused({"run", "random", "--set", "inputs.source=random", "--set", "inputs.query_length=1500", "-o",
                 folder.file("out.npz")},
                6, "cancelled", {"", {}, interrupt});
  CHECK(folder.count_files() == 0);
}

TEST_CASE("a scenario file of the name of a preset goes first") {
  const TemporaryFolder folder;
  folder.with_file("hand_made", R"({"headwise":1,"attention":{"embed_dim":8,"num_heads":2}})");
  run_well({"run", "hand_made", "-o", "out.npz"}, {folder.file(""), {}, {}});
  CHECK(arrays_of(folder.file("out.npz")).at("output")->shape().sizes() == std::vector<Index>{1, 10, 8});
}
