"""Write the operators of a torch model for optgap: `python torch_operators.py MODULE:FUNCTION OUT.json`.

This file needs torch and nothing of optgap: copy it to where the model is. FUNCTION returns the model and a tuple of
example inputs (or one tensor). From Python: ``write_operators(model, inputs, "model.json")``. torch.export makes the
graph, FlopCounterMode counts what it knows (products, convolutions, attention), anything else counts an operation per
element of its output; nothing is computed. Then:
`optgap convert --from operators model.json --gpus 2xT4 -o instance.json`.
"""

import importlib
import json
import os
import sys
from pathlib import Path

KINDS = {"linear": "Gemm", "addmm": "Gemm", "bmm": "MatMul", "mm": "MatMul", "matmul": "MatMul", "cat": "Concat"}
KINDS |= {f"conv{n}d": "Conv" for n in (1, 2, 3)} | {f"conv_transpose{n}d": "ConvTranspose" for n in (1, 2, 3)}
KINDS |= {"layer_norm": "LayerNormalization", "group_norm": "GroupNormalization", "batch_norm": "BatchNormalization"}
KINDS |= {"scaled_dot_product_attention": "Attention", "embedding": "Gather", "silu": "Swish"}
KINDS |= {"lstm": "LSTM", "gru": "GRU"}  # others: as torch says


class WrongModelError(ValueError):
    """What was given is no model with example inputs, or one without operators."""


def operators_of(model, inputs):
    """Return the operators of a forward pass in an order in which results are there before they are read.

    What writes in place, perhaps through a view, makes the whole tensor anew: whoever reads any part of it later waits.
    """
    import torch
    from torch.utils import _pytree as pytree
    from torch.utils.flop_counter import FlopCounterMode

    inputs = (inputs,) if isinstance(inputs, torch.Tensor) else inputs
    if not isinstance(model, torch.nn.Module) or not isinstance(inputs, (tuple, list)):
        got = f"{type(model).__name__} and {type(inputs).__name__}"
        raise WrongModelError(f"expected a model and a tuple of example inputs, got {got}")
    exported = torch.export.export(model, tuple(inputs))
    signature, found, base = exported.graph_signature, [], {}
    weights = {*signature.inputs_to_parameters, *signature.inputs_to_buffers}  # and what follows from them alone
    weights |= signature.inputs_to_lifted_tensor_constants.keys()
    values = {node: node.meta.get("val") for node in exported.graph.nodes}
    tensors = {node: [each for each in pytree.tree_leaves(values[node]) if hasattr(each, "numel")] for node in values}
    size = {node: sum(each.numel() * each.element_size() for each in own) for node, own in tensors.items()}

    def empty(value):  # on the device "meta" attention and LSTM fall into products, which are counted
        shape_of = lambda each: torch.empty_strided(each.shape, each.stride(), dtype=each.dtype, device="meta")  # noqa: E731
        return pytree.tree_map_only(torch.Tensor, shape_of, value)

    for node in exported.graph.nodes:
        base[node], reads = node, list(node.all_input_nodes)
        is_call = node.op == "call_function" and bool(tensors[node])
        given = [each for each in reads if base[each].name not in weights]
        schema = getattr(node.target, "_schema", None)  # getitem has none
        is_view = schema is None or any(each.alias_info and not each.alias_info.is_write for each in schema.returns)
        if is_call and reads and (is_view or "dropout" in schema.name or "detach" in schema.name):
            base[node] = base[(given or reads)[0]]  # reshape, transpose, split: no work, the same tensor
            continue
        if node.op == "get_attr" or (is_call and not given):
            weights.add(node.name)
        if not is_call or not given:
            continue
        arguments, named = torch.fx.node.map_arg((node.args, node.kwargs), lambda each: empty(values[each]))
        with FlopCounterMode(display=False) as counter:
            node.target(*arguments, **{key: value for key, value in named.items() if key != "device"})
        word = schema.name.partition("::")[2].strip("_")
        operator = {"kind": KINDS.get(word, word.title().replace("_", "")), "name": node.name}
        operator["flops"] = counter.get_total_flops() or sum(each.numel() for each in tensors[node])
        operator["parameter_bytes"] = sum(size[each] for each in reads if each not in given)
        read = {base[each]: sum(size[other] for other in given if base[other] is base[each]) for each in given}
        operator["inputs"] = {each.name: min(of, size[each]) for each, of in read.items()}
        if word == "embedding":  # only the rows that are asked for are read
            operator["moved_bytes"] = 2 * size[node]
        named_too = {**dict(zip([each.name for each in schema.arguments], node.args)), **node.kwargs}
        changed = [each.name for each in schema.arguments if each.alias_info and each.alias_info.is_write]
        old = {base[each] for each in pytree.tree_leaves([named_too.get(name) for name in changed]) if each in base}
        if old:
            operator["moved_bytes"] = sum(operator["inputs"].values()) + operator["parameter_bytes"] + size[node]
            size[node] = sum(size[each] for each in old)
            base.update({each: node for each in base if base[each] in old})
        found.append({**operator, "outputs": {node.name: size[node]}})
    if not found:
        raise WrongModelError("expected a model that computes something, got no operators")
    return found


def write_operators(model, inputs, path):
    """Write the operators of a model as JSON."""
    import torch

    made_by = {"torch": torch.__version__, "model": type(model).__name__}
    document = {
        "format": "optgap/operators",
        "version": 1,
        "made_by": made_by,
        "operators": operators_of(model, inputs),
    }
    partial = Path(f"{path}.partial")
    partial.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)


if __name__ == "__main__":
    if len(sys.argv) != 3 or ":" not in sys.argv[1]:
        sys.exit(__doc__)
    sys.path.insert(0, os.getcwd())
    module, _, function = sys.argv[1].partition(":")
    try:
        build = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, OSError, ValueError) as error:
        sys.exit(f"{sys.argv[1]}: expected a module and a function in it: {error}")
    made = build()
    model, inputs = made if isinstance(made, (tuple, list)) and len(made) == 2 else (made, None)
    try:
        write_operators(model, inputs, sys.argv[2])
    except (WrongModelError, ImportError) as error:
        sys.exit(f"{sys.argv[1]}: {error}")
    except OSError as error:
        sys.exit(f"{sys.argv[2]}: {error.strerror}")
