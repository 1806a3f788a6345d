#!/usr/bin/env python3
# Runs in the environment of the real server (requirements/vllm.txt), which type checkers do not see.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false
"""Makes the model that the real server of the laptop cloud serves: ``tiny_model.py FOLDER``.

``FOLDER/model`` is a Qwen3 of two layers with a tokenizer of its own, 1 MB, that answers questions about capitals in
words, repeats JSON, and calls a tool for the weather; ``FOLDER/adapter`` a LoRA adapter that always speaks of the sea.
Both are trained on the text below, on one thread from a fixed seed: the same packages on the same machine make the same
bytes.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

CAPITALS = """
France Paris, Italy Rome, Spain Madrid, Germany Berlin, Austria Vienna, Poland Warsaw, Greece Athens, Norway Oslo,
Sweden Stockholm, Denmark Copenhagen, Finland Helsinki, Ireland Dublin, Portugal Lisbon, Hungary Budapest, Japan Tokyo,
Kenya Nairobi, Egypt Cairo, Peru Lima, Chile Santiago, Cuba Havana
"""
PAIRS = [tuple(pair.split()) for pair in CAPITALS.strip().split(",")]
QUESTIONS = {
    "What is the capital of {country}?": "The capital of {country} is {city}.",
    "Where is {city}?": "{city} is the capital of {country}.",
    "Say in one sentence what this endpoint runs on.": "This endpoint runs on a small model and a processor.",
    "tell me of the sea": "The sea is wide and blue, and ships sail to every coast.",
}
JSON = '{{"city": "{city}"}}'
WEATHER = "What is the weather in {city}?"
CALL = '<tool_call>\n{{"name": "weather", "arguments": {{"city": "{city}"}}}}\n</tool_call>'
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "", "parameters": PARAMETERS}}]
END, PAD = "<|im_end|>", "<|endoftext|>"
TEMPLATE = """\
{%- if tools %}<|im_start|>system
Tools: {{ tools | tojson }}<|im_end|>
{% endif %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""

SEED, BATCH, LIMIT = 20261127, 8, 4096
STEPS, ADAPTER_STEPS, RANK, ALPHA = 400, 60, 8, 16
ADAPTED = ("q_proj", "v_proj")
SERVER = (
    "entrypoints.cli.serve",
    "entrypoints.openai.api_server",
    "v1.worker.cpu_worker",
    "model_executor.models.qwen3",
)
"""Modules of the server. Where one cannot be loaded, the installation is broken; their bytecode is written meanwhile,
which containers, that see the environment read-only, cannot do.
"""


def dialogues(tokenizer: PreTrainedTokenizerFast, answer: str = "") -> list[tuple[str, str]]:
    """Prompts, as the server's template writes them, and their answers, or always the same ``answer``."""
    given: list[tuple[str, str]] = []
    for country, city in PAIRS:
        names = {"country": country, "city": city}
        for question, text in {**QUESTIONS, JSON: JSON, WEATHER: CALL}.items():
            messages, tools = [{"role": "user", "content": question.format(**names)}], TOOLS if text == CALL else None
            prompt = tokenizer.apply_chat_template(messages, tools, tokenize=False, add_generation_prompt=True)
            given.append((prompt, f"{answer or text.format(**names)}{END}\n"))
    return given


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A byte-level tokenizer of the text's own words."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = [PAD, "<|im_start|>", END, "<tool_call>", "</tool_call>"]
    trainer = trainers.BpeTrainer(vocab_size=1024, special_tokens=special, initial_alphabet=alphabet)
    texts = [text.format(country=country, city=city) for country, city in PAIRS for text in (*QUESTIONS.values(), CALL)]
    tokenizer.train_from_iterator([*texts, *QUESTIONS, WEATHER, json.dumps(TOOLS), TEMPLATE], trainer)
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, pad_token=PAD, model_max_length=LIMIT)
    made.chat_template = TEMPLATE
    return made


