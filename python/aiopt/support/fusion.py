"""Whether layers that follow each other become one kernel: where that is faster, wherever it can be had, or nowhere."""

AUTO, MAX, OFF = "auto", "max", "off"
MODES = (AUTO, MAX, OFF)
