// What is refused by its sizes, before numbers are read or computed.
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "tests/app/cli/program_run.h"
#include "tests/checks.h"
#include "tests/core/files/npz_with_entries.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

// Far less than the files of these tests hold: whoever reads one whole has no memory for it. A sanitizer
// needs the addresses.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit limit{2 * gibibyte, 2 * gibibyte};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

// A file that begins with `start`, has a hole of `hole` bytes, which takes no disk space, and ends with
// `end`.
std::string sparse_file(const TemporaryFolder& folder, const std::string& name, const std::string& start,
                        std::uint64_t hole, const std::string& end = {}) {
  const std::string path = folder.with_file(name, start);
  std::filesystem::resize_file(path, start.size() + hole);
  std::ofstream(path, std::ios::binary | std::ios::app) << end;
  return path;
}

// The same bytes as numbers of a file: a little-endian integer of `bytes` bytes.
std::string little_endian(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i, number >>= 8) text += static_cast<char>(number & 0xFF);
  return text;
}

std::string safetensors_start(const std::string& name, const std::string& dtype, const std::string& shape,
                              std::uint64_t bytes) {
  const std::string json = "{\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape +
                           "],\"data_offsets\":[0," + std::to_string(bytes) + "]}}";
  return little_endian(json.size(), 8) + json;
}

// An archive of one stored entry that begins with `start`; its checksum is never reached.
std::string sparse_npz(const TemporaryFolder& folder, const std::string& file, const std::string& entry,
                       const std::string& start, std::uint64_t hole) {
  const std::uint64_t size = start.size() + hole;
  const std::string sizes = little_endian(0, 4) + little_endian(size, 4) + little_endian(size, 4) +
                            little_endian(entry.size(), 2) + little_endian(0, 2);
  const std::string common = std::string(8, '\0') + sizes;  // flags, stored, time and date
  const std::string local = "PK\3\4" + little_endian(20, 2) + common + entry;
  const std::string central =
      "PK\1\2" + little_endian(20, 2) + little_endian(20, 2) + common + little_endian(0, 14) + entry;
  const std::string end = std::string("PK\5\6") + little_endian(0, 4) + little_endian(1, 2) +
                          little_endian(1, 2) + little_endian(central.size(), 4) +
                          little_endian(local.size() + size, 4) + little_endian(0, 2);
  return sparse_file(folder, file, local + start, hole, central + end);
}

// An array of `rows` rows of four numbers in f32, in each of the formats.
std::vector<std::string> files_of(const TemporaryFolder& folder, const std::string& name, std::uint64_t rows) {
  const std::uint64_t bytes = rows * 16;
  const std::string shape = std::to_string(rows) + ",4", npy = npy_content("<f4", "(" + shape + ")", "");
  return {sparse_file(folder, name + ".npy", npy, bytes),
          sparse_file(folder, name + ".safetensors", safetensors_start(name, "F32", shape, bytes), bytes),
          sparse_npz(folder, name + ".npz", name + ".npy", npy, bytes)};
}

constexpr std::uint64_t rows_of_3_gibibytes = 3 * gibibyte / 16;
constexpr const char* scenario_start = R"({"headwise":1,"attention":{"embed_dim":4,"num_heads":2)";

}  // namespace

