#include "core/tensor/progress.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>

#include "core/reference/reference_backend.h"
#include "core/reference/stage_cache.h"
#include "core/tensor/task_threads.h"
#include "core/trace/tensor_names.h"

using namespace headwise;

namespace {

AttentionInputs self_attention(Index length, DType dtype) {
  AttentionInputs inputs;
  inputs.dtype = dtype;
  AttentionOptions& o = inputs.options;
  o.embed_dim = o.kdim = o.vdim = 32;
  o.num_heads = o.num_kv_heads = 4;
  o.head_dim = o.v_head_dim = 8;
  const auto filled = [&](Shape shape) {
    Tensor tensor(std::move(shape), DType::f64);
    for (Index i = 0; double& value : tensor.values<double>()) value = 0.01 * static_cast<double>(i++ % 37);
    return std::make_shared<const Tensor>(tensor.converted(dtype));
  };
  TraceTensors& t = inputs.tensors;
  t.query = t.key = t.value = filled({{"N", 1}, {"L", length}, {"E", 32}});
  t.in_proj_weight = filled({{"3E", 96}, {"E", 32}});
  t.out_proj_weight = filled({{"E", 32}, {"H·Dv", 32}});
  return inputs;
}

}  // namespace

TEST_CASE("nothing is told where nobody asks") {
  const ProgressPart part(0.0, 1.0, "scores");
  const ProgressPart inner = slice_of_work(1, 2);
}

TEST_CASE("parts lie within the part around them, and what is told never falls") {
  Progress progress;
  const ProgressScope scope(progress);
  CHECK(progress.fraction() == 0.0);
  CHECK(std::string(progress.doing()).empty());
  {
    const ProgressPart half(0.0, 0.5, "scores");
    CHECK(std::string(progress.doing()) == "scores");
    {
      const ProgressPart inner = slice_of_work(1, 2);
      CHECK(progress.fraction() == 0.25);
    }
    CHECK(progress.fraction() == 0.5);
    const ProgressPart again = slice_of_work(0, 2);  // a second pass over the same part
    CHECK(progress.fraction() == 0.5);
  }
  {
    const ProgressPart rest(0.5, 1.0);
    CHECK(std::string(progress.doing()) == "scores");
    const ProgressPart inner = slice_of_work(4, 5);
    CHECK(progress.fraction() == doctest::Approx(0.9));
  }
  CHECK(progress.fraction() == 1.0);
  progress.reset();
  CHECK(progress.fraction() == 0.0);
}

TEST_CASE("tasks tell how many there are still to come, in whichever thread they are done") {
  for (const int threads : {1, 3}) {
    Progress progress;
    const ProgressScope scope(progress);
    const ProgressPart half(0.5, 1.0);
    bool within = true;
    run_tasks(100, threads, [&](Index task, int worker) {
      if (worker == 0)
        within = within && progress.fraction() >= 0.5 + 0.005 * static_cast<double>(task) - 1e-12;
    });
    CHECK(within);
    CHECK(progress.fraction() <= 1.0);
  }
}

TEST_CASE("work of another thread is not told") {
  Progress progress;
  const ProgressScope scope(progress);
  std::thread([] { const ProgressPart all(0.0, 1.0, "elsewhere"); }).join();
  CHECK(progress.fraction() == 0.0);
}

TEST_CASE("a forward and a backward pass reach their end by steps, naming the tensors that they make") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const AttentionInputs inputs = self_attention(24, dtype);
    Progress progress;
    TracePtr trace;
    {
      const ProgressScope scope(progress);
      trace = reference_forward(inputs);
    }
    CHECK(progress.fraction() == doctest::Approx(1.0));
    CHECK(trace->tensor(find_tensor_name(progress.doing()).value()) != nullptr);
    progress.reset();
    {
      const ProgressScope scope(progress);
      reference_backward(*trace);
    }
    CHECK(progress.fraction() == doctest::Approx(1.0));
    CHECK(std::string(progress.doing()) == "query");
  }
}

TEST_CASE("the shares of all stages follow each other from 0 to 1") {
  for (const bool backward : {false, true})
    for (const bool masked : {false, true}) {
      AttentionInputs inputs = self_attention(5, DType::f64);
      inputs.options.is_causal = masked;
      inputs.options.dropout = masked ? 0.1 : 0.0;
      const auto shares = stage_costs(inputs.options, inputs.tensors, backward);
      double sum = 0.0, least = 1.0, most = 0.0;
      for (const auto& [id, share] : shares) {
        CHECK(share.to > share.from);
        sum += share.to - share.from;
        least = std::min(least, share.from);
        most = std::max(most, share.to);
      }
      CHECK(sum == doctest::Approx(1.0));
      CHECK(least == 0.0);
      CHECK(most == doctest::Approx(1.0));
      CHECK(shares.contains(TensorId::mask_bias) == (masked && !backward));
      CHECK(shares.contains(backward ? TensorId::attn_weights : TensorId::dropped_weights) == masked);
    }
}
