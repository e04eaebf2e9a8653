"""The judge.  Rooms, from the ground up; each may import those above it in this list, and `commands` imports them all.

limits/      how far off an honest implementation may be, element by element
catalogue/   what is asked of a candidate, and the answers that are kept
launches/    which kernels our own library launches, held to a table
candidates/  what is judged, run where it can do no harm
variants/    the same operations by others: honest ones must pass, wrong ones must fail
judging/     one call becomes a result
steps/       whole training steps and runs
onnx/        cases as ONNX node tests, and ONNX's own node tests as cases
report/      what a person or a machine reads
proof/       whether the judge would notice: readings, faults, false alarms
commands/    the command line, a file for each command

Beside the rooms: `operations` (what the header declares), `ids` (of cases and results), `exit_codes`, `version`,
`paths`, `program` (how it was called), `pool` (processes that share work), `decoding` (JSON as records) and `builds/`
(this project's own libraries).
"""
