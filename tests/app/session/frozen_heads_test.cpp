#include "app/session/head_gains.h"

#include "app/session/session.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

Scenario small_heads(const std::string& text = "The cat sat on the mat") {
  Scenario scenario;
  scenario.attention.embed_dim = 32;
  scenario.attention.num_heads = 4;
  scenario.inputs.source = InputSource::text;
  scenario.inputs.text = text;
  return scenario;
}

void freeze(Session& session, std::int64_t head) {
  const HeadEdit edit = toggle_freeze(session.scenario(), session.trace(), head);
  REQUIRE_FALSE(edit.label.empty());
  session.edit(edit.scenario, edit.label);
  REQUIRE(session.error().empty());
}

Scenario with_text(Scenario scenario, const std::string& text) {
  scenario.inputs.text = text;
  return scenario;
}

bool same_weights(const Trace& a, const Trace& b, Index head) {
  const Tensor &x = *a.tensors.attn_weights, &y = *b.tensors.attn_weights;
  if (!(x.shape() == y.shape())) return false;
  for (Index i = 0; i < x.size(); ++i) {
    if (x.shape().index_of(i)[1] == head && x.flat(i) != y.flat(i)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("freezing a head changes no number, and the line at the foot says so") {
  Session session(small_heads());
  const TracePtr before = session.trace_ptr();
  freeze(session, 2);
  CHECK(is_frozen(session.scenario(), 2));
  CHECK_FALSE(is_frozen(session.scenario(), 1));
  for (const TensorEntry& entry : tensor_entries()) {
    if (before->tensor(entry.id))
      CHECK(identical(*before->tensor(entry.id), *session.trace().tensor(entry.id)));
  }
  CHECK(session.last_edit().starts_with(
      "Head 2 frozen: it keeps its 6 × 6 weights, the output did not change."));
  session.undo();
  CHECK_FALSE(session.scenario().frozen_heads);
}

TEST_CASE("a frozen head keeps its weights through an edit of the text, and gets its own again when let go") {
  Session session(small_heads()), free(small_heads());
  const TracePtr before = session.trace_ptr();
  freeze(session, 2);
  freeze(session, 0);
  session.edit(with_text(session.scenario(), "The dog sat on the mat"), "text");
  free.edit(small_heads("The dog sat on the mat"), "text");
  for (const Index head : {0, 2}) CHECK(same_weights(session.trace(), *before, head));
  for (const Index head : {1, 3}) CHECK(same_weights(session.trace(), free.trace(), head));
  CHECK_FALSE(same_weights(free.trace(), *before, 2));
  CHECK_FALSE(identical(*session.trace().tensors.output, *free.trace().tensors.output));
  freeze(session, 2);  // again: lets go
  CHECK(same_weights(session.trace(), free.trace(), 2));
  CHECK(same_weights(session.trace(), *before, 0));
  CHECK(session.last_edit().starts_with(
      "Head 2 unfrozen: its weights follow its scores again, the output changed by "));
  freeze(session, 0);
  CHECK_FALSE(session.scenario().frozen_heads);
  CHECK(identical(*session.trace().tensors.output, *free.trace().tensors.output));
}

TEST_CASE("an edit of the sizes lets frozen heads go in the same step, and says so") {
  const auto edits = {
      +[](Scenario& s) { s.inputs.text += " again"; },
      +[](Scenario& s) { s.inputs.batch = 2; },
      +[](Scenario& s) { s.attention.num_heads = 8; },
      +[](Scenario& s) { s.attention.add_zero_attn = true; },
  };
  for (const auto& edit : edits) {
    Session session(small_heads());
    freeze(session, 3);
    const Scenario frozen = session.scenario();
    Scenario other = frozen;
    edit(other);
    session.edit(other, "size");
    CHECK(session.error().empty());
    CHECK_FALSE(session.scenario().frozen_heads);
    CHECK_CONTAINS(session.last_edit(), "Head 3 no longer frozen: the weights it kept do not fit");
    session.undo();
    CHECK(session.scenario() == frozen);
    CHECK(session.trace().tensors.frozen_weights);
  }
}

TEST_CASE("a word that is typed anew costs no frozen head: it comes back when the length is the same again") {
  Session session(small_heads());
  freeze(session, 1);
  const Scenario frozen = session.scenario();
  for (const char* text : {"The ca sat on the mat", "The  sat on the mat", "The d sat on the mat"}) {
    session.edit(with_text(session.scenario(), text), "text", true);
    CHECK(session.error().empty());
    CHECK(session.scenario().frozen_heads.has_value() == (std::string(text) != "The  sat on the mat"));
  }
  session.end_step();
  CHECK(session.scenario().frozen_heads == frozen.frozen_heads);
  session.undo();
  CHECK(session.scenario() == frozen);
}

TEST_CASE("weights held in a file of another size are an error, not let go: nobody has edited a size") {
  Session session(small_heads());
  freeze(session, 1);
  Scenario file = with_text(session.scenario(), "one two");
  file.frozen_heads->heads = {2};
  session.edit(file, "open");
  CHECK_CONTAINS(session.error(), "freeze the heads again at these sizes");
}

TEST_CASE("a head that is not there, and one whose weights were not kept, is not frozen") {
  Session session(small_heads());
  CHECK(toggle_freeze(session.scenario(), session.trace(), 4).label.empty());
  CHECK(toggle_freeze(session.scenario(), session.trace(), -1).label.empty());
  CHECK(toggle_freeze(small_heads("one two"), session.trace(), 0).label.empty());  // of other sizes
  Trace bare = session.trace();
  bare.exact = nullptr;
  bare.tensors.dropped_weights = nullptr;
  CHECK(toggle_freeze(session.scenario(), bare, 0).label.empty());
}

TEST_CASE("letting go takes what was edited in the weights along") {
  Session session(small_heads());
  freeze(session, 1);
  Scenario edited = session.scenario();
  edited.edits.push_back({"frozen_weights", {0, 0, 2, 2}, 0.25});
  session.edit(edited, "cell");
  CHECK(session.trace().tensors.attn_weights->at({0, 1, 2, 2}) == 0.25);
  freeze(session, 3);  // what is edited is held as it is now
  CHECK(session.scenario().edits.empty());
  CHECK(session.trace().tensors.attn_weights->at({0, 1, 2, 2}) == 0.25);
  edited = session.scenario();
  edited.edits.push_back({"frozen_weights", {0, 1, 2, 2}, 0.5});
  session.edit(edited, "cell");
  session.edit(with_text(session.scenario(), "one two"), "text");
  CHECK(session.error().empty());
  CHECK(session.scenario().edits.empty());
}
