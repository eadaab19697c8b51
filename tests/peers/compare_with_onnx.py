#!/usr/bin/env python3
"""Runs ONNX's published test cases of the Attention operator through `headwise run`.

    python3 tests/peers/compare_with_onnx.py build/release/headwise

The cases are those of the installed `onnx` package (its backend node tests; nothing of them is copied here). A case is run as
scaled_dot_product_attention: a 3-D one is split into heads first, and a past and the lengths of a cache go straight through.
Compared are Y and, where they are asked for, present_key, present_value and qk_matmul_output. f32 cases may differ by 1e-6 of
the largest magnitude; in f16 and bf16 cases ONNX rounds in between, and half an ulp of its own output type is allowed for each
of eight roundings. Exit status 1 where a case differs, 77 where there is no onnx.
"""
import argparse, collections, sys, warnings

try:
    import numpy as np
    import onnx
    import onnx.helper
    from onnx.backend.test.case.node import collect_testcases
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from headwise_program import Headwise, difference

ROUNDINGS = {"float64": 1e-12, "float32": 1e-6, "float16": 8 * 2.0**-11, "bfloat16": 8 * 2.0**-8}


def split_heads(array, heads):
    """(N,T,heads·W) → (N,heads,T,W)"""
    batch, length, width = array.shape
    return array.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)


def scenario_and_arrays(node, given):
    """What `headwise run` takes for a node; `given` maps the node's input names to arrays."""
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    names = ["query", "key", "value", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"]
    arrays = {name: given[of_node] for name, of_node in zip(names, node.input) if of_node}
    attention, mask = {}, {}
    if "scale" in attributes:
        attention["scale"] = attributes["scale"]
    attention["softcap"] = attributes.get("softcap", 0.0)
    mask["is_causal"] = bool(attributes.get("is_causal", 0))
    left, right = attributes.get("left_window_size", -1), attributes.get("right_window_size", -1)
    if (left, right) != (-1, -1):
        mask["window_left"], mask["window_right"] = (None if side < 0 else side for side in (left, right))
    if arrays["query"].ndim == 3:
        arrays["query"] = split_heads(arrays["query"], attributes["q_num_heads"])
        for name in ("key", "value"):
            arrays[name] = split_heads(arrays[name], attributes["kv_num_heads"])
    if "nonpad_kv_seqlen" in arrays:
        arrays["nonpad_kv_seqlen"] = arrays["nonpad_kv_seqlen"].reshape(-1).astype(np.int64)
    for name, array in arrays.items():
        if array.dtype.name == "bfloat16":  # npz has no such type
            arrays[name] = array.astype(np.float32)
    return {"headwise": 1, "op": "scaled_dot_product_attention", "attention": attention, "mask": mask}, arrays


def values_of_trace(node):
    """Which tensor of the trace each output of the node is."""
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    softcapped = attributes.get("softcap", 0.0) > 0.0
    modes = [None if softcapped else "scaled_scores", "scaled_scores", "masked_scores", "attn_weights"]
    names = ["output", "present_key", "present_value", modes[attributes.get("qk_matmul_output_mode", 0)]]
    return [name for name, of_node in zip(names, node.output) if of_node]


def judge(headwise, case):
    """(what came out, a remark)"""
    node = case.model.graph.node[0]
    inputs, outputs = case.data_sets[0]
    as_array = lambda x: x if isinstance(x, np.ndarray) else onnx.numpy_helper.to_array(x)
    given = dict(zip([i.name for i in case.model.graph.input], map(as_array, inputs)))
    scenario, arrays = scenario_and_arrays(node, given)
    ours, error = headwise.run(scenario, arrays, "f32")
    if ours is None:
        return "refused", error
    agrees, remarks = True, []
    for name, expected in zip(values_of_trace(node), map(as_array, outputs)):
        if name is None:
            continue
        got = ours[name if name in ours else {"present_key": "k_heads", "present_value": "v_heads"}[name]]
        if expected.ndim == 3:
            got = got.transpose(0, 2, 1, 3).reshape(expected.shape)
        off = difference(got, expected.astype(np.float64))
        agrees = agrees and off <= ROUNDINGS[expected.dtype.name]
        remarks.append(f"{name} {off:.2g} in {expected.dtype.name}")
    return ("agrees" if agrees else "differs"), ", ".join(remarks)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program")
    warnings.simplefilter("ignore")  # making the cases of other operators overflows here and there
    headwise = Headwise(arguments.parse_args().program)
    counts = collections.Counter()
    cases = [c for c in collect_testcases("Attention") if c.model is not None and len(c.model.graph.node) == 1
             and c.model.graph.node[0].op_type == "Attention"]
    for case in cases:
        outcome, remark = judge(headwise, case)
        counts[outcome] += 1
        print(f"{outcome:20} {case.name}: {remark}")
    print(f"onnx {onnx.__version__}, {len(cases)} cases: " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    sys.exit(1 if counts["differs"] or counts["refused"] or not counts["agrees"] else 0)


main()
