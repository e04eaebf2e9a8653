"""Which operations of a mixed-precision step compute on 16-bit arrays, and which parameters have a 16-bit copy.

Activations and their gradients lie in 16 bits from the embedding to the logits, the residual stream among them; sums of
products are float32, and where an operation's arrays lie in 16 bits, its arithmetic is float32 all the same (norms,
attention's softmax, SwiGLU).  A router's logits and probabilities, the norms' weights, statistics and the loss are
float32.  So no array is converted between two operations, where the namespace has the fused ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from bindings import read_header
from reference.arrays import check
from reference.model.parameters import Layer
from reference.ops import sixteen

FORMATS = {"bf16": "bfloat16", "fp16": "float16"}  # suffixes of operations, and NumPy's names


class Rule(Enum):
    """In which format an operation computes."""

    SIXTEEN = "16-bit"
    FLOAT32 = "float32"
    GIVEN = "as given"  # in 16 bits where one of its inputs is


# What makes 16-bit numbers of float32 ones: a product over many rows follows.
_SIXTEEN = ("expert_dispatch", "cross_entropy_backward", "topk_router_backward")
_COPIED = ("embedding", "w_q", "w_k", "w_v", "w_o", "router", "gate", "up", "down", "lm_head")


def _operations() -> dict[str, Rule]:
    """What has a 16-bit form takes what it is given, but for what makes 16-bit rows of float32 ones."""
    rules = {function.__name__: Rule.GIVEN for function in sixteen.RESULTS}
    return rules | dict.fromkeys(_SIXTEEN, Rule.SIXTEEN)


@dataclass(frozen=True)
class Policy:
    """operations: the rule of each, float32 for those not named; parameters: fields that have a 16-bit copy.

    Raises ValueError for an operation without a 16-bit form and for a field that no model has.
    """

    operations: Mapping[str, Rule] = field(default_factory=_operations, hash=False)
    parameters: frozenset[str] = frozenset(_COPIED)

    def __post_init__(self) -> None:
        known = read_header().operations
        forms = {name.removesuffix("_bf16") for name in known if name.endswith("_bf16")} & known.keys()
        for operation, rule in self.operations.items():
            fine = rule is Rule.FLOAT32 or operation in forms
            check(fine, "Policy", f"operations[{operation!r}]", "an operation that has a 16-bit form", rule.value)
        fields = {"embedding", "final_norm", "lm_head", *Layer._fields}
        others = sorted(self.parameters - fields)
        check(not others, "Policy", "parameters", f"fields of a model ({', '.join(sorted(fields))})", others)

    def copies(self, name: str) -> bool:
        """Whether the parameter of that name has a 16-bit copy."""
        return name.rpartition(".")[2] in self.parameters

    def of(self, operation: str) -> Rule:
        """The rule of an operation."""
        return self.operations.get(operation, Rule.FLOAT32)


MIXED = Policy()
