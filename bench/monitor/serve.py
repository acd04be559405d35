"""A vLLM server with a small random model, and `proftrace monitor` beside it in every other block of time. Requests of
mixed lengths arrive at random. Prints how many failed, and how long they took with the monitor and without it."""
import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests/workloads")]
from measure import SETTLED_S, Monitor, command, free_port, processes, stats, sum_of, wait_for  # noqa: E402

VOCABULARY = 2000
CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256, "intermediate_size": 688,
    "num_hidden_layers": 12, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": VOCABULARY,
    "max_position_embeddings": 512, "rms_norm_eps": 1e-5, "hidden_act": "silu", "torch_dtype": "bfloat16",
    "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2,
}
# Each word is a token.
TOKENIZER = {
    "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
    "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None, "decoder": None,
    "model": {"type": "WordLevel", "vocab": {f"w{i}": i for i in range(VOCABULARY)}, "unk_token": "w0"},
}
STARTED_S = 300
WORKER = b"VLLM::"


def make_model(directory):
    directory.mkdir(exist_ok=True)
    (directory / "config.json").write_text(json.dumps(CONFIG))
    (directory / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    (directory / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "w0", "bos_token": "w1", "eos_token": "w2"}))


class Server:
    def __init__(self, directory):
        self.port = free_port()
        make_model(directory / "model")
        env = dict(os.environ, VLLM_CPU_KVCACHE_SPACE="1", HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1",
                   VLLM_CPU_OMP_THREADS_BIND="nobind")
        with open(directory / "server.log", "w") as log:
            self.popen = subprocess.Popen(
                [os.environ["VLLM_PYTHON"], "-m", "vllm.entrypoints.openai.api_server", "--model", directory / "model",
                 "--served-model-name", "m", "--load-format", "dummy", "--enforce-eager", "--max-model-len", "512",
                 "--max-num-seqs", "8", "--host", "127.0.0.1", "--port", str(self.port)],
                env=env, stdout=log, stderr=log)

    def is_ready(self):
        assert self.popen.poll() is None, "the server has ended, see server.log"
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5).status == 200
        except OSError:
            return False

    def complete(self, words, tokens):
        """Tokens of the answer."""
        body = json.dumps({"model": "m", "prompt": " ".join(f"w{random.randrange(3, VOCABULARY)}" for _ in range(words)),
                           "max_tokens": tokens, "ignore_eos": True}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/completions", body,
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["usage"]["completion_tokens"]

    def ranks(self):
        """The processes that may run the model."""
        return [pid for pid in processes(self.popen.pid) if command(pid).startswith(WORKER)] or [self.popen.pid]

    def stop(self):
        self.popen.send_signal(signal.SIGINT)
        self.popen.wait(60)


class Requests:
    """Sends requests at random times until it is stopped. done: begin, seconds a token, or None for a failure."""

    def __init__(self, server, per_s):
        self.server, self.per_s, self.done, self.ends = server, per_s, [], threading.Event()
        self.thread = threading.Thread(target=self.send_all)
        self.thread.start()

    def send(self, words, tokens):
        begin = time.monotonic()
        try:
            ok = self.server.complete(words, tokens) == tokens
        except OSError as error:
            print("a request failed:", error, flush=True)
            ok = False
        self.done.append((begin, (time.monotonic() - begin) / tokens if ok else None))

    def send_all(self):
        draw, threads = random.Random(1), []
        while not self.ends.wait(draw.expovariate(self.per_s)):
            threads.append(threading.Thread(target=self.send, args=(draw.randint(4, 200), draw.randint(8, 64))))
            threads[-1].start()
        for thread in threads:
            thread.join()

    def stop(self):
        self.ends.set()
        self.thread.join()


def run_block(directory, server, options, with_monitor, seconds):
    begin = time.monotonic()
    monitor = Monitor(directory, server, options) if with_monitor else None
    time.sleep(seconds)
    end = time.monotonic()
    if monitor:
        m = monitor.metrics()
        print(f"{sum_of(m, 'proftrace_monitor_windows_total'):.0f} windows, "
              f"{sum_of(m, 'proftrace_steps_total'):.0f} steps counted, "
              f"{sum_of(m, 'proftrace_monitor_events_lost_total'):.0f} events lost", flush=True)
        monitor.stop()
    return with_monitor, begin, end


def measure(directory, server, args):
    requests, blocks = Requests(server, args.rate), []
    try:
        for i in range(max(2, round(args.minutes * 60 / args.block))):
            blocks.append(run_block(directory, server, args.options, i % 4 in (0, 3), args.block))
    finally:
        requests.stop()
    print(f"{len(requests.done)} requests, {sum(t is None for _, t in requests.done)} failed")
    # While sessions attach and look at steps, a job is disturbed most; a monitor of days does that once.
    settled = [(on, begin + SETTLED_S, end) for on, begin, end in blocks]
    show_times("all requests", requests, blocks)
    show_times(f"without the first {SETTLED_S} s of each block", requests, settled)


def show_times(what, requests, blocks):
    times = {on: [t for begin, t in requests.done if t and any(of == on and b <= begin < e for of, b, e in blocks)]
             for on in (True, False)}
    print(what)
    for on, name in ((False, "without"), (True, "with")):
        print(f"{name} the monitor: {len(times[on])} requests, "
              f"{1e3 * stats.median(times[on]):.1f} ms a token, 95 % {1e3 * stats.percentile(times[on], 0.95):.1f} ms")
    print("median, with / without: %.3f [%.3f, %.3f]" % stats.ratio_interval(times[True], times[False]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--block", type=float, default=100, help="seconds")
    parser.add_argument("--rate", type=float, default=0.5, help="requests a second")
    parser.add_argument("--dir", type=pathlib.Path, default="monitor-serve")
    parser.set_defaults(options=["--young", "1s"])
    args = parser.parse_args()
    (args.dir / "store").mkdir(parents=True, exist_ok=True)
    server = Server(args.dir)
    try:
        wait_for("the server", server.is_ready, STARTED_S)
        server.complete(8, 8)
        print("processes", server.ranks(), [command(pid)[:60] for pid in server.ranks()], flush=True)
        measure(args.dir, server, args)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
