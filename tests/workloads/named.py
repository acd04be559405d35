"""Runs another workload under another process name, as in `ps`: named.py --log LOG NAME WORKLOAD ARG..."""
import pathlib
import runpy
import sys

_, option, log, name, workload, *args = sys.argv
pathlib.Path("/proc/self/comm").write_text(name)
path = pathlib.Path(__file__).with_name(workload)
sys.argv = [str(path), option, log, *args]
runpy.run_path(str(path), run_name="__main__")