TEST_CASE("a wrong shape is refused by the header of its file, before its numbers are read") {
  const TemporaryFolder folder;
  const ProgramOptions limited{"", limit_memory, {}, {}};
  const std::string scenario = folder.with_file("small.json", std::string(scenario_start) + "}}");
  const std::string theirs = folder.with_file("output.npy", three_numbers()), out = folder.file("out.npz");
  struct Case {
    const char *array, *part;
  };
  for (const auto& [array, part] :
       {Case{"in_proj_weight", "in_proj_weight: the shape disagrees: got (201326592,4)"},
        Case{"out_proj.weight", "out_proj.weight: two arrays disagree about embed_dim"},
        Case{"in_proj_bias", "in_proj_bias: the number of axes is wrong"},
        Case{"attn_mask", "attn_mask: the shape disagrees"}, Case{"key_padding_mask", "key_padding_mask: "},
        Case{"static_k", "static_k: the number of axes is wrong"},
        Case{"key", "key: query, key and value must have the same number of axes"}}) {
    CAPTURE(array);
    const std::string query =
        folder.with_file("query.npy", npy_content("<f4", "(1, 2, 4)", std::string(32, '\0')));
    const bool with_weight = std::string_view(array) == "out_proj.weight";
    const std::string weight =
        folder.with_file("in_proj_weight.npy", npy_content("<f4", "(12, 4)", std::string(192, '\0')));
    for (const std::string& file : files_of(folder, array, rows_of_3_gibibytes)) {
      std::vector<std::string> inputs{scenario, "--input", query, "--input", file};
      if (with_weight) inputs.insert(inputs.end(), {"--input", weight});
      for (const Words& words : {Words{"run", "-o", out},
                                 {"compare", "--with", theirs},
                                 {"export", "--tensor", "output", "-o", folder.file("x.npy")}}) {
        check_refused(joined({words, inputs}), 3, part, limited);
      }
      std::filesystem::remove(file);
    }
  }
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("grad_output of a wrong shape is refused before anything is computed if there is a backward pass") {
  const TemporaryFolder folder;
  const std::string scenario = folder.with_file("small.json", std::string(scenario_start) + "}}");
  for (const std::string& file : files_of(folder, "grad_output", rows_of_3_gibibytes))
    check_refused({"run", scenario, "--backward", "--input", file, "-o", folder.file("x.npz")}, 3,
                  "grad_output: it does not fit the last output: got (1,201326592,4)",
                  {"", limit_memory, {}, {}});
}

TEST_CASE("an array of --with of a wrong shape is told by its header; one that is not compared is not read") {
  const TemporaryFolder folder;
  const ProgramOptions limited{"", limit_memory, {}, {}};
  const std::string scenario = folder.with_file(
      "small.json",
      std::string(scenario_start) + R"(},"inputs":{"source":"random"},"parameters":{"source":"random"}})");
  const auto compared = [&](const std::vector<std::string>& files) {
    std::vector<std::string> words{"compare", scenario};
    for (const std::string& file : files) words.insert(words.end(), {"--with", file});
    return run_program(words, limited);
  };
  const std::string right =
      folder.with_file("scores.npy", npy_content("<f4", "(1, 2, 10, 10)", std::string(800, '\0')));
  for (const char* array :
       {"output", "attn_output", "attn_output_weights", "k_heads", "attn_mask", "grad.q"}) {
    CAPTURE(array);
    for (const std::string& file : files_of(folder, array, rows_of_3_gibibytes)) {
      CAPTURE(file);
      const bool absent = std::string_view(array) == "attn_mask";
      const ProgramResult alone = compared({file}), beside = compared({right, file});
      CAPTURE(alone.err);
      CHECK(alone.status == (absent ? 3 : 1));
      CHECK(is_one_line(alone.err));
      if (!absent) CHECK_CONTAINS(alone.err, "the shapes disagree: ours (");
      if (!absent) CHECK_CONTAINS(alone.err, "theirs (201326592,4)");
      CHECK(beside.status == 1);
      CHECK((beside.out.find("201326592") == std::string::npos) == absent);
      std::filesystem::remove(file);
    }
  }
  const std::vector<std::string> unknown = files_of(folder, "labels", rows_of_3_gibibytes);
  CHECK(compared({right, unknown[0]}).status == 1);
  const ProgramResult twice = compared({unknown[0], unknown[1]});
  CHECK(twice.status == 3);
  CHECK_CONTAINS(twice.err, "an array is given twice: got labels");
}

TEST_CASE("a file that a scenario names is refused by its header too") {
  const TemporaryFolder folder;
  const ProgramOptions limited{"", limit_memory, {}, {}};
  const auto refused = [&](const std::string& rest, const std::string& part, int status = 3) {
    const std::string scenario =
        folder.with_file("named.json", std::string(scenario_start) + "}," + rest + "}");
    check_refused({"run", scenario, "-o", folder.file("x.npz")}, status, part, limited);
  };
  for (const std::string& file : files_of(folder, "query", rows_of_3_gibibytes))
    refused(R"("inputs":{"source":"file","file":")" + file + R"("},"mask":{"valid_lens":[[1]]})",
            "mask.valid_lens has a list of 1, L is 201326592", 2);
  const std::string query = folder.with_file(
      "small_query.npz",
      npz_with_entries({{"query.npy", npy_content("<f4", "(1, 2, 4)", std::string(32, '\0'))}}));
  for (const std::string& file : files_of(folder, "attn_mask", rows_of_3_gibibytes))
    refused(R"("inputs":{"source":"file","file":")" + query + R"("},"mask":{"file":")" + file + "\"}",
            "attn_mask: the shape disagrees");
  // All parameters in one file, of which one is wrong.
  const std::uint64_t large = rows_of_3_gibibytes * 16, all = large + 64;
  const std::string json = R"({"in_proj_weight":{"dtype":"F32","shape":[201326592,4],"data_offsets":[0,)" +
                           std::to_string(large) +
                           R"(]},"out_proj.weight":{"dtype":"F32","shape":[4,4],"data_offsets":[)" +
                           std::to_string(large) + "," + std::to_string(all) + "]}}";
  const std::string parameters =
      sparse_file(folder, "p.safetensors", little_endian(json.size(), 8) + json, all);
  refused(R"("parameters":{"source":"file","file":")" + parameters + "\"}",
          "in_proj_weight: the shape disagrees: got (201326592,4)");
}

