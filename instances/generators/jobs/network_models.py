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


def _convolution(size: int, inputs: int, outputs: int, kernel: int) -> NetworkBlock:
    """Return a convolution with a square output of `size` rows: 2 k^2 c_in c_out size^2 FLOPs."""
    parameters = kernel**2 * inputs * outputs
    return NetworkBlock(flops=2 * parameters * size**2, parameters=parameters, output_elements=outputs * size**2)


def _dense(inputs: int, outputs: int) -> NetworkBlock:
    """Return a fully connected layer."""
    return NetworkBlock(flops=2 * inputs * outputs, parameters=inputs * outputs, output_elements=outputs)


def _joined(blocks: list[NetworkBlock]) -> NetworkBlock:
    """Return blocks that are never cut apart as one."""
    return NetworkBlock(
        flops=sum(block.flops for block in blocks),
        parameters=sum(block.parameters for block in blocks),
        output_elements=blocks[-1].output_elements,
    )


def _bottleneck(size: int, inputs: int, width: int) -> NetworkBlock:
    """Return a residual bottleneck; the shortcut is projected where the number of channels changes."""
    outputs = 4 * width
    shortcut = [_convolution(size, inputs, outputs, 1)] if inputs != outputs else []
    main = [_convolution(size, inputs, width, 1), _convolution(size, width, width, 3)]
    return _joined([*shortcut, *main, _convolution(size, width, outputs, 1)])


def _transformer(layers: int, width: int, tokens: int, vocabulary: int) -> tuple[NetworkBlock, ...]:
    """Return embedding, layers and tied output projection of a transformer with a feed-forward width of 4 d.

    A layer has 12 d^2 parameters (4 d^2 in the attention, 8 d^2 behind it) and costs 24 d^2 + 4 s d FLOPs per token.
    """
    output = tokens * width
    embedding = NetworkBlock(flops=0, parameters=(vocabulary + tokens) * width, output_elements=output)
    layer = NetworkBlock(
        flops=tokens * (24 * width**2 + 4 * tokens * width), parameters=12 * width**2, output_elements=output
    )
    head = NetworkBlock(flops=2 * tokens * width * vocabulary, parameters=0, output_elements=tokens)
    return (_joined([embedding, layer]), *[layer] * (layers - 2), _joined([layer, head]))


ALEXNET = NetworkModel(
    name="AlexNet",
    source="Krizhevsky, Sutskever and Hinton (2012), ImageNet classification, section 3.5 (two groups of channels)",
    published_parameters=60_000_000,
    samples=256,
    blocks=(
        _convolution(55, 3, 96, 11),
        _convolution(27, 48, 256, 5),
        _convolution(13, 256, 384, 3),
        _convolution(13, 192, 384, 3),
        _convolution(13, 192, 256, 3),
        _dense(256 * 6 * 6, 4096),
        _dense(4096, 4096),
        _dense(4096, 1000),
    ),
)

VGG_16 = NetworkModel(
    name="VGG-16",
    source="Simonyan and Zisserman (2015), Very deep convolutional networks, table 1, configuration D, and table 2",
    published_parameters=138_000_000,
    samples=32,
    blocks=(
        _convolution(224, 3, 64, 3),
        _convolution(224, 64, 64, 3),
        _convolution(112, 64, 128, 3),
        _convolution(112, 128, 128, 3),
        _convolution(56, 128, 256, 3),
        *[_convolution(56, 256, 256, 3)] * 2,
        _convolution(28, 256, 512, 3),
        *[_convolution(28, 512, 512, 3)] * 2,
        *[_convolution(14, 512, 512, 3)] * 3,
        _dense(512 * 7 * 7, 4096),
        _dense(4096, 4096),
        _dense(4096, 1000),
    ),
)

RESNET_50 = NetworkModel(
    name="ResNet-50",
    source="He, Zhang, Ren and Sun (2016), Deep residual learning, table 1; parameters as the released model has them",
    published_parameters=25_500_000,
    samples=64,
    blocks=(
        _convolution(112, 3, 64, 7),
        _bottleneck(56, 64, 64),
        *[_bottleneck(56, 256, 64)] * 2,
        _bottleneck(28, 256, 128),
        *[_bottleneck(28, 512, 128)] * 3,
        _bottleneck(14, 512, 256),
        *[_bottleneck(14, 1024, 256)] * 5,
        _bottleneck(7, 1024, 512),
        *[_bottleneck(7, 2048, 512)] * 2,
        _dense(2048, 1000),
    ),
)

BERT_BASE = NetworkModel(
    name="BERT-Base",
    source="Devlin et al. (2019), BERT, section 3: 12 layers, 768 wide; 512 tokens, vocabulary 30,522 as released",
    published_parameters=110_000_000,
    samples=8,
    blocks=_transformer(12, 768, 512, 30_522),
)

BERT_LARGE = NetworkModel(
    name="BERT-Large",
    source="Devlin et al. (2019), BERT, section 3: 24 layers, 1024 wide; 512 tokens, vocabulary 30,522 as released",
    published_parameters=340_000_000,
    samples=4,
    blocks=_transformer(24, 1024, 512, 30_522),
)

GPT_2_XL = NetworkModel(
    name="GPT-2-XL",
    source="Radford et al. (2019), Language models are unsupervised multitask learners, table 2: 48 layers, 1600 wide; "
    "section 2.3: 1024 tokens, vocabulary 50,257",
    published_parameters=1_542_000_000,
    samples=2,
    blocks=_transformer(48, 1600, 1024, 50_257),
)

GPT_3_XL = NetworkModel(
    name="GPT-3-XL",
    source="Brown et al. (2020), Language models are few-shot learners, table 2.1: 24 layers, 2048 wide, 2048 tokens; "
    "vocabulary of GPT-2",
    published_parameters=1_300_000_000,
    samples=1,
    blocks=_transformer(24, 2048, 2048, 50_257),
)

GPT_3_6_7B = NetworkModel(
    name="GPT-3-6.7B",
    source="Brown et al. (2020), Language models are few-shot learners, table 2.1: 32 layers, 4096 wide, 2048 tokens; "
    "vocabulary of GPT-2",
    published_parameters=6_700_000_000,
    samples=1,
    blocks=_transformer(32, 4096, 2048, 50_257),
)

NETWORK_MODELS: dict[str, NetworkModel] = {
    model.name: model for model in (ALEXNET, VGG_16, RESNET_50, BERT_BASE, BERT_LARGE, GPT_2_XL, GPT_3_XL, GPT_3_6_7B)
}
"""Networks by name. All sizes are facts of the papers; samples per micro-batch are ours."""
