"""Planted accesses outside arrays, misaligned ones and undefined behaviour: each found and named."""

from __future__ import annotations

import signal

import pytest

from tests.emulator.programs import Programs, marked

# What is said, and whose line it names where the program shares its kernel with another.
FAULTS = {
    "static_shared_overrun": ("index 64 out of bounds for type 'float[64]'", "static_shared_overrun"),
    "static_shared_underrun": ("index 4294967232 out of bounds", "static_shared_overrun"),
    "dynamic_shared_overrun": ("AddressSanitizer: use-after-poison", "dynamic_shared_overrun"),
    "dynamic_shared_far_overrun": ("AddressSanitizer: use-after-poison", "dynamic_shared_overrun"),
    "pointer_into_shared_overrun": ("AddressSanitizer: use-after-poison", "pointer_into_shared_overrun"),
    "global_overrun": ("AddressSanitizer: heap-buffer-overflow", "global_overrun"),
    "misaligned_float4": ("misaligned address", "misaligned_float4"),
    "signed_overflow": ("signed integer overflow", "signed_overflow"),
    "local_overrun": ("index 8 out of bounds for type 'float[8]'", "local_overrun"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_address_sanitiser_names_it(address: Programs, fault: str) -> None:
    if fault == "misaligned_float4" and address.by_clang:
        pytest.skip("clang's sanitiser does not look at the address of a structure that is copied as a whole")
    outcome = address.run(fault)
    message, line = FAULTS[fault]
    said = outcome.said.replace(" [", "[")  # as clang writes types
    assert outcome.status != 0
    assert outcome.lines == []  # the process has ended
    assert message in said
    assert any(place in outcome.said for place in marked("overruns.cu", f"FAULT {line}"))
    assert "CUDA emulator: it happened in kernel `" in outcome.said


def test_an_address_in_shared_memory_is_named(address: Programs) -> None:
    said = address.run("dynamic_shared_overrun").said
    assert "the address is byte 256 of the dynamic shared memory, which has 256 bytes" in said
    said = address.run("pointer_into_shared_overrun").said
    assert "the address is byte 256 of shared array `values`, which has 256 bytes, declared in programs/over" in said


def test_shared_memory_that_nobody_wrote_is_nan(fast: Programs) -> None:
    assert fast.run("uninitialised_shared_memory").lines == ["uninitialised_shared_memory wrong cudaSuccess"]
    assert fast.run("uninitialised_shared_memory", fill=0).lines == ["uninitialised_shared_memory ok cudaSuccess"]


def test_host_code_that_reads_device_memory_is_found(fast: Programs) -> None:
    outcome = fast.run("device_memory_read_by_the_host")
    assert outcome.status == -signal.SIGSEGV
    assert outcome.said.startswith("copied 1\nCUDA emulator: SIGSEGV at address 0x")
    assert "the host reads or writes device memory" in outcome.said


def test_what_is_written_past_an_allocation_is_found_as_it_is_freed(fast: Programs) -> None:
    outcome = fast.run("global_overrun")
    assert outcome.status == -signal.SIGABRT
    assert "byte 256 of 256 bytes of device memory was written: a kernel or a copy went past the end" in outcome.said


def test_managed_memory_is_the_host_s_too(fast: Programs) -> None:
    assert fast.run("managed_memory_read_by_the_host").lines == ["managed_memory_read_by_the_host ok cudaSuccess"]