TEST_CASE("a model whose layer has another width than the scenario is refused by its header") {
  const TemporaryFolder folder;
  const std::uint64_t matrix = std::uint64_t{4} * 16384 * 16384;
  std::string json = "{";
  std::uint64_t end = 0;
  for (const char* name : {"self.query", "self.key", "self.value", "output.dense"}) {
    json += std::string(end > 0 ? "," : "") + "\"encoder.layer.0.attention." + name +
            R"(.weight":{"dtype":"F32","shape":[16384,16384],"data_offsets":[)" + std::to_string(end) + ",";
    end += matrix;
    json += std::to_string(end) + "]}";
  }
  json += "}";
  const std::string model = sparse_file(folder, "model.safetensors", little_endian(json.size(), 8) + json, end);
  check_refused({"run", model, "--set", "attention.num_heads=4", "--set", "attention.embed_dim=64", "-o",
                 folder.file("x.npz")},
                3, "embed_dim = 64 written, E = 16384 in", {"", limit_memory, {}, {}});
}

TEST_CASE("a picture that its cells make too large is refused before anything is computed") {
  const TemporaryFolder folder;
  // What is computed has something to say: every key of the first row is blocked.
  const std::string mask =
      folder.with_file("attn_mask.npy", npy_content("|b1", "(12, 12)", std::string(144, '\1')));
  const Words exported{"export", "random", "--input", mask, "--tensor", "attn_weights", "-o"};
  const auto refused = [&](const char* file, const Words& more, const std::string& part) {
    check_refused(joined({exported, {folder.file(file)}, more}), 2, part);
    CHECK_FALSE(std::filesystem::exists(folder.file(file)));
  };
  refused("x.png", {"--scale", "3000"},
          "picture: it is too large: got 36000×36000 pixels; expected at most 32768 a side");
  refused("x.png", {"--scale", "1500", "--head", "all"}, "picture: it is too large: got ");
  // The cells alone would fit: the labels beside them do not.
  refused("x.png", {"--scale", "2730"}, "picture: it is too large: got 33613×33513 pixels");
  refused("x.png", {"--scale", "682", "--head", "all"}, "picture: it is too large: got 34051×17510 pixels");
  for (const char* file : {"x.png", "x.svg", "x.pdf"})
    refused(
        file, {"--scale", "200000"},
        "picture: it is too large: got 12 cells of 200000 pixels; expected at most 1000000 pixels a side");
  refused("x.csv", {"--head", "99"}, "attn_weights: there is no head 99");
  refused("x.npy", {"--batch", "1"}, "attn_weights: there is no batch 1");
}

TEST_CASE("an array of a type that cannot be read is passed over unless its name is one that is used") {
  const TemporaryFolder folder;
  const std::string scenario = folder.with_file("small.json", std::string(scenario_start) + "}}");
  const auto file_of = [&](const std::string& name, const std::string& dtype) {
    // 24 bytes of it, in front of a query of 32.
    const std::string json = "{\"" + name + "\":{\"dtype\":\"" + dtype +
                             R"(","shape":[24],"data_offsets":[0,24]},)" +
                             R"("query":{"dtype":"F32","shape":[1,2,4],"data_offsets":[24,56]}})";
    return folder.with_file("a.safetensors", little_endian(json.size(), 8) + json + std::string(56, '\0'));
  };
  for (const auto& [dtype, shown] : {std::pair("F8_E8M0", "f8_e8m0"),
                                     {"F8_E5M2FNUZ", "f8_e5m2fnuz"},
                                     {"F8_E4M3", "f8_e4m3"},
                                     {"F4", "F4"},
                                     {"F6_E2M3", "F6_E2M3"}}) {
    CAPTURE(dtype);
    const std::string named = folder.with_file(
        "named.json", std::string(scenario_start) + R"(},"inputs":{"source":"file","file":"a.safetensors"}})");
    for (const Words& with : {Words{scenario, "--input", folder.file("a.safetensors")}, {named}}) {
      const Words words = joined({{"run", "-o", folder.file("x.npz")}, with});
      file_of("scales", dtype);
      const ProgramResult passed = run_well(words);
      CHECK(is_one_line(passed.err));
      CHECK_CONTAINS(passed.err, "warning: left out: ");
      CHECK_CONTAINS(passed.err,
                     std::string("a.safetensors: scales: numbers of this type cannot be read: got ") + shown);
      file_of("key", dtype);
      check_refused(words, 3,
                    std::string("a.safetensors: key: numbers of this type cannot be read: got ") + shown);
    }
  }
}

