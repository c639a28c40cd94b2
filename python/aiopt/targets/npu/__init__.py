"""NPUs with a systolic array: machine files, instructions, binaries, assembler, simulator (docs/npu.md)."""
