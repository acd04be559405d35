# SPDX-License-Identifier: BSD-2-Clause
"""Operators that do not come from Python's torch.*: a custom op, an autograd.Function, torch.ops,
an attribute."""
import torch
from torch import nn
from torch.autograd.profiler import record_function

from stepper import serve


def _scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x * factor


def _scale_setup(ctx, inputs, output):
    ctx.factor = inputs[1]


def _scale_backward(ctx, grad):
    return grad * ctx.factor, None


if hasattr(torch.library, "custom_op"):
    scale = torch.library.custom_op("mylib::scale", _scale, mutates_args=())
    scale.register_autograd(_scale_backward, setup_context=_scale_setup)
else:  # before 2.4
    library = torch.library.Library("mylib", "DEF")
    library.define("scale(Tensor x, float factor) -> Tensor")
    library.impl("scale", _scale, "CompositeImplicitAutograd")
    scale = torch.ops.mylib.scale

fast_range = getattr(torch._C._profiler, "_RecordFunctionFast", record_function)  # since 2.1


class MyRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x > 0)


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 64), nn.Linear(64, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    inputs = torch.randn(16, 32)

    def step():
        optimizer.zero_grad()
        y = MyRelu.apply(scale(model(inputs), 2.0))
        y = torch.ops.aten.add.Tensor(y, y).T
        with record_function("my loss region"):
            loss = y.pow(2).mean()
        with fast_range("fast region"):
            loss = loss * 1.0
        loss.backward()
        optimizer.step()
        return loss.item()

    serve(step)


if __name__ == "__main__":
    main()
