// Models of pictures, held against what transformers computes with them: tests/golden/make_picture_golden.py.
#include <array>

#include "core/model/transformer/predictions.h"
#include "core/model/transformer/text_model.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/model/transformer/transformer_golden.h"
#include "tests/refusals.h"

using namespace headwise;
using namespace headwise::test;

namespace {

const std::string picture_models = HEADWISE_SOURCE_DIR "/tests/golden/models/";
const std::string photo = HEADWISE_SOURCE_DIR "/tests/golden/pictures/photo.png";
constexpr std::array models_of_pictures{"vit", "vit_base", "vit_wide", "vit_msn", "deit", "deit_teacher"};

// The files of a model, with another config.json or none of its preprocessor_config.json.
void copy_model(const TemporaryFolder& folder, const std::string& name, const std::string& from,
                const std::string& to, bool with_processor = true) {
  std::string config = content_of(picture_models + name + "/config.json");
  if (!from.empty()) {
    REQUIRE(config.find(from) != std::string::npos);
    config.replace(config.find(from), from.size(), to);
  }
  folder.with_file("config.json", config);
  folder.with_file("model.safetensors", content_of(picture_models + name + "/model.safetensors"));
  if (with_processor)
    folder.with_file("preprocessor_config.json",
                     content_of(picture_models + name + "/preprocessor_config.json"));
}

}  // namespace

TEST_CASE("a picture through a model is what transformers computes, from the file to the classes") {
  for (const std::string name : models_of_pictures) {
    CAPTURE(name);
    const auto model = TextModel::open(picture_models + name);
    REQUIRE(model->no_picture().empty());
    const Golden golden = golden_arrays(picture_models + name + "/values.npz");
    const auto same = [&](const Tensor& got, const std::string& what) {
      CAPTURE(what);
      CHECK(relative_difference(got, *golden.at(what)) < golden_tolerance);
    };
    const ModelText read = model->read_picture(photo);
    same(*read.picture->pixel_values, "0.pixel_values");
    const Transformer& transformer = *model->transformer();
    const Transformer::Pass pass =
        transformer.run(*golden.at("0.pixel_values"), Transformer::RunOptions{.keep_weights = true});
    REQUIRE(pass.hidden_states.size() == 3);
    CHECK(pass.hidden_states[0]->shape().size(1) == read.length());
    for (std::size_t l = 0; l < 3; ++l) same(*pass.hidden_states[l], "0.hidden." + std::to_string(l));
    for (std::size_t l = 0; l < 2; ++l) same(*pass.attn_weights[l], "0.attention." + std::to_string(l));
    same(*pass.last_hidden, "0.final");
    if (golden.contains("0.logits"))
      same(*transformer.logits(*pass.last_hidden, 0, 1), "0.logits");
    else
      CHECK_CONTAINS(transformer.no_words(), "the model has no classifier");
  }
}

TEST_CASE("the tokens of a picture are its first tokens and its patches, by row and column") {
  const auto vit = TextModel::open(picture_models + "vit");
  const ModelText read = vit->read_picture(photo);
  CHECK(read.length() == 17);
  CHECK(read.labels[0] == "[CLS]");
  CHECK(read.labels[1] == "r0 c0");
  CHECK(read.labels[7] == "r1 c2");
  CHECK(read.special[0]);
  CHECK_FALSE(read.special[1]);
  CHECK(read.picture->shown.width == 32);
  CHECK(vit->read_picture(photo).picture == read.picture);  // read once
  const ModelText teacher = TextModel::open(picture_models + "deit_teacher")->read_picture(photo);
  CHECK(teacher.labels[1] == "[DIST]");
  CHECK(teacher.labels[2] == "r0 c0");
  const ModelText wide = TextModel::open(picture_models + "vit_wide")->read_picture(photo);
  CHECK(wide.labels.back() == "r1 c3");
}

TEST_CASE("the classes of a picture have the names of config.json") {
  const auto vit = TextModel::open(picture_models + "vit");
  CHECK(vit->label(1) == "garden");
  CHECK(vit->label(7) == "#7");
  const Transformer::Pass pass = vit->run(vit->read_picture(photo), {});
  const auto top = top_tokens(*vit->transformer(), *pass.last_hidden, 8);
  REQUIRE(top.size() == 1);  // of the whole picture
  CHECK(top[0].size() == 3);
  CHECK(predicted_token(vit->transformer()->config()) == PredictedToken::picture_class);
  const TemporaryFolder folder;
  copy_model(folder, "vit", "\"1\": \"garden\"", "\"1\": 3");
  CHECK(TextModel::open(folder.file(""))->label(1) == "class 1");
}

TEST_CASE("a picture's transparency is left out, and said") {
  const auto vit = TextModel::open(picture_models + "vit");
  const ModelText read = vit->read_picture(HEADWISE_SOURCE_DIR "/tests/golden/pictures/rgb-alpha-8.png");
  REQUIRE(read.notices.size() == 1);
  CHECK_CONTAINS(read.notices[0], "transparency is left out");
}

TEST_CASE("what does not fit a model of pictures is refused with one line") {
  const auto vit = TextModel::open(picture_models + "vit");
  refused_with([&] { vit->read("cat"); },
               {"this model cannot read text", "it reads pictures", "inputs.picture"});
  const auto bert = TextModel::open(picture_models + "bert");
  refused_with([&] { bert->read_picture(photo); }, {"this model cannot read a picture", "it reads texts"});
  refused_with([&] { vit->transformer()->run(std::vector<TokenId>{1}); }, {"this model reads pictures"});
  const Tensor small({{"C", 3}, {"H", 8}, {"W", 8}}, DType::f32);
  refused_with([&] { vit->transformer()->run(small, {}); }, {"another size", "(3,8,8)", "(3,32,32)"});
  refused_with([&] { bert->transformer()->run(small, {}); }, {"this model reads texts"});
  {
    const TemporaryFolder folder;  // more patches than positions
    copy_model(folder, "vit", "\"image_size\": 32", "\"image_size\": 64");
    CHECK_CONTAINS(TextModel::open(folder.file(""))->no_picture(), "17, as embeddings.position_embeddings");
  }
  {
    const TemporaryFolder folder;  // a processor for another size
    copy_model(folder, "vit", "", "");
    folder.with_file("preprocessor_config.json", R"({"size": {"height": 48, "width": 40}})");
    const auto other = TextModel::open(folder.file(""));
    refused_with([&] { other->read_picture(photo); },
                 {"40 × 48 pixels", "32 × 32", "preprocessor_config.json"});
  }
  {
    const TemporaryFolder folder;
    copy_model(folder, "vit", "\"patch_size\": 8", "\"patch_size\": 9", false);  // the array is what counts
    const auto other = TextModel::open(folder.file(""));
    const ModelText read = other->read_picture(photo);
    REQUIRE(read.notices.size() == 1);
    CHECK_CONTAINS(read.notices[0], "there is no preprocessor_config.json");
  }
}
