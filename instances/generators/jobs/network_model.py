"""A neural network as a chain of blocks with published sizes."""

from __future__ import annotations

from dataclasses import dataclass

ELEMENT_BYTES = 2
"""Half precision: activations, parameters and gradients that travel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkBlock:
    """One block of a network; a pipeline is cut between blocks only.

    Parameters
    ----------
    flops
        Forward floating-point operations per sample; a multiplication with addition counts as two.
    parameters
        Number of parameters.
    output_elements
        Elements that go on to the next block, per sample.
    """

    flops: int
    parameters: int
    output_elements: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkModel:
    """A network and how it is usually trained.

    Parameters
    ----------
    name
        As in its paper; the model tag of jobs.
    source
        The paper and the table that the sizes are from.
    published_parameters
        Number of parameters that the paper states.
    samples
        Samples (images or sequences) per GPU in a micro-batch: an assumption of ours.
    blocks
        First to last.
    """

    name: str
    source: str
    published_parameters: int
    samples: int
    blocks: tuple[NetworkBlock, ...]

    @property
    def parameters(self) -> int:
        """Number of parameters of all blocks: weights without biases and normalisation."""
        return sum(block.parameters for block in self.blocks)
