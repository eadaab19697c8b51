// Playlists that must be refused, and the words that their error line must have.
#include <string>
#include <vector>

#include "core/lessons/playlist.h"
#include "core/tensor/error.h"
#include "tests/refusals.h"

using namespace headwise;

namespace {

struct Malformed {
  std::string json;
  std::vector<std::string> words;
};

std::string pages(const std::string& list) {
  return "{\"headwise_playlist\": 1, \"pages\": " + list + "}";
}

std::string page(const std::string& keys) {
  return pages("[{}, {" + keys + "}]");
}

std::string asks(const std::string& answer) {
  return page("\"ask\": \"?\", \"caption\": \"!\", \"answer\": " + answer);
}

std::string choice(const std::string& options) {
  return "{\"kind\": \"choice\", \"options\": [" + options + "]}";
}

const std::vector<Malformed> malformed{
    {"", {"an empty text", "not JSON"}},
    {"{\"headwise_playlist\": 1, \"pages\": [{}]", {"line 1"}},
    {"[]", {"not a playlist", "headwise_playlist"}},
    {"{}", {"not a playlist"}},
    {"{\"headwise\": 1}", {"not a playlist"}},
    {"{\"headwise_playlist\": 1}", {"pages are missing", "1 to 1000"}},
    {"{\"headwise_playlist\": 2, \"pages\": [{}]}", {"newer Headwise", "version 2", "version 1"}},
    {"{\"headwise_playlist\": 0, \"pages\": [{}]}", {"unknown version"}},
    {"{\"headwise_playlist\": true, \"pages\": [{}]}", {"wrong type", "version, 1"}},
    {"{\"headwise_playlist\": 1, \"page\": [{}]}", {"unknown key \"page\"", "\"pages\""}},
    {"{\"headwise_playlist\": 1, \"titel\": \"x\", \"pages\": [{}]}", {"\"titel\"", "\"title\""}},
    {"{\"headwise_playlist\": 1, \"title\": 3, \"pages\": [{}]}", {"title", "a string"}},
    {"{\"headwise_playlist\": 1, \"pages\": [{}], \"pages\": [{}]}", {"occurs twice"}},
    {pages("{}"), {"pages", "an object", "a list"}},
    {pages("[]"), {"pages", "a list of 0"}},
    {pages("[3]"), {"page 1", "an object"}},
    {page("\"captoin\": \"x\""), {"page 2", "\"captoin\"", "\"caption\""}},
    {page("\"caption\": [\"x\"]"), {"page 2: caption", "a string"}},
    {page("\"step\": \"softmaks\""), {"page 2: step", "\"softmaks\"", "\"softmax\""}},
    {page("\"step\": \"Softmax\""), {"\"softmax\""}},
    {page("\"step\": 3"), {"step", "one of inputs"}},
    {page("\"view\": \"all\""), {"view", "all_heads"}},
    {page("\"head\": -1"), {"page 2: head", "-1", "from 0 to"}},
    {page("\"head\": 1.5"), {"head", "1.5"}},
    {page("\"head\": 1e300"), {"head", "out of range"}},
    {page("\"head\": \"all\""), {"head", "wrong type"}},
    {page("\"batch\": null"), {"batch", "null"}},
    {page("\"tensor\": \"score\""), {"tensor", "\"scores\""}},
    {page("\"tensor\": \"grad.scores\""), {"view gradients"}},
    {page("\"pin\": [0, 1]"), {"pin", "tensor and index"}},
    {page("\"pin\": {\"tensor\": \"q\"}"), {"\"index\" is missing"}},
    {page("\"pin\": {\"tensor\": \"q\", \"indx\": []}"), {"\"indx\"", "\"index\""}},
    {page("\"pin\": {\"tensor\": \"q\", \"index\": []}"), {"pin.index", "a list of 0"}},
    {page("\"pin\": {\"tensor\": \"q\", \"index\": [0, -3]}"), {"pin.index", "-3"}},
    {page("\"pin\": {\"tensor\": \"q\", \"index\": [1,2,3,4,5,6,7,8,9]}"), {"a list of 9"}},
    {page("\"pin\": {\"tensor\": \"W_q\", \"index\": [1]}"), {"no tensor of this name"}},
    {page("\"spotlight\": true"), {"spotlight", "\"pin\""}},
    {page("\"spotlight\": 1"), {"true or false"}},
    {page("\"masks_as\": \"true\""), {"masks_as", "true_blocks"}},
    {page("\"lines\": {}"), {"page 2: lines", "only the view tokens", "\"view\": \"tokens\""}},
    {page("\"view\": \"tokens\", \"lines\": 0.5"), {"lines", "share, per or both"}},
    {page("\"view\": \"tokens\", \"lines\": {\"share\": 0.6}"), {"lines.share", "0.6", "0.5, 0.8, 0.95 or 1"}},
    {page("\"view\": \"tokens\", \"lines\": {\"per\": \"kye\"}"), {"lines.per", "\"key\""}},
    {page("\"view\": \"tokens\", \"lines\": {\"shares\": 1}"), {"\"shares\"", "\"share\""}},
    {page("\"loss\": \"sum\""), {"loss", "only the view gradients"}},
    {page("\"view\": \"gradients\", \"loss\": \"Σ\""), {"loss", "\"Σ\"", "sum"}},
    {page("\"ask_step\": \"mask\""), {"ask_step", "no question"}},
    {page("\"ask\": \"?\", \"caption\": \"!\", \"ask_view\": \"tokns\""), {"ask_view", "\"tokens\""}},
    {page("\"keywords\": 1"), {"keywords", "a string"}},
    {page("\"answer\": {\"kind\": \"number\", \"is\": \"E\"}"), {"page 2: answer", "no question", "\"ask\""}},
    {page("\"veil\": true"), {"page 2: veil", "no question"}},
    {page("\"ask\": \"?\", \"caption\": \"!\", \"veil\": 1"), {"veil", "true or false"}},
    {page("\"ask\": \"?\", \"caption\": \"!\", \"veil\": true, \"ask_step\": \"mask\""),
     {"page 2: veil", "asks elsewhere", "ask_step"}},
    {asks("3"), {"page 2: answer", "wrong type", "an object"}},
    {asks("{}"),
     {"answer", "\"kind\" is missing", "number, choice, shape, head, cell, tensor, weights or mask"}},
    {asks("{\"kind\": \"nubmer\"}"), {"answer.kind", "\"number\""}},
    {asks("{\"kind\": \"number\"}"), {"answer", "\"is\" is missing"}},
    {asks("{\"kind\": \"number\", \"is\": \" \"}"), {"answer.is", "empty"}},
    {asks("{\"kind\": \"number\", \"is\": 0.5}"), {"answer.is", "a string"}},
    {asks("{\"kind\": \"number\", \"is\": \"0.5\"}"), {"page 2: answer.is", "a constant", "reads the page's"}},
    {asks("{\"kind\": \"number\", \"is\": \"0 * E + 5\"}"), {"a constant"}},
    {asks("{\"kind\": \"number\", \"is\": \"D - D + max scores / max scores\"}"), {"a constant"}},
    {asks("{\"kind\": \"number\", \"is\": \"E > 3\"}"), {"not a number", "an arithmetic expression"}},
    {asks("{\"kind\": \"number\", \"is\": \"query 0\"}"), {"not a number"}},
    {asks("{\"kind\": \"number\", \"is\": \"max score\"}"), {"answer.is", "score"}},
    {asks("{\"kind\": \"number\", \"is\": \"E E\"}"), {"left over"}},
    {asks("{\"kind\": \"number\", \"is\": \"E\", \"within\": 0}"), {"answer.within", "number > 0"}},
    {asks("{\"kind\": \"number\", \"is\": \"E\", \"whithin\": 1}"), {"\"whithin\"", "\"within\""}},
    {asks("{\"kind\": \"shape\", \"is\": \"E\"}"), {"answer.is", "not a shape", "shape k_heads"}},
    {asks("{\"kind\": \"shape\", \"is\": \"shape k_head\"}"), {"answer.is", "k_head"}},
    {asks("{\"kind\": \"head\", \"is\": \"3\"}"), {"answer.is", "a constant"}},
    {asks("{\"kind\": \"cell\", \"row\": \"L - 1\"}"), {"\"tensor\" is missing"}},
    {asks("{\"kind\": \"cell\", \"tensor\": \"scores\"}"), {"\"row\" and \"column\""}},
    {asks("{\"kind\": \"cell\", \"tensor\": \"grad.scores\", \"row\": \"L\"}"),
     {"answer.tensor", "a gradient"}},
    {asks("{\"kind\": \"cell\", \"tensor\": \"scores\", \"row\": \"8\", \"column\": \"7\"}"),
     {"page 2: answer", "a constant"}},
    {asks("{\"kind\": \"choice\", \"is\": \"E\"}"), {"unknown key \"is\""}},
    {asks("{\"kind\": \"choice\"}"), {"answer.options", "are missing", "2 to 9"}},
    {asks(choice("{\"text\": \"a\", \"is\": \"E = 1\"}")), {"answer.options", "a list of 1", "2 to 9"}},
    {asks(choice("{\"text\": \"a\", \"is\": \"E = 1\"}, 2")), {"answer.options[1]", "an object"}},
    {asks(choice("{\"text\": \"a\", \"is\": \"E = 1\"}, {\"text\": \"b\"}")),
     {"options[1]", "\"is\" is missing"}},
    {asks(choice("{\"text\": \"a\", \"is\": \"true\"}, {\"text\": \"b\", \"is\": \"E = 2\"}")),
     {"options[0].is", "a constant"}},
    {asks(choice("{\"text\": \"{max\", \"is\": \"E = 1\"}, {\"text\": \"b\", \"is\": \"E = 2\"}")),
     {"options[0].text"}},
    {page("\"scenario\": \"welcme\""), {"page 2: scenario", "\"welcome\""}},
    {page("\"scenario\": \"missing/file.json\""), {"page 2: scenario", "missing/file.json", "file not found"}},
    {page("\"scenario\": \"\""), {"no preset"}},
    {page("\"scenario\": 7"), {"scenario", "wrong type", "7"}},
    {page("\"scenario\": {\"attention\": {\"num_head\": 8}}"), {"page 2: scenario", "num_head", "num_heads"}},
    {page("\"set\": \"mask.is_causal=true\""), {"set", "a list"}},
    {page("\"set\": [1]"), {"set", "a string"}},
    {page("\"set\": [\"mask.is_causl=true\"]"), {"page 2: set", "mask.is_causal"}},
    {page("\"set\": [\"mask.is_causal\"]"), {"page 2: set"}},
};

}  // namespace