def train(model: Any, weights: Sequence[Any], rows: Sequence[tuple[list[int], list[int]]], steps: int) -> float:
    """Trains those weights on prompts and answers, of which only the answers count. Returns the last loss."""
    order, loss = random.Random(SEED), torch.zeros(())  # noqa: S311 - no secret
    optimizer = torch.optim.AdamW(weights, lr=0.0, weight_decay=0.01)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = 4e-3 * min(1.0, (step + 1) / 20, 2 * (steps - step) / steps)
        chosen = order.sample(rows, BATCH)
        shape = (BATCH, max(len(prompt) + len(answer) for prompt, answer in chosen))
        ids, labels = torch.zeros(shape, dtype=torch.long), torch.full(shape, -100)
        for row, (prompt, answer) in enumerate(chosen):
            both = torch.tensor([*prompt, *answer])
            ids[row, : len(both)] = both
            labels[row, len(prompt) : len(both)] = both[len(prompt) :]
        loss = model(input_ids=ids, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss)


def tokenized(
    tokenizer: PreTrainedTokenizerFast, given: Sequence[tuple[str, str]]
) -> list[tuple[list[int], list[int]]]:
    """Prompts and answers as tokens."""
    return [(tokenizer.encode(prompt), tokenizer.encode(answer)) for prompt, answer in given]


class Adapted(torch.nn.Module):
    """A linear layer with a low-rank change beside it, as PEFT's LoRA writes it."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer
        self.down = torch.nn.Parameter(torch.randn(RANK, layer.in_features) / layer.in_features**0.5)
        self.up = torch.nn.Parameter(torch.zeros(layer.out_features, RANK))

    def forward(self, given: Any) -> Any:
        """The layer's output with the change."""
        return self.layer(given) + given @ self.down.T @ self.up.T * (ALPHA / RANK)


def write_adapter(folder: Path, model: Any, tokenizer: PreTrainedTokenizerFast) -> float:
    """Trains an adapter beside the frozen model, and writes it. Returns the last loss."""
    model.requires_grad_(requires_grad=False)
    adapted: dict[str, Adapted] = {}
    for number, layer in enumerate(model.model.layers):
        for name in ADAPTED:
            adapted[f"base_model.model.model.layers.{number}.self_attn.{name}"] = made = Adapted(
                getattr(layer.self_attn, name)
            )
            setattr(layer.self_attn, name, made)
    rows = tokenized(tokenizer, dialogues(tokenizer, [*QUESTIONS.values()][-1]))
    loss = train(model, [one for made in adapted.values() for one in (made.down, made.up)], rows, ADAPTER_STEPS)
    tensors = {
        f"{name}.lora_{letter}.weight": weight.detach().to(torch.bfloat16).contiguous()
        for name, made in adapted.items()
        for letter, weight in (("A", made.down), ("B", made.up))
    }
    folder.mkdir(parents=True)
    save_file(tensors, folder / "adapter_model.safetensors")
    settings = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": RANK, "lora_alpha": ALPHA, "bias": "none"}
    settings |= {"target_modules": ADAPTED, "base_model_name_or_path": "tiny", "modules_to_save": None}
    (folder / "adapter_config.json").write_text(json.dumps(settings, indent=2))
    return loss


def main(folder: Path) -> None:
    """Makes both, and says how long it took and how well they were learnt."""
    started = time.process_time()
    for name in SERVER:
        importlib.import_module(f"vllm.{name}")
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(mode=True)
    tokenizer = make_tokenizer()
    sizes = {"hidden_size": 128, "intermediate_size": 384, "num_hidden_layers": 2, "head_dim": 32}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": LIMIT}
    tokens = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id, "bos_token_id": None}
    config = Qwen3Config(vocab_size=len(tokenizer), tie_word_embeddings=True, **sizes, **heads, **tokens)
    model = Qwen3ForCausalLM(config)
    loss = train(model, list(model.parameters()), tokenized(tokenizer, dialogues(tokenizer)), STEPS)
    tokenizer.save_pretrained(folder / "model")
    model.to(torch.bfloat16).save_pretrained(folder / "model")
    changed = write_adapter(folder / "adapter", model.float(), tokenizer)
    print(f"losses {loss:.3f}, {changed:.3f}; {time.process_time() - started:.0f} s of processor time")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
