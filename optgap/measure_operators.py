"""Measure operators of neural networks on this machine's GPU: `python measure_operators.py OUT.csv --kind A100-40GB`.

This file needs torch and nothing of optgap: copy it to where the GPU is. It times matrix products, linear layers,
convolutions, attention, softmax, norms and element-wise operators (forward passes) over a grid of sizes and writes a
table with the columns operator, kind, seconds, class, FLOPs, moved bytes, precision, device, versions and date, from
which `optgap convert --set calibration=OUT.csv` computes how much of the roofline each class reaches. ``--kind`` is the
name that optgap has for the GPU. Every row is the median of several repetitions. `--durations` reads the columns too,
but wants names of tasks as operators: edit them for that.
"""

import argparse
import csv
import datetime
import itertools
import platform
import statistics
import time
from pathlib import Path

COLUMNS = ["operator", "kind", "seconds", "class", "flops", "moved_bytes", "precision", "device", "versions", "date"]
TYPES = {"fp32": "float32", "tf32": "float32", "fp16": "float16", "bf16": "bfloat16"}


def grid(largest):
    """Yield name, class, FLOPs, elements read and written, and a function that makes the operator, up to a size."""
    from torch.nn import functional as f

    sizes = [size for size in (64, 256, 1024, 2048, 4096, 8192) if size <= largest]
    for m, k, n in itertools.product(sizes, repeat=3):
        shape, flops, moved = f"{m}x{k}x{n}", 2.0 * m * k * n, m * k + k * n + m * n
        yield (
            f"MatMul {shape}",
            "matrix product",
            flops,
            moved,
            lambda new, m=m, k=k, n=n: lambda a=new(m, k), b=new(k, n): a @ b,
        )
        yield (
            f"Gemm {shape}",
            "linear layer",
            flops + m * n,
            moved + n,
            lambda new, m=m, k=k, n=n: lambda a=new(m, k), w=new(n, k), b=new(n): f.linear(a, w, b),
        )
    for batch, channels, side, filters in itertools.product((1, 16), (16, 64, 256), (14, 56, 112), (1, 3)):
        if channels * side <= 4 * largest:
            pixels, taps = batch * side * side * channels, channels * filters * filters
            yield (
                f"Conv {batch}x{channels}x{side}x{side} {filters}x{filters}",
                "convolution",
                2.0 * pixels * taps,
                2 * pixels + channels * taps,
                lambda new, b=batch, c=channels, s=side, r=filters: (
                    lambda x=new(b, c, s, s), w=new(c, c, r, r): f.conv2d(x, w, padding=r // 2)
                ),
            )
    for batch, heads, length, width in itertools.product((1, 8), (8, 16), (128, 512, 2048), (64, 128)):
        if length <= largest:
            name, elements = f"Attention {batch}x{heads}x{length}x{width}", batch * heads * length * width
            yield (
                name,
                "attention",
                4.0 * elements * length,
                4 * elements,
                lambda new, e=(batch, heads, length, width): (
                    lambda q=new(*e), k=new(*e), v=new(*e): f.scaled_dot_product_attention(q, k, v)
                ),
            )
    for rows, width in itertools.product((256, 4096, 65536), (256, 1024, 4096)):
        if rows * width <= 16384 * largest:
            size, shape = rows * width, f"{rows}x{width}"
            for name, what, per_element, tensors, operator in (
                ("Add", "element-wise", 1.0, 2, lambda x: x + x),
                ("Relu", "element-wise", 1.0, 2, f.relu),
                ("Gelu", "element-wise", 8.0, 2, f.gelu),
                ("Softmax", "softmax", 5.0, 2, lambda x: f.softmax(x, -1)),
                ("LayerNormalization", "norm", 8.0, 2, lambda x: f.layer_norm(x, x.shape[-1:])),
            ):
                yield (
                    f"{name} {shape}",
                    what,
                    per_element * size,
                    tensors * size,
                    lambda new, r=rows, w=width, o=operator: lambda x=new(r, w): o(x),
                )


def seconds_of(call, wait, repeats):
    """Return the median time of a call; a repetition makes enough calls for a millisecond."""
    call()
    wait()
    calls, times = 1, []
    while len(times) < repeats:
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        wait()
        took = time.perf_counter() - begin
        if took < 1e-3 and calls < 1000 and not times:
            calls *= 4
            continue
        times.append(took / calls)
    return statistics.median(times)


def measure(device, precision, kind, largest, repeats):
    """Yield the rows of the table."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    form = getattr(torch, TYPES[precision])
    on_gpu = device.startswith("cuda")
    name = torch.cuda.get_device_name(device) if on_gpu else platform.processor() or platform.machine()
    versions = f"torch {torch.__version__}" + (f", CUDA {torch.version.cuda}" if on_gpu else "")
    about = [precision, name, versions, datetime.date.today().isoformat()]
    wait = (lambda: torch.cuda.synchronize(device)) if on_gpu else (lambda: None)
    generator = torch.Generator(device).manual_seed(1)
    for operator, what, flops, elements, make in grid(largest):
        with torch.inference_mode():
            call = make(lambda *shape: torch.randn(shape, generator=generator, device=device).to(form))
            seconds = seconds_of(call, wait, repeats)
        yield [operator, kind or name, f"{seconds:.6g}", what, flops, elements * form.itemsize, *about]


def _main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, ... or cpu")
    parser.add_argument("--precision", choices=TYPES, default="fp32")
    parser.add_argument(
        "--kind",
        help="name of the GPU in optgap's catalogue, such as T4, which a calibration needs; default the driver's name",
    )
    parser.add_argument("--largest", type=int, default=8192, help="largest side of a matrix, at least 64")
    parser.add_argument("--threads", type=int, help="threads of the processor; default as torch has it")
    parser.add_argument("--repeats", type=int, default=9)
    given = parser.parse_args()
    for name, least in (("repeats", 1), ("threads", 1), ("largest", 64)):
        value = getattr(given, name)
        if value is not None and value < least:
            parser.error(f"--{name}: expected at least {least}, got {value}")
    if given.out.is_dir() or not given.out.parent.is_dir():
        parser.error(f"OUT: expected a file in a folder that exists, got {given.out}")
    try:
        import torch

        torch.zeros(1, device=given.device, dtype=getattr(torch, TYPES[given.precision]))
    except (ImportError, RuntimeError, AssertionError) as error:  # of a torch without CUDA an AssertionError
        parser.error(
            f"--device: expected torch and a device of it, got {given.device}: {str(error).partition(chr(10))[0]}"
        )
    if given.threads:
        torch.set_num_threads(given.threads)
    partial = given.out.with_name(given.out.name + ".partial")
    try:
        with partial.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(COLUMNS)
            for row in measure(given.device, given.precision, given.kind, given.largest, given.repeats):
                table.writerow(row)
                file.flush()
        partial.replace(given.out)
    finally:
        partial.unlink(missing_ok=True)


if __name__ == "__main__":
    _main()
