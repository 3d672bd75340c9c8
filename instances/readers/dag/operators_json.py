"""Reader of our own files of operators: what a network computes, reads and writes, counted where the network is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.fields import Fields
from instances.json_document import parse_json
from instances.readers.dag.onnx_costs import ELEMENT_WISE, MATRIX_OPERATORS
from instances.readers.dag.onnx_models import network_instance
from instances.readers.dag.operator_graph import Operator
from instances.readers.text_fields import check_at_least, instance_name, json_bytes, json_number
from instances.text_file import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from instances.clusters.cluster import Cluster
    from instances.clusters.cost_model import CostModel
    from instances.dag.instance import DagInstance


def read_operators(
    path: str | PathLike[str],
    *,
    training: bool = False,
    fuse: bool = False,
    calibrated: bool = False,
    calibration: str | None = None,
    parameter_copies: float | None = None,
    cluster: Cluster | None = None,
    cost: CostModel | None = None,
    seed: int = 0,
) -> DagInstance:
    """Read the operators of a forward pass, such as ``optgap/torch_operators.py`` writes them from a model of torch.

    A JSON object with `format` "optgap/operators", `version` 1, optionally `made_by` (free), and `operators` in an
    order in which results are there before they are read. Each has `kind` (what it computes, in the words of ONNX where
    there is one), `name`, `flops`, `parameter_bytes`, `inputs` and `outputs` (bytes by tensor, weights left out), and
    it may have `moved_bytes`; by default everything that it reads and writes is moved once. Durations are rooflines.
    Tensors that no operator writes are inputs of the network, so that a misspelt name is one, without an edge.

    Parameters
    ----------
    training, fuse, calibrated, calibration, parameter_copies
        As in `read_onnx`.
    cluster, cost, seed
        As in `read_onnx`.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it has another form (the message gives the place), or an option is out of range.
    """
    check_at_least("seed", seed, 0)
    document = Fields(parse_json(read_text(path)))
    document.check_format("optgap/operators", 1)
    document.mapping("made_by", None)
    operators: list[Operator] = []
    made: dict[str, int] = {}
    listed = document.each("operators")
    later = {tensor for fields in listed for tensor in fields.mapping("outputs")}
    for fields in listed:
        operator = _operator(fields)
        later -= operator.outputs.keys()
        for tensor, size in operator.inputs.items():
            if tensor in later or tensor in operator.outputs:
                raise ValueError(f"{fields.place('inputs')}: expected results that stand before it, got {tensor!r}.")
            if size > made.get(tensor, size):
                expected = f"at most the {made[tensor]} bytes of {tensor!r}"
                raise ValueError(f"{fields.place('inputs')}: expected {expected}, got {size}.")
        for tensor in operator.outputs:
            if tensor in made:
                raise ValueError(f"{fields.place('outputs')}: expected each result once, got {tensor!r} again.")
        made |= operator.outputs
        operators.append(operator)
    document.close()
    if not operators:
        raise ValueError("operators: expected at least one, got none.")
    return network_instance(
        operators,
        name=instance_name(path),
        training=training,
        fuse=fuse,
        calibrated=calibrated,
        calibration=calibration,
        parameter_copies=parameter_copies,
        cluster=cluster,
        cost=cost,
        seed=seed,
    )


def _operator(fields: Fields) -> Operator:
    """Return an operator; gradients cost as those of ONNX models do."""
    kind, flops, weights = fields.text("kind"), json_number(fields, "flops"), json_bytes(fields, "parameter_bytes")
    inputs, outputs = _sizes(fields, "inputs"), _sizes(fields, "outputs")
    if not kind.strip():
        raise ValueError(f"{fields.place('kind')}: expected what the operator computes, got an empty text.")
    if not outputs:
        raise ValueError(f"{fields.place('outputs')}: expected at least one, got none.")
    operands = 1 if weights or kind not in (*MATRIX_OPERATORS, "Attention") else 2
    everything = sum(inputs.values()) + sum(outputs.values()) + weights
    return Operator(
        kind=kind,
        name=fields.text("name"),
        flops=flops,
        weight_gradient_flops=flops if weights else 0.0,
        data_gradient_flops=flops * operands,
        parameter_bytes=weights,
        inputs=inputs,
        outputs=outputs,
        moved_bytes=json_number(fields, "moved_bytes", everything),
        is_element_wise=kind in ELEMENT_WISE,
    )


def _sizes(fields: Fields, key: str) -> Mapping[str, int]:
    """Take bytes by tensor."""
    sizes = Fields(fields.mapping(key), fields.place(key))
    return {tensor: json_bytes(sizes, tensor) for tensor in fields.mapping(key)}
