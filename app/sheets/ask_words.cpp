#include "app/sheets/ask_words.h"

#include <algorithm>
#include <array>

namespace headwise {
namespace {

// By page, in the order of docs and menus. What belongs here is how a page is asked for, not what one question said.
constexpr auto words_of_pages = std::to_array<AskWords>({
    // docs/window.md
    {"The window: The window", "user guide manual overview interface gui program how to use start"},
    {"The window: The intro",
     "opening first screen arcs animal street tired wide skip intro welcome start sentence"},
    {"The window: Steps",
     "walk through stages animation play pause speed timeline next previous arrow keys hints tips"},
    {"The window: Numbers",
     "where does a number value cell come from hover click pin inspect breakdown contributions calculation "
     "formula terms "
     "dot product arithmetic exact raw value trace why this number tooltip follow a query token through the "
     "layer"},
    {"The window: Heads",
     "choose select switch head layer thumbnail what does each head do specialise pattern pronoun hand-made "
     "untrained"},
    {"The window: Mute a head",
     "turn off disable remove ablate prune knock out zero without a head effect contribution gain strength "
     "importance"},
    {"The window: Freeze a head", "fix lock keep constant attention pattern weights patch values only"},
    {"The window: Your own inputs", "enter change try custom input sentence example words vectors edit"},
    {"The window: Text",
     "type enter change my own sentence input prompt example language unicode chinese japanese emoji line "
     "break"},
    {"The window: Words that the model knows",
     "autocomplete suggestions vocabulary unknown words underline dotted build sentence example try random"},
    {"The window: Sizes and settings",
     "change dimensions parameters number of heads embed_dim sequence length invalid value error "
     "hyperparameters"},
    {"The window: Masks",
     "draw paint edit custom mask brush grey hatched striped cell block pairs by hand mouse convention "
     "boolean cross"},
    {"The window: Single numbers",
     "change edit set write overwrite one weight parameter cell value by hand manually myself"},
    {"The window: Views",
     "visualise show all heads lines bertviz colours compare side by side difference gradients memory "
     "prediction kinds of "
     "pictures displays query columns"},
    {"The window: Train: watch it learn",
     "train a model train my own model train a transformer training data learns why heads differ do "
     "different things "
     "come to differ who tells a head its job"},
    {"The window: Full size",
     "long sequence length many tokens thousands 512 1024 2048 4096 8192 documents context big large models "
     "llama gpt real "
     "size scale speed gpu zoom limit maximum crash slow"},
    {"The window: Saving and copying",
     "export download figure image picture png svg pdf vector graphics latex thesis paper publication csv "
     "excel spreadsheet "
     "numpy python code clipboard numbers raw values"},
    {"The window: Keyboard, themes, errors",
     "shortcuts hotkeys keys accessibility without mouse dark mode light colours search help command palette "
     "screen reader "
     "hidden features find log"},
    {"The window: The letters",
     "symbols notation dimensions meaning of N L S E H G D Dv d_model d_k d_v head_dim names tensors shape "
     "abbreviations"},
    // docs/lessons.md
    {"Lessons and playlists: Lessons and playlists",
     "tutorial course learn teach exercises practice beginner curriculum"},
    {"Lessons and playlists: Questions learners ask",
     "quiz test faq exercises with answers practice predict guess first"},
    {"Lessons and playlists: Break it", "failure modes experiments what goes wrong ablations"},
    {"Lessons and playlists: A lesson of your own",
     "write create make build author custom tutorial exercise page playlist json teacher prepare homework"},
    {"Lessons and playlists: In front of a class",
     "teacher teaching lecture projector beamer present presentation hall audience fullscreen big type "
     "clicker lecture room "
     "hide panels spotlight laser"},
    {"Lessons and playlists: Slides",
     "powerpoint keynote beamer pictures of pages gif animated video export web browser"},
    {"Lessons and playlists: Every key of a page", "playlist json format reference fields schema"},
    {"Lessons and playlists: Questions that take an answer",
     "quiz exam multiple choice grade check students answers own question number cell"},
    {"Lessons and playlists: Live numbers",
     "placeholders braces template variables in captions computed expressions"},
    // docs/command-line.md
    {"The command line: The command line",
     "terminal shell script batch headless without window cli commands automation server"},
    {"The command line: Run and export",
     "save dump store all tensors intermediate activations npz safetensors npy own arrays weights input "
     "numpy python headless "
     "attention per head raw values gradients"},
    {"The command line: What a run's file contains",
     "npz format metadata read load in python result reopen json"},
    {"The command line: Compare",
     "my implementation differs does not match wrong result debug find bug verify reference torch allclose "
     "mismatch cached "
     "uncached unit test reimplementation check"},
    {"The command line: Info",
     "flops multiply-adds macs cost compute complexity number of parameters memory size statistics summary "
     "count"},
    {"The command line: Warnings and exit status", "return code error code fail ci script stderr strict"},
    // docs/scenarios.md
    {"Scenario files: Scenario files",
     "json config configuration format settings list of all options save load share link state"},
    {"Scenario files: Masks",
     "mask preset sliding prefix dilated document block sparse local pattern json longformer"},
    {"Scenario files: Frozen heads",
     "fixed given attention weights inject replace my own attention map patching"},
    {"Scenario files: Rotary positions",
     "rope rope_theta base interleaved neighbouring rotate half pairs frequencies scaling long context"},
    {"Scenario files: Clipping", "clamp limit qkv values parameters layer of a model"},
    // docs/models.md
    {"Models from files: Models from files",
     "load open import use own my custom finetuned checkpoint weights safetensors pt bin pth gguf onnx h5 "
     "convert folder "
     "huggingface download llama gpt bert"},
    {"Models from files: What is recognised",
     "supported models list which architectures work bert gpt llama mistral qwen gemma vit vision "
     "transformer image patches "
     "t5 whisper compatible my own model newer"},
    {"Models from files: Heads", "wrong number of heads config.json missing layers"},
    {"Models from files: A layer comes with its settings",
     "exact equal faithful unsupported q_norm k_norm qk norm rope scaling sinks relative bias warning config "
     "newer models"},
    {"Models from files: encoders", "bert roberta vit clip image vision patches"},
    {"Models from files: encoders with decoders", "translation seq2seq whisper bart t5"},
    {"Models from files: decoders", "gpt llama mistral qwen gemma causal language model autoregressive"},
    {"Models from files: A text through the model itself",
     "run my text sentence through a real model tokenizer hidden states logits prompt bert gpt tested "
     "transformers"},
    {"Models from files: Heads worth looking at",
     "find interesting heads list table of all heads every layer score previous token head induction head "
     "mute ablate each "
     "importance rank automatic survey"},
    {"Models from files: Built-in models",
     "included shipped default model offline no download pretrained small size"},
    {"Models from files: How they were trained",
     "training data dataset corpus loss epochs steps time parameters from scratch reproduce emerge learned "
     "author made"},
    {"Models from files: What they cannot do",
     "limits limitations weaknesses understand english knowledge words chat answer questions generate "
     "writing vocabulary size "
     "wrong prediction world"},
    // docs/trust.md
    {"How far it can be trusted: How far it can be trusted",
     "correct accurate accuracy precision verified right numbers reliable believe proof validated exact "
     "errors"},
    {"How far it can be trusted: Against PyTorch",
     "same as torch nn.MultiheadAttention tested verified float64 tolerance"},
    {"How far it can be trusted: Against itself",
     "tests mutation transformers onnx huggingface verified peers"},
    {"How far it can be trusted: Offline",
     "internet connection network online web version server cloud upload privacy private data without wifi "
     "no download "
     "telemetry link share in the browser"},
    // docs/performance.md
    {"How fast Headwise is: How fast Headwise is",
     "speed fast slow performance benchmark compared to pytorch frame rate latency lag milliseconds fps"},
    {"How fast Headwise is: Full size in the window",
     "long sequences large models speed 2048 4096 tokens memory needed"},
    {"How fast Headwise is: The fused backend",
     "flash attention cpu avx simd speed gflops compared to pytorch threads"},
    {"How fast Headwise is: The gl backend", "gpu graphics card cuda opengl compute shader speed"},
    {"How fast Headwise is: Memory of a run", "ram bytes gigabytes out of memory oom quadratic"},
    {"How fast Headwise is: Building", "compile build time install cmake packages"},
    // Commands
    {"Command: Open…", "load import file model checkpoint folder json drag drop own"},
    {"Command: Save", "store keep write"},
    {"Command: Save scenario…", "store settings state share configuration json export"},
    {"Command: Export picture…",
     "save download figure image vector graphics svg pdf png csv npy latex paper thesis publication matrix "
     "data"},
    {"Command: Save program…", "python pytorch numpy einsum code script source reproduce generate notebook"},
    {"Command: Copy program",
     "python pytorch numpy einsum code script snippet source reproduce this generate notebook"},
    {"Command: Save the stage as picture…", "screenshot slide figure image download"},
    {"Command: Save animation…", "gif video movie apng record animated"},
    {"Command: Save slides…", "export slides lecture presentation powerpoint pages images download"},
    {"Command: Restore last session", "reopen continue where i left yesterday crash recover lost"},
    {"Command: Quit", "exit close leave"},
    {"Command: Undo",
     "revert take back last change mistake step back earlier state previous settings go back ctrl z"},
    {"Command: Redo", "repeat again forward"},
    {"Command: Copy value", "clipboard one number cell raw exact"},
    {"Command: Copy map as table", "clipboard excel spreadsheet tsv csv raw numbers matrix values"},
    {"Command: Copy map as np.array", "clipboard numpy python raw matrix values"},
    {"Command: Copy mask as booleans", "clipboard attn_mask numpy true false bool"},
    {"Command: Copy map as image", "clipboard heatmap picture screenshot"},
    {"Command: Back to previous cell", "return where i was history link"},
    {"Command: Unpin", "release deselect unselect cancel stop"},
    {"Command: Causal mask",
     "bidirectional switch autoregressive triangle future unmasked gpt decoder toggle off"},
    {"Command: Mute head", "turn off disable remove ablate kill prune drop zero knock out head"},
    {"Command: Solo head", "only one head isolate alone all others off"},
    {"Command: Freeze head", "lock fix hold keep attention pattern"},
    {"Command: Clear painted mask", "remove delete erase reset drawn mask"},
    {"Command: Discard manual edits", "reset restore original numbers defaults"},
    {"Command: Next step", "forward arrow key advance"},
    {"Command: Previous step", "backward arrow key"},
    {"Command: Play", "animate animation start pause stop run automatically"},
    {"Command: Next head", "switch other head arrow"},
    {"Command: Pin for comparison",
     "compare baseline before after side by side next to each other two runs difference keep"},
    {"Command: Memory order", "strides layout contiguous view reshape floats"},
    {"Command: All the way",
     "trace back dependency provenance receptive field influence which inputs contributed"},
    {"Command: Queries as columns", "transpose flip swap axes orientation rows columns other way round"},
    {"Command: Colour scale per head",
     "colour scale range normalise brightness contrast legend what does a colour mean colormap"},
    {"Command: Heads of the model…",
     "table list overview find interesting heads previous token induction entropy score"},
    {"Command: Full size…", "long sequences many tokens thousands 2048 4096 large real models llama gpt"},
    {"Command: Train: watch it learn…", "train model heads learn form differ"},
    {"Command: Slower motion", "animation too fast speed"},
    {"Command: Faster motion", "animation too slow speed"},
    {"Command: Reduce motion", "animation off sick accessibility fade disable"},
    {"Command: Another theme",
     "dark mode light mode black white background colours night appearance contrast projector"},
    {"Command: Larger text", "zoom in font size bigger enlarge scale ui hidpi readable small letters"},
    {"Command: Smaller text", "zoom out font size shrink"},
    {"Command: Normal text", "reset font size default zoom"},
    {"Command: Stage alone", "hide panels sidebars only the map maximise distraction"},
    {"Command: Full-screen stage", "fullscreen f11 maximise whole screen present hide everything"},
    {"Command: Spotlight", "highlight focus dim laser pointer attention of the class"},
    {"Command: New playlist", "create write make my own lesson tutorial"},
    {"Command: Present playlist", "start lesson slideshow show f5"},
    {"Command: Leave playlist", "exit quit end close the lesson return to my own scenario"},
    {"Command: Answer again", "wrong answer try again change redo my answer retry question"},
    {"Command: Start over", "reset forget all answers rehearsal again from the first page restart lesson"},
    {"Command: Blank screen", "black dark screen hide projector pause attention of the class"},
    {"Command: Presenter notes", "speaker notes clock timer elapsed time rehearse next slide"},
    {"Command: Restore page", "reset lesson page undo my changes"},
    {"Command: Is it the same?", "equal equivalent compare layouts one wide head packed hard lookup proof"},
    {"Command: Ask a question…", "search help find"},
    {"Command: Commands…", "search palette find feature hidden everything it can do"},
    {"Command: Intro", "opening first screen welcome start again"},
    {"Command: First steps", "hints tips getting started tutorial hidden features what can i do beginner"},
    {"Command: Documentation", "manual docs help read guide browser online"},
    {"Command: Keys", "keyboard shortcuts hotkeys cheat sheet key bindings list"},
    {"Command: Error log", "errors problems crash report bug messages debug"},
    {"Command: About Headwise", "version licence release author letters"},
    {"Command: Walk the cells", "keyboard navigation arrows without mouse move from number to number"},
    {"Command: What is this?", "explain control tooltip help unknown button"},
    // Steps
    {"Step: Go to Inputs", "embedding x input matrix tokens first"},
    {"Step: Go to Project", "linear layer w_q w_k w_v in_proj weight matrix qkv projection multiply"},
    {"Step: Go to Split heads", "reshape view transpose divide cut"},
    {"Step: Go to Scores", "qk transpose product similarity matrix raw attention energy alignment"},
    {"Step: Go to Scale", "sqrt d_k divide variance normalisation"},
    {"Step: Go to Mask", "attn_mask minus infinity masked_fill add bias"},
    {"Step: Go to Softmax", "probabilities normalise exp weights distribution"},
    {"Step: Go to Weighted sum", "attention times values av context vector head output average"},
    {"Step: Go to Concat", "torch.cat join merge heads put together"},
    {"Step: Go to Output", "out_proj w_o final linear mix combine"},
    // Views
    {"View: One head", "single head only selected heatmap"},
    {"View: All heads", "grid overview every head compare heads side by side thumbnails"},
    {"View: Tokens",
     "lines arcs bertviz attention from a word to others connections graph edges several words sum"},
    {"View: q∘k", "elementwise product why does a head look at a word dimensions contribute score neuron"},
    {"View: Gradients",
     "backward backprop derivative gradient of the loss with respect to q saliency training"},
    {"View: Compare", "difference before after two runs side by side next to each other baseline diff"},
    {"View: Memory", "strides layout floats contiguous view reshape transpose storage"},
    {"View: Prediction",
     "next word output probabilities logits what does the model predict guess effect of head generated token "
     "unembedding "
     "logit lens"},
    // Settings and presets
    {"Setting: text", "type enter change my own sentence prompt input"},
    {"Setting: causal", "bidirectional unmasked gpt decoder triangle see later tokens"},
    {"Setting: attention", "encoder decoder second sentence two sequences translation image"},
    {"Setting: temperature", "sharpness sharper softer flatter"},
    {"Setting: mask value", "value of blocked scores finite zero minus 10000 float min"},
    {"Setting: num_heads", "more fewer heads change count"},
    {"Setting: rotary base", "10000 500000 long context frequencies"},
    {"Setting: batch", "batch size several sentences"},
    {"Preset: Open welcome", "pronoun it animal street example coreference start"},
    {"Preset: Open copycat", "induction head causal decoder gpt generate repeat copy next word"},
    {"Preset: Open hand_made", "simple readable example previous word clean"},
    {"Preset: Open random", "untrained initialisation before training"},
    {"Preset: Open cross_attention",
     "encoder decoder translation two sentences query from one key value from other"},
    {"Preset: Open grouped_query", "gqa llama mistral shared kv"},
});

}  // namespace

std::span<const AskWords> ask_words_of_pages() {
  return words_of_pages;
}

std::string_view ask_words_of(std::string_view page) {
  for (const std::span<const AskWords> words :
       {ask_words_of_pages(), ask_words_of_terms(), ask_words_of_lessons()}) {
    const auto found = std::ranges::find(words, page, &AskWords::page);
    if (found != words.end()) return found->words;
  }
  return {};
}

}  // namespace headwise
