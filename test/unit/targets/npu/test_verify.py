"""What the verifier finds, one broken program each."""

from __future__ import annotations

import dataclasses

import pytest

from aiopt.targets.npu.asm import parse_program
from aiopt.targets.npu.machine import find_machine
from aiopt.targets.npu.verify import verify
from unit.targets.npu.programs import SMALL, program, replaced

EDGE = find_machine("edge16")


def test_a_good_program_has_no_problems() -> None:
    assert verify(parse_program(SMALL, "small.s"), EDGE) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("spad=0x100 rows=32", "spad=0x3ff00 rows=32", "spad needs 262400 bytes of spad, but there are 262144"),
        ("dma_st dram=0x400", "dma_st dram=0xf00", "dram needs 4352 bytes of dram, but there are 4096"),
        ("acc=0x0 acc_stride=64", "acc=0xfff0 acc_stride=64", "acc needs 67568 bytes of acc, but there are 65536"),
        ("acc=0x0 acc_stride=64", "acc=0x2 acc_stride=64", "acc: address and stride must be multiples of 4"),
        ("acc=0x0 acc_stride=64", "acc=0x0 acc_stride=60", "acc: rows of 64 bytes overlap with a stride of 60"),
        ("rows=16 columns=16 waits", "rows=17 columns=16 waits", "rows must be at most 16 on this machine, but is 17"),
        ("inner=16 columns=16", "inner=16 columns=17", "columns must be at most 16 on this machine, but is 17"),
        ("inner=16 columns=16", "inner=0 columns=16", "inner must be 1 or more, but is 0"),
        ("inner=16 columns=16", "inner=16 columns=16 element=i32", "the left operand is i8, u8 or f32, not i32"),
        ("inner=16 columns=16", "inner=4 columns=16 element=f32", "the active weights are i8, the left operand f32"),
        ("columns=16 swap", "columns=16", "there are no active weights"),
        ("loadw spad=0x0 stride=16 rows=16 columns=16", "nop on=matrix", "swaps in weights, but none were loaded"),
        ("zero_point=3", "zero_point=128", "zero_point must be from -128 to 127, but is 128"),
        ("zero_point=3", "zero_point=3 element=f32", "results are i8 or u8, not f32"),
        ("halt", "halt\nhalt", "instruction 9 (halt): only the last instruction may be halt"),
        ("halt", "", "the last instruction must be halt"),
        ("loadw", "sem_init semaphore=4\nloadw", "must stand at the start, or behind a fence"),
        ("semaphore=0 signaller=load waiter=matrix", "semaphore=0", "must order two queues, but has load at both ends"),
        ("semaphore=0 signaller", "semaphore=40 signaller", "there is no s40; the last one is s31"),
        ("waits=s2", "waits=s2,s2", "waits for s2 2 times; use a count"),
        ("waits=s2", "waits=s3", "s3 has no sem_init before it"),
        ("waits=s2", "waits=s1", "queue store may not wait s1; vector does"),
        ("waits=s2", "", "s2 is not balanced: 1 signalled, 0 waited for"),
        ("zero_point=3 waits=s1", "zero_point=3 waits=s1:2", "s1 is not balanced: 1 signalled, 2 waited for"),
    ],
)  # fmt: skip
def test_a_broken_program_has_its_problem(old: str, new: str, problem: str) -> None:
    problems = verify(parse_program(replaced(SMALL, (old, new)), "x.s"), EDGE)
    assert any(problem in text for text in problems), problems


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("vec out=0x4 left=0x0 rows=1 columns=4 element=f32", "out overlaps left without being the same place"),
        (
            "vec out=0x8 left=0x0 rows=2 columns=3 out_stride=16 left_stride=16 element=f32",
            "out overlaps left without being the same place",
        ),
        (
            "vec out=0x18 left=0x0 rows=2 columns=3 out_stride=16 left_stride=16 element=f32",
            "out overlaps left without being the same place",
        ),
        ("vec out=0x0 left=0x0 rows=1 columns=4 element=i8", "elements are i32 or f32, not i8"),
        ("vec out=0x0 left=0x0 rows=1 columns=4 element=i32 op=add constant immediate=0.5", "a whole number that fits"),
        ("vec out=0x0 left=0x0 rows=1 columns=4 element=i32 op=add constant immediate=inf", "a whole number that fits"),
        ("loadw rows=1 columns=1 element=u8", "weights are i8 or f32, not u8"),
    ],
)
def test_a_bad_instruction_has_its_problem(line: str, problem: str) -> None:
    problems = verify(program(f"{line}\nhalt"), EDGE)
    assert len(problems) == 1
    assert problem in problems[0]


def test_in_place_and_side_by_side_are_no_overlap() -> None:
    body = "vec out=0x0 left=0x0 rows=2 columns=4 out_stride=16 left_stride=16 element=f32 op=mul constant\n"
    body += "vec out=0x20 left=0x0 rows=2 columns=4 out_stride=16 left_stride=16 element=f32\n"
    body += "vec out=0x0 left=0x0 rows=2 columns=4 out_stride=16 left_stride=16 element=f32 out_space=acc\n"
    body += "vec out=0x8 left=0x0 rows=2 columns=2 out_stride=16 left_stride=16 element=f32\nhalt"  # between the rows
    assert verify(program(body), EDGE) == []


def test_a_program_runs_on_its_machine_alone() -> None:
    small = dataclasses.replace(parse_program(SMALL, "x.s"), machine="mine", machine_hash=bytes(32))
    assert verify(small, EDGE) == ["the program was made for machine 'mine', which is not this 'edge16'"]