TEST_CASE("a malformed playlist is refused in one line that says where and what") {
  for (const Malformed& entry : malformed) {
    CAPTURE(entry.json);
    const std::string line = test::refused_with([&] { playlist_from_json(entry.json, "lesson.json"); },
                                                entry.words, ExitStatus::usage);
    CHECK(line.starts_with("lesson.json"));
  }
}

TEST_CASE("a playlist has at most 1000 pages, and its scenarios fit in 256 MiB") {
  const auto many = [](int count, const std::string& each) {
    std::string list = "[" + each;
    for (int i = 1; i < count; ++i) list += "," + each;
    return pages(list + "]");
  };
  CHECK(playlist_from_json(many(1000, "{}"), "p").pages.size() == 1000);
  CHECK_THROWS_WITH_AS(playlist_from_json(many(1001, "{}"), "p"), doctest::Contains("1 to 1000"), Error);
  // A page of other settings has a scenario of its own, here of a text of 1 MiB.
  const std::string large = "{\"scenario\": {\"inputs\": {\"text\": \"" +
                            std::string(std::size_t{1} << 20, 'x') + "\"}}},{\"set\": [\"inputs.seed=1\"]}";
  const auto settings = [&](int count) {
    std::string list = "[" + large;
    for (int i = 0; i < count; ++i) list += ",{\"set\": []}";
    return pages(list + "]");
  };
  CHECK(playlist_from_json(settings(250), "p").pages.size() == 252);
  CHECK_THROWS_WITH_AS(playlist_from_json(settings(254), "p"), doctest::Contains("256 MiB"), Error);
}
