# SPDX-License-Identifier: BSD-2-Clause
"""Tests which steps a job has that generates tokens: the same ones in each recording, and other steps if the user
chooses them."""
import sense
from lib.runner import test
from lib.tool import calls

STEPS, TOKENS = 4, 16


def attach(case, job, *options):
    return case.tool("-p", job.pid, "--record", f"2:{2 + STEPS}", "--no-trace", *options)


def rule(tables):
    return sense.rows(tables, "summary")[0]["step_rule"]


def check_tokens(case, job, rounds):
    """Recordings, three at a time; their rules, which are one."""
    rules = set()
    for i in range(rounds):
        tools = [attach(case, job, "--detail", detail, "--step-timeout", "3s")
                 for detail in ("phase", "phase", "phase" if i else "operator")]
        for tool in tools:
            tables = tool.done().report()
            rules.add(rule(tables))
            if not i and tool is tools[-1]:
                assert calls(tables, "aten::embedding") == STEPS, tables
    assert len(rules) == 1, rules
    text, = rules
    assert "each step opens at aten::embedding, which opens each iteration" in text, text
    assert "--step-unit request makes each request a step" in text, text


def check_requests(case, job, least, most):
    tables = attach(case, job, "--step-unit", "request").done().report()
    assert "each step opens at aten::randint, which opens each request" in rule(tables), rule(tables)
    assert "--step-unit iteration makes each pass" in rule(tables), rule(tables)
    assert calls(tables, "aten::randint") == STEPS, tables
    assert STEPS * least <= calls(tables, "aten::embedding") <= STEPS * most, tables


@test("a loop that makes tokens, as many for each request: a token is a step in each recording")
def fixed(case):
    job = case.job("generate.py", "--tokens", TOKENS, TOKENS).wait_steps(3)
    check_tokens(case, job, 1)
    check_requests(case, job, TOKENS, TOKENS)


@test("a loop that makes tokens, more or less of them for a request: a token is a step in each of six recordings")
def varying(case):
    job = case.job("generate.py", "--tokens", 3, 40).wait_steps(3)
    check_tokens(case, job, 2)
    check_requests(case, job, 3, 40)


@test("--step-unit where other marks tell of steps: a warning")
def other_marks(case):
    job = case.job("train.py").wait_steps(3)
    tool = attach(case, job, "--detail", "phase", "--step-unit", "request").done()
    assert tool.said("capture.step-unit-without-effect", "DataLoader"), tool.err
    case.tool("-p", job.pid, "--step-unit", "request", "--step-probe", "aten::argmax").fails("cli.step-unit-excludes", "--step-probe")
