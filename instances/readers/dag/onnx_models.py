"""Reader of ONNX models: operators become tasks, by their shapes."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.clusters.cluster import parse_cluster
from instances.dag.task_graph import dag_instance_from_graph
from instances.frozen_array import MAX_INTEGER
from instances.readers.dag.csv_tables import read_efficiencies
from instances.readers.dag.measured_graph import DEFAULT_CLUSTER, READER_COST
from instances.readers.dag.onnx_costs import (
    ELEMENT_WISE,
    MATRIX_OPERATORS,
    MEASURED_EFFICIENCY,
    UNKNOWN_COST,
    VIEWS,
    operator_class,
    operator_flops,
)
from instances.readers.dag.operator_graph import Operator, fused, operator_task_graph
from instances.readers.text_fields import check_at_least, instance_name, shortened
from instances.text_file import read_content

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from onnx import GraphProto, ModelProto, NodeProto, TypeProto

    from instances.clusters.cluster import Cluster
    from instances.clusters.cost_model import CostModel
    from instances.dag.instance import DagInstance


def read_onnx(
    path: str | PathLike[str],
    *,
    training: bool = False,
    fuse: bool = False,
    calibrated: bool = False,
    calibration: str | None = None,
    batch: int = 1,
    dimensions: str = "",
    parameter_copies: float | None = None,
    cluster: Cluster | None = None,
    cost: CostModel | None = None,
    seed: int = 0,
) -> DagInstance:
    """Read a neural network: a task per operator, with durations by the roofline of each kind of GPU.

    Shapes are inferred; weights need not be in the file. What follows from weights alone is folded away, and so are
    shapes that are computed. Operators that only view their input (reshape, flatten, dropout) are no tasks. Floating-
    point operations follow from shapes (`operator_flops`), bytes from the sizes and types of what an operator reads and
    writes; an edge carries the tensors that flow along it. Nothing is measured: `convert --durations` puts measurements
    in the place of rooflines. A task occupies the memory of its parameters and its outputs for the whole schedule.

    Parameters
    ----------
    training
        Whether the backward pass is added (`operator_task_graph`). Weight updates are not.
    fuse
        Whether element-wise operators are joined with the operator before them where nobody else reads its result.
    calibrated
        Whether classes of operators reach the share of the roofline that was measured for them on each kind of GPU, in
        single or half precision (`MEASURED_EFFICIENCY`), instead of the share of the cost model, which classes without
        a measurement keep. The name of the instance says so.
    calibration
        Table of measurements whose efficiencies are used instead, such as ``optgap/measure_operators.py`` writes it
        (`read_efficiencies`). Not together with `calibrated`.
    batch
        Size of a first dimension of the inputs that the model leaves open.
    dimensions
        Sizes of other dimensions that it leaves open, by their names: ``sequence=128,heads=8``.
    parameter_copies
        Memory for parameters in multiples of them; default 1, with `training` 2 (weights and gradients). With Adam 4.
    cluster, cost, seed
        GPUs and links, how times follow from work, and the seed of whatever `cost` draws. Defaults as for measured
        graphs: four kinds, single precision, no noise.

    Returns
    -------
    DagInstance
        Tasks in the order of the model, backward tasks in the reverse order; their names begin with what they compute.

    Raises
    ------
    OSError
        If the file cannot be read.
    ModuleNotFoundError
        If the extra ``onnx`` is not installed.
    ValueError
        If it is no model, a shape or a cost cannot be inferred (the message names the node), or an option is out of
        range.

    References
    ----------
    Open Neural Network Exchange (onnx.ai). The costs and the backward pass are ours.
    """
    check_at_least("batch", batch, 1)
    check_at_least("seed", seed, 0)
    return network_instance(
        onnx_operators(read_content(path), batch=batch, dimensions=_sizes(dimensions)),
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


def network_instance(
    operators: list[Operator],
    *,
    name: str,
    training: bool,
    fuse: bool,
    calibrated: bool,
    calibration: str | None,
    parameter_copies: float | None,
    cluster: Cluster | None,
    cost: CostModel | None,
    seed: int,
) -> DagInstance:
    """Put the operators of a forward pass on a cluster; `read_onnx` says what the parameters mean."""
    cost = READER_COST if cost is None else cost
    cluster = parse_cluster(DEFAULT_CLUSTER) if cluster is None else cluster
    operators = fused(operators) if fuse else operators
    reached = _calibration(calibrated, calibration, cost.precision)
    source = cost.precision if calibration is None else instance_name(calibration)
    classes = [operator_class(each.kind, has_weights=each.parameter_bytes > 0) or "" for each in operators]
    of = [reached.get(what, {"": cost.efficiency}) for what in classes]
    graph = operator_task_graph(
        operators,
        name=f"{name} (calibrated {source})" if reached else name,
        training=training,
        parameter_copies=parameter_copies,
        efficiency={kind.name: [own.get(kind.name, own[""]) for own in of] for kind in cluster.kinds if reached},
    )
    return dag_instance_from_graph(graph, cluster, cost, np.random.default_rng(seed))


RESHAPES_FROM_SHAPES = 14
"""First version of the operators for which onnx infers the result of a reshape whose target is computed from shapes."""


def _calibration(calibrated: bool, path: str | None, precision: str) -> Mapping[str, Mapping[str, float]]:
    """Return the efficiencies that are used by class and kind of GPU, none where no calibration is wanted."""
    if path is not None:
        if calibrated:
            raise ValueError("calibration: expected a table or calibrated=true, got both.")
        try:
            return read_efficiencies(path, precision)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ValueError(f"calibration: expected a file that can be read, got {path!r}: {reason}.") from error
        except ValueError as error:
            raise ValueError(f"calibration: expected a table of measurements, got {path!r}: {error}") from error
    if calibrated and precision not in MEASURED_EFFICIENCY:
        raise ValueError(f"calibrated: expected a precision of {', '.join(MEASURED_EFFICIENCY)}, got {precision}.")
    return MEASURED_EFFICIENCY[precision] if calibrated else {}


def _sizes(text: str) -> dict[str, int]:
    """Read the sizes of named dimensions."""
    sizes: dict[str, int] = {}
    for pair in text.split(",") if text else []:
        name, equals, number = pair.partition("=")
        if not equals or not number.strip().isdecimal() or int(number) < 1:
            raise ValueError(f"dimensions: expected NAME=SIZE separated by commas, got {shortened(text)}.")
        sizes[name.strip()] = int(number)
    return sizes


def onnx_operators(content: bytes, *, batch: int = 1, dimensions: dict[str, int]) -> list[Operator]:
    """Return the operators of a model in its order, without views and without what follows from weights alone.

    See `read_onnx` for the parameters and what may be raised.
    """
    graph = _with_shapes(_loaded(content), batch, dimensions).graph
    tensors = _tensors(graph)
    constants = {each.name for each in graph.initializer}
    named: dict[str, str] = {}
    made = {each.name for each in graph.input} - constants
    operators: list[Operator] = []
    for number, node in enumerate(graph.node):
        place = f"node {shortened(node.name or (node.output[0] if node.output else str(number)))}"
        given = [named.get(each, each) for each in node.input if each]
        if node.op_type in UNKNOWN_COST:
            raise ValueError(f"{place}: expected an operator whose cost follows from shapes, got {node.op_type}.")
        if node.op_type in ("Shape", "Size") or all(each in constants for each in given):
            constants.update(node.output)
            continue
        for each in given:
            if each not in made and each not in constants:
                raise ValueError(f"{place}: expected inputs that stand before it, got {shortened(each)}.")
        twice = [each for each in node.output if each in made or each in constants]
        if twice:
            raise ValueError(f"{place}: expected each result once, got {shortened(twice[0])} again.")
        if node.op_type in VIEWS and given[0] in made:
            named[node.output[0]] = given[0]
            continue
        made.update(each for each in node.output if each)
        operators.append(_operator(node, place, given, constants, tensors))
    if not operators:
        raise ValueError("graph: expected at least one operator, got none.")
    return operators


def _loaded(content: bytes) -> ModelProto:
    """Return the model with its functions put where they are called."""
    try:
        import onnx
        from onnx import inliner, version_converter
    except ImportError as error:
        raise ModuleNotFoundError(
            "onnx: expected the package of the extra onnx (pip install 'optgap[onnx]')."
        ) from error
    from google.protobuf.message import DecodeError

    try:
        model = onnx.load_model_from_string(content)
    except DecodeError as error:
        raise ValueError(f"byte 0: expected an ONNX model, got {_one_line(error)}.") from error
    if not model.graph.node:
        raise ValueError("graph: expected at least one node, got none.")
    model = inliner.inline_local_functions(model) if model.functions else model
    version = max((each.version for each in model.opset_import if each.domain == ""), default=RESHAPES_FROM_SHAPES)
    if version < RESHAPES_FROM_SHAPES and any(node.op_type == "Shape" for node in model.graph.node):
        with contextlib.suppress(Exception):  # what cannot be converted is tried as it is
            return version_converter.convert_version(model, RESHAPES_FROM_SHAPES)
    return model


def _with_shapes(model: ModelProto, batch: int, dimensions: dict[str, int]) -> ModelProto:
    """Return a model with a size for every dimension of its inputs and the shapes that follow."""
    from onnx import shape_inference

    initialised = {each.name for each in model.graph.initializer}
    sizes, unused = dict(dimensions), set(dimensions)
    for value in model.graph.input:
        for axis, size in enumerate(value.type.tensor_type.shape.dim if value.name not in initialised else ()):
            if size.HasField("dim_value") and size.dim_value > 0:
                continue
            unused.discard(size.dim_param)
            if size.dim_param not in sizes and axis > 0:
                name = size.dim_param or f"{axis} without a name"
                raise ValueError(f"input {shortened(value.name)}: expected dimensions={name}=SIZE, got no size.")
            chosen = sizes.setdefault(size.dim_param, batch) if size.dim_param else batch
            size.dim_value = chosen
    if unused:
        raise ValueError(
            f"dimensions: expected names of open dimensions of the model, got {', '.join(sorted(unused))}."
        )
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")  # it may name dimensions that have a size now
    model.graph.ClearField("value_info")
    try:
        return shape_inference.infer_shapes(model, data_prop=True)
    except Exception as error:  # a RuntimeError, ValueError or error of its own, by what is wrong
        raise ValueError(f"graph: expected shapes that can be inferred, got: {_one_line(error)}.") from error


def _one_line(error: Exception) -> str:
    """Return a message as the end of one sentence."""
    return " ".join(str(error).split())[:200].rstrip(".")


def _tensors(graph: GraphProto) -> dict[str, tuple[tuple[int, ...], str, int]]:
    """Return the shape, the type and the bytes of one element of every tensor whose shape is known."""
    import onnx

    found: dict[str, tuple[tuple[int, ...], str, int]] = {}

    def add(name: str, shape: tuple[int, ...], element: int) -> None:
        try:
            kind = onnx.helper.tensor_dtype_to_np_dtype(element)
        except (KeyError, TypeError, ValueError):
            return
        found[name] = (shape, "weights" if kind.kind not in "iub" or kind.itemsize == 1 else "numbers", kind.itemsize)

    for value in (*graph.value_info, *graph.input, *graph.output):
        shape = _shape(value.type)
        if shape is not None:
            add(value.name, shape, value.type.tensor_type.elem_type)
    for initialised in graph.initializer:
        add(initialised.name, tuple(initialised.dims), initialised.data_type)
    return found


def _shape(kind: TypeProto) -> tuple[int, ...] | None:
    """Return the shape of a tensor, None where a size is not known."""
    if not kind.HasField("tensor_type") or not kind.tensor_type.HasField("shape"):
        return None
    sizes = kind.tensor_type.shape.dim
    return tuple(size.dim_value for size in sizes) if all(size.HasField("dim_value") for size in sizes) else None


def _operator(
    node: NodeProto,
    place: str,
    given: list[str],
    constants: set[str],
    tensors: dict[str, tuple[tuple[int, ...], str, int]],
) -> Operator:
    """Return an operator with its costs."""
    from onnx import helper

    results = [each for each in node.output if each in tensors or each == node.output[0]]
    for each in (*given, *results):
        if each in tensors and not 0 <= math.prod(tensors[each][0]) <= MAX_INTEGER // 16:
            raise ValueError(f"{place}: expected at most 2**49 elements in {shortened(each)}, got {tensors[each][0]}.")
        if each not in tensors:
            raise ValueError(f"{place}: expected a shape that can be inferred of {shortened(each)}, got none.")
    attributes: dict[str, Any] = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    shapes = [tensors[each][0] for each in given]
    try:
        flops = operator_flops(node.op_type, shapes, [tensors[each][0] for each in results], attributes)
    except (ValueError, IndexError, KeyError, OverflowError) as error:
        raise ValueError(f"{place}: expected shapes of a {node.op_type}, got {shapes}.") from error

    def size(name: str) -> int:
        return math.prod(tensors[name][0]) * tensors[name][2]

    weights = {each: size(each) for each in given if each in constants and tensors[each][1] == "weights"}
    inputs = {each: size(each) for each in given if each not in constants}
    outputs = {each: size(each) for each in results}
    written = sum(outputs.values())
    looked_up = node.op_type.startswith("Gather")  # of a table only the rows that are asked for are read
    moved = 2.0 * written if looked_up else float(sum(weights.values()) + sum(inputs.values()) + written)
    is_matrix = node.op_type in MATRIX_OPERATORS
    data_operands = 1 if weights or not is_matrix else 2
    return Operator(
        kind=node.op_type,
        name=node.name or node.output[0],
        flops=flops,
        weight_gradient_flops=flops if weights else 0.0,
        data_gradient_flops=flops * data_operands,
        parameter_bytes=sum(weights.values()),
        inputs=inputs,
        outputs=outputs,
        moved_bytes=moved,
        is_element_wise=node.op_type in ELEMENT_WISE,
    )
