#include "app/cli/subcommand.h"

#include <array>
#include <charconv>
#include <cmath>

#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr std::array commands{
    Subcommand{
        "run", "Compute a scenario and write every tensor of it to a file",
        "  headwise run welcome -o trace.npz\n"
        "  headwise run mha.json --input inputs.npz --input weights.safetensors --dtype f64 -o trace.npz\n"
        "  headwise run mha.json --backward --only output,grad.query,grad.in_proj_weight -o gradients.npz\n"
        "  headwise run mha.json --set attention.num_heads=4 --only attn_weights,output -o two.safetensors\n"
        "  headwise run mha.json -o mha.py --style numpy\n"
        "  headwise run bert-base-uncased --layers all --only attn_weights -o maps.npz\n"
        "  headwise run - --format npz -o - < mha.json > trace.npz\n",
        run_run},
    Subcommand{
        "export", "Write a tensor of a scenario as a picture, a table or an array",
        "  headwise export welcome --tensor attn_weights --head 3 -o head3.png\n"
        "  headwise export welcome --tensor attn_weights --head all --range 0:1 -o heads.svg\n"
        "  headwise export welcome --tensor attn_weights --title \"\" --bar-label weight -o figure.pdf\n"
        "  headwise export mha.json --input inputs.npz --tensor output --batch 1 -o output.csv\n",
        run_export},
    Subcommand{"render", "Write every page of a playlist as a picture, for slides",
               "  headwise render lesson.json -o slides\n"
               "  headwise render lesson.json -o slides --size 1280x720 --theme projector --motion\n"
               "  headwise render lesson.json -o slides --format svg\n"
               "  headwise render lesson.json -o slides.pdf\n",
               run_render},
    Subcommand{"compare", "Compare a scenario with the tensors of another program",
               "  headwise compare mha.json --input inputs.npz --with theirs.npz\n"
               "  headwise compare mha.json --input inputs.npz --with theirs.safetensors --dtype f64 "
               "--tolerance 1e-12\n"
               "  headwise compare model_folder --layers all --with theirs.npz\n"
               "  headwise compare sdpa.json --with output.npy --with attn_weights.npy --json\n",
               run_compare},
    Subcommand{
        "info", "Describe a scenario, an array file or a model, with a scenario's cost and comparisons",
        "  headwise info welcome\n"
        "  headwise info mha.json --set attention.num_heads=4 --json\n"
        "  headwise info model.safetensors\n  headwise info bert-base-uncased\n  headwise info trace.npz\n",
        run_info},
    Subcommand{
        "bench", "Measure the speed of the backends, or of the window",
        "  headwise bench\n"
        "  headwise bench --preset random --set attention.embed_dim=512 --backend fused,gl --repeat 9 "
        "--json\n"
        "  headwise bench --ui\n"
        "  headwise bench --ui --preset random --set inputs.source=random --set attention.embed_dim=512 "
        "--set inputs.query_length=512\n"
        "  headwise bench --ui --size 1280x720 --json\n",
        run_bench},
    Subcommand{"train", "Train a small model on a task, with checkpoints and a curve",
               "  headwise train induction -o run\n"
               "  headwise train induction -o wide --heads 1 --steps 300 --seed 1\n"
               "  headwise train reverse -o reverse --positions rotary --layers 2 --learning-rate 0.001\n"
               "  headwise train book.txt -o book --length 64 --steps 2000 --every 200\n"
               "  headwise train -o run --resume --steps 1000\n"
               "  headwise train induction -o heads --beside one-wide-head\n"
               "  headwise train induction -o induction.py\n",
               run_train},
    Subcommand{"list",
               "List what Headwise knows: presets, lessons, tensors, masks, colormaps, backends, settings, "
               "tasks, changes",
               "  headwise list tensors\n"
               "  headwise list settings\n"
               "  headwise list presets --json\n",
               run_list},
};

template <class T>
T whole_word(const std::string& option, const std::string& word, const char* expected) {
  T value{};
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  bool valid = error == std::errc() && stop == end;
  if constexpr (std::is_floating_point_v<T>) valid = valid && std::isfinite(value);
  if (!valid) throw Error(ExitStatus::usage, {option, "the value is wrong", word, expected, ""});
  return value;
}

}  // namespace

std::span<const Subcommand> subcommands() {
  return commands;
}

long long integer_of(const std::string& option, const std::string& word) {
  return whole_word<long long>(option, word, "a whole number");
}

double number_of(const std::string& option, const std::string& word) {
  return whole_word<double>(option, word, "a finite number");
}

}  // namespace headwise
