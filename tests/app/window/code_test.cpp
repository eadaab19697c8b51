// The step as code: the styles, and the program that is taken along.
#include <imgui.h>

#include <string>

#include "app/stage/mask_bars.h"
#include "tests/app/clipboard.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"

using namespace headwise;

TEST_CASE("the style of the code is chosen in the inspector, and a click on the lines copies them") {
  WINDOW_OR_SKIP(bench, open_unpainted());
  bench.ui->click("step_bar/step/3").click("inspector/code/NumPy").click("inspector/code/lines");
  CHECK(clipboard().starts_with("scores = q_heads @ k_heads.swapaxes(-2, -1)\n"));
  bench.ui->click("inspector/code/einsum").click("inspector/code/lines");
  CHECK(clipboard().starts_with("scores = torch.einsum('nhld,nhsd->nhls', q_heads, k_heads)\n"));
}

TEST_CASE("the whole program can be copied, in the style that is shown") {
  WINDOW_OR_SKIP(bench, open_unpainted());
  bench.ui->click("inspector/code/NumPy").click("inspector/program");
  CHECK(clipboard().starts_with("# Multi-head attention in NumPy"));
  CHECK_LACKS(clipboard(), "import torch");
  bench.ui->click("inspector/code/PyTorch").click("inspector/program");
  CHECK_CONTAINS(clipboard(), "F.multi_head_attention_forward(");
}

TEST_CASE("the line that makes a boolean mask does not reuse the name of a mask with the other meaning") {
  for (const MaskConvention reading : {MaskConvention::true_blocks, MaskConvention::true_keeps}) {
    const auto code = mask_code(CodeStyle::pytorch, reading);
    REQUIRE(code);
    CHECK_LACKS(code->code, "attn_mask");
    CHECK(code->comment.starts_with("as attn_mask of "));
  }
}
