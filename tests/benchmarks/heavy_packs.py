"""Face packs that compute as much as `buffalo_l` and answer as the small one, where its weights are absent.

Each network is the small pack's own beside a random one of the size of `buffalo_l`'s, whose mean times 1e-30
is added to the answer: too little to change a digit, and nothing that ONNX Runtime may leave out. The two
models that only `FaceAnalysis` runs (68 landmarks in 3D, gender and age) are random altogether.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 11
RESNET = ((64, 3), (128, 4), (256, 14), (512, 3))
"""Channels and blocks of the ResNet of w600k_r50: 43.6 million weights, 6.3 G multiplications a face."""
RESNET_3D = ((64, 3), (128, 4), (256, 6), (512, 3))
"""Of 1k3d68, which is a ResNet-50: about 4 G multiplications at 192 × 192."""
PYRAMID = ((28, 1, 2), (56, 1, 2), (56, 6, 1), (88, 1, 2), (88, 7, 1), (80, 9, 1), (88, 1, 2), (88, 6, 1))
"""Channels, convolutions and stride: about 12 G multiplications at 640 × 640, as SCRFD-10G."""


@dataclass
class Net:
    """A chain of convolutions under construction."""

    rng: np.random.Generator
    name: str
    channels: int
    prefix: str

    def __post_init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def _weight(self, shape: Sequence[int]) -> str:
        fan_in = int(np.prod(shape[1:]))
        values = self.rng.normal(0, (2 / fan_in) ** 0.5, shape).astype(np.float32)
        self.weights.append(numpy_helper.from_array(values, f"{self.prefix}w{len(self.weights)}"))
        return self.weights[-1].name

    def add(self, kind: str, inputs: Sequence[str] = (), **attributes: Any) -> None:
        """One more node behind the last."""
        out = f"{self.prefix}{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(kind, [self.name, *inputs], [out], name=f"{out}_{kind}", **attributes)
        )
        self.name = out

    def convolve(self, channels: int, stride: int = 1) -> None:
        """3 × 3, then ReLU."""
        weight = self._weight((channels, self.channels, 3, 3))
        self.add("Conv", [weight], kernel_shape=[3, 3], strides=[stride] * 2, pads=[1] * 4)
        self.add("Relu")
        self.channels = channels

    def dense(self, size: int, outputs: int) -> None:
        """Flatten, then a fully connected layer."""
        self.add("Flatten", axis=1)
        self.add("Gemm", [self._weight((outputs, size))], transB=1)

    def resnet(self, stages: Sequence[tuple[int, int]]) -> None:
        """Two convolutions a block, halving at each stage."""
        for channels, blocks in stages:
            for block in range(blocks):
                self.convolve(channels)
                self.convolve(channels, stride=2 if block == 0 else 1)


def heavier_detector(light: Path, target: Path) -> None:
    """The detector with the work of SCRFD-10G."""
    model = onnx.load(str(light))
    net = Net(np.random.default_rng(1), model.graph.input[0].name, 3, "heavy_")
    for channels, times, stride in PYRAMID:
        for _ in range(times):
            net.convolve(channels, stride)
    net.add("ReduceMean", axes=[1, 2, 3], keepdims=0)
    _beside(model, net, axes=[1])
    onnx.save(model, str(target))


def heavier_recognizer(light: Path, target: Path) -> None:
    """The recognition model with the work of w600k_r50."""
    model = onnx.load(str(light))
    net = Net(np.random.default_rng(2), model.graph.input[0].name, 3, "heavy_")
    net.convolve(64)
    net.resnet(RESNET)
    net.dense(512 * 7 * 7, 512)
    net.add("ReduceMean", axes=[1], keepdims=1)
    _beside(model, net, axes=[])
    onnx.save(model, str(target))


def landmarks_3d(target: Path) -> None:
    """A random model that takes and gives what 1k3d68 does."""
    net = Net(np.random.default_rng(3), "data", 3, "n")
    net.convolve(64, stride=2)
    net.resnet(RESNET_3D)
    net.convolve(512, stride=2)
    net.dense(512 * 3 * 3, 3309)
    _save(net, 192, 3309, target)


def gender_age(target: Path) -> None:
    """A random model that takes and gives what genderage does."""
    net = Net(np.random.default_rng(4), "data", 3, "n")
    for channels in (8, 16, 32, 64):
        net.convolve(channels, stride=2)
    net.dense(64 * 6 * 6, 3)
    _save(net, 96, 3, target)


def _save(net: Net, side: int, outputs: int, target: Path) -> None:
    shape = ["N", 3, side, side]
    graph = helper.make_graph(
        net.nodes,
        "random",
        [helper.make_tensor_value_info("data", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(net.name, TensorProto.FLOAT, ["N", outputs])],
        net.weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.save(model, str(target))


def _beside(model: Any, net: Net, axes: Sequence[int]) -> None:
    """Add the end of a net, times next to nothing, to the first answer of a model."""
    graph = model.graph
    graph.initializer.append(numpy_helper.from_array(np.array(1e-30, np.float32), "next_to_nothing"))
    net.add("Mul", ["next_to_nothing"])
    if axes:
        net.add("Unsqueeze", axes=list(axes))
    answer = graph.output[0].name
    for node in graph.node:
        node.output[:] = [f"{name}_light" if name == answer else name for name in node.output]
        node.input[:] = [f"{name}_light" if name == answer else name for name in node.input]
    graph.node.extend(net.nodes)
    graph.initializer.extend(net.weights)
    graph.node.append(helper.make_node("Add", [f"{answer}_light", net.name], [answer], name="heavy_end"))
