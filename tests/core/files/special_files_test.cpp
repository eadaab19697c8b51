#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/array_files.h"
#include "tests/checks.h"
#include "tests/core/files/refusal.h"

using namespace headwise;

TEST_CASE("what is not a regular file is refused by name and never waited for") {
  const TemporaryFolder folder;
  CHECK_CONTAINS(refusal_of(folder.file("missing.npz")), "file not found");
  CHECK_CONTAINS(refusal_of(folder.file(".")), "a folder");
  const std::string pipe = folder.file("pipe.npz");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_CONTAINS(refusal_of(pipe), "a pipe");
  CHECK_CONTAINS(refusal_of("/dev/zero"), "a device");
  CHECK_CONTAINS(refusal_of("/dev/null"), "a device");
  CHECK_CONTAINS(refusal_of(folder.with_file("empty.npz", "")), "an empty file");
  const std::string loop = folder.file("loop.npz");
  REQUIRE(symlink(loop.c_str(), loop.c_str()) == 0);
  refusal_of(loop);
  CHECK_THROWS_AS(read_array_file(""), Error);
}

TEST_CASE("a file without read permission is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.with_file("a.npz", "PK");
  REQUIRE(chmod(path.c_str(), 0) == 0);
  if (geteuid() == 0) {
    MESSAGE("skipped: root may read everything");
    return;
  }
  CHECK_CONTAINS(refusal_of(path), "Permission denied");
}

TEST_CASE("the content tells the format, not the name") {
  const TemporaryFolder folder;
  const std::string corpus = HEADWISE_SOURCE_DIR "/tests/core/files/corpus/";
  CHECK(read_array_file_info(folder.with_file("x.dat", content_of(corpus + "le_f4.npy"))).format == "npy");
  CHECK(read_array_file(folder.with_file("query.dat", content_of(corpus + "le_f4.npy"))).at(0).name ==
        "query");
  CHECK(read_array_file_info(folder.with_file("x.npy", content_of(corpus + "stored.npz"))).format == "npz");
  CHECK(read_array_file_info(folder.with_file("x.pt", content_of(corpus + "small.safetensors"))).format ==
        "safetensors");
  CHECK_CONTAINS(refusal_of(folder.with_file("x.dat", "anything else")), "not recognised");
  CHECK_CONTAINS(refusal_of(folder.with_file("x.npy", "anything else")), "not an npy array");
  CHECK_CONTAINS(refusal_of(folder.with_file("x.npz", "anything else")), "ZIP");
  CHECK_CONTAINS(refusal_of(folder.with_file("x.safetensors", "anything else")), "length");
}

TEST_CASE("a pickle is refused with the two lines of Python that convert it") {
  const TemporaryFolder folder;
  const std::string legacy("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
  const std::string torch = refusal_of(folder.with_file("model.pt", legacy));
  CHECK_CONTAINS(torch, "import torch, safetensors.torch as st; ");
  CHECK_CONTAINS(torch, "st.save_file(");
  CHECK_CONTAINS(torch, "torch.load('model.pt', 'cpu', weights_only=True)");
  CHECK(torch.ends_with("'model.safetensors')"));
  const std::string plain = refusal_of(folder.with_file("arrays.pkl", "\x80\x04\x95rest"));
  CHECK(plain.ends_with(
      "import numpy, pickle; numpy.savez('arrays.npz', **pickle.load(open('arrays.pkl', 'rb')))"));
  CHECK_CONTAINS(refusal_of(folder.with_file("ascii.pkl", "(dp0\n.")), "a Python pickle");
  CHECK_CONTAINS(refusal_of(folder.with_file("it's; rm -rf.pkl", "\x80\x04rest")), "open('FILE', 'rb')");
}

TEST_CASE("what converts a file is told to its end, however long the file's name is") {
  const TemporaryFolder folder;
  const std::string pickle("\x80\x02rest"), gguf("GGUF\x03rest");
  for (const std::size_t length : {1u, 100u, 200u}) {
    const std::string name(length, 'm');
    CAPTURE(length);
    for (const auto& [ending, content] : {std::pair{".bin", pickle}, {".pt", pickle}, {".gguf", gguf}}) {
      CAPTURE(ending);
      const std::string line = refusal_of(folder.with_file(name + ending, content));
      CAPTURE(line);
      CHECK_LACKS(line, "…");
      CHECK((line.ends_with("')") || line.ends_with("then open the folder it creates")));
    }
  }
}

TEST_CASE("models of other programs are refused with what converts them") {
  const TemporaryFolder folder;
  const auto has = [&](const std::string& name, const std::string& content, const std::string& part) {
    const std::string line = refusal_of(folder.with_file(name, content));
    CAPTURE(line);
    CHECK_CONTAINS(line, part);
    CHECK(line.find('\n') == std::string::npos);
  };
  has("tiny.gguf", "GGUF\3", "from_pretrained('.', gguf_file='tiny.gguf').save_pretrained('tiny')");
  has("renamed.bin", "GGUF\3", "gguf_file='renamed.bin'");
  has("tf_model.h5", "\x89HDF\r\n\x1a\n", "from_tf=True");
  has("weights.dat", "\x89HDF\r\n\x1a\n", "from_tf=True");
  has("flax_model.msgpack", "x", "from_flax=True");
  has("model.onnx", "\x08\x07", "numpy.savez('model.npz'");
}

TEST_CASE("a pickle inside a ZIP archive, as torch.save writes it, is refused") {
  const TemporaryFolder folder;
  // An archive of one empty, stored entry "model/data.pkl".
  const std::string name = "model/data.pkl", fields(22, '\0');
  const std::string local = std::string("PK\3\4", 4) + fields + std::string("\x0e\0\0\0", 4) + name;
  const std::string directory =
      std::string("PK\1\2\0\0", 6) + fields + std::string("\x0e\0\0\0", 4) + std::string(14, '\0') + name;
  const std::string end =
      std::string("PK\5\6\0\0\0\0\1\0\1\0", 12) + std::string("\x3c\0\0\0\x2c\0\0\0\0\0", 10);
  const std::string line = refusal_of(folder.with_file("model.bin", local + directory + end));
  CHECK_CONTAINS(line, "torch.load('model.bin'");
}