TEST_CASE("what cannot be read in a file of a scenario is passed over unless the file is named for it") {
  const TemporaryFolder folder;
  const std::string query = npy_content("<f4", "(1, 2, 4)", std::string(32, '\0')),
                    objects = npy_content("|O", "(1,)", "x");
  const auto run = [&](const std::string& beside, const std::vector<std::string>& more) {
    folder.with_file("a.npz", npz_with_entries({{"query.npy", query}, {beside + ".npy", objects}}));
    const std::string named = folder.with_file(
        "named.json", std::string(scenario_start) + R"(},"inputs":{"source":"file","file":"a.npz"}})");
    return run_program(joined({{"run", named, "-o", folder.file("x.npz")}, more}));
  };
  for (const char* other : {"in_proj_weight", "attn_mask", "labels"}) {
    const ProgramResult passed = run(other, {});
    CAPTURE(passed.err);
    CHECK(passed.status == 0);
    CHECK_CONTAINS(passed.err, std::string("warning: left out: ") + folder.file("a.npz") + ": " + other);
  }
  const ProgramResult needed = run("key", {});
  CHECK(needed.status == 3);
  CHECK_CONTAINS(needed.err, "key: an array of Python objects");
  // Given otherwise, it is not needed.
  const std::string key = folder.with_file("key.npy", query);
  CHECK(run("key", {"--input", key}).status == 0);
  CHECK(run("key", {"--input", folder.file("a.npz")}).status == 3);
}
