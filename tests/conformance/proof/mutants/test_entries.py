"""A part of a library lacks the entries that it does not need, and no line changes its number."""

from __future__ import annotations

from conformance.proof.faults.recipes import Kernels
from conformance.proof.mutants.entries import blank, left_out

SOURCES = {
    "one.cu": """namespace {
float helper(float x) { return x; }
} // namespace
int32_t cuda_add(const float* a) {
    return helper(*a);
}
int32_t cuda_mul(const float* a) {
    return cuda_scale(a);
}
#define EMBEDDING(suffix) int32_t cuda_embedding##suffix(void) { return 0; }
EMBEDDING(_bf16)
""",
    "two.cu": """int32_t cuda_scale(const float* a) {
    return 0;
}
int32_t cuda_silu(const float* a) {
    return 0;
}
""",
}


def test_only_what_others_need_is_left_out() -> None:
    assert left_out({"add"}, SOURCES) == {"one.cu": [(7, 9)], "two.cu": [(1, 3), (4, 6)]}


def test_an_entry_that_is_called_stays() -> None:
    assert left_out({"mul"}, SOURCES) == {"one.cu": [(4, 6)], "two.cu": [(4, 6)]}


def test_lines_keep_their_numbers() -> None:
    text = blank(SOURCES["two.cu"], left_out({"silu"}, SOURCES)["two.cu"])
    assert text.split("\n") == ["", "", "", *SOURCES["two.cu"].split("\n")[3:]]


def test_of_the_kernels_every_operation_can_be_a_part() -> None:
    sources = Kernels("fast").read()
    for operation in ("softmax", "gemm", "expert_combine_backward", "multi_adamw"):
        spans = left_out({operation}, sources)
        kept = {file: blank(text, spans.get(file, ())) for file, text in sources.items()}
        assert any(f"cuda_{operation}(" in text for text in kept.values())
        assert sum(map(len, spans.values())) > 30
