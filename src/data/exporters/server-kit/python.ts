/**
 * @file The kit's Python, the same in every kit: whatever belongs to a run is read from settings.json and data/, never
 * written into code, so that no text of a run can become a program.
 */

/** The client of the environment server, for both engines. Standard library only. */
export const worldClient = `"""One episode in an environment server (AgentGym's protocol), for TRL and verl alike.

DREAMGYM_ENV_URL is the server's address, DREAMGYM_ENV_DIALECT one of textcraft, alfworld, webshop, webarena.
An episode that is lost (a broken connection, an error) ends with reward 0 and lost = True.
"""

import json
import os
import pathlib
import re
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
SETTINGS = json.loads((HERE / "settings.json").read_text(encoding="utf-8"))

_KEYS = {
    "textcraft": ("id", "data_idx", "observation"),
    "alfworld": ("id", "game", "observation"),
    "webshop": ("env_idx", "session_id", "state"),
    "webarena": ("env_idx", "idx", "observation"),
}
_MAX_BYTES = 4 * 1024 * 1024


class WorldLost(RuntimeError):
    """The server failed; what the episode would have earned is unknown."""


class World:
    """reset(index) -> observation; step(action) -> (observation, done). The reward is read at the end."""

    def __init__(self, url=None, dialect=None, timeout=60.0):
        self.url = (url or os.environ.get("DREAMGYM_ENV_URL", "http://127.0.0.1:36001")).rstrip("/")
        self.dialect = dialect or os.environ.get("DREAMGYM_ENV_DIALECT", "textcraft")
        self.timeout = timeout
        self._id_key, self._index_key, self._observation_key = _KEYS[self.dialect]
        self._id = None
        self.reward = 0.0
        self.turns = 0
        self.done = True
        self.lost = False

    def reset(self, index):
        self.reward, self.turns, self.done, self.lost = 0.0, 0, False, False
        if self._id is None:
            answer = self._ask("/create", {})
            self._id = answer if isinstance(answer, int) else answer[self._id_key]
        body = {self._id_key: self._id, self._index_key: int(index)}
        if self.dialect == "alfworld":
            body["world_type"] = "Text"
        if self.dialect == "webarena":
            body["seed"] = SETTINGS["seed"]
        answer = self._ask("/reset", body)
        if isinstance(answer, list):
            return str(answer[0])
        observation = answer.get("observation")
        if isinstance(observation, str):
            return observation
        return self._ask("/observation?%s=%d" % (self._id_key, self._id), None)

    def step(self, action):
        if self.done:
            return "The episode is over.", True
        self.turns += 1
        try:
            answer = self._ask("/step", {self._id_key: self._id, "action": action})
            reward = float(answer.get("reward") or 0.0)
            self.done = bool(answer.get("done") or answer.get("terminated") or answer.get("truncated"))
            observation = str(answer[self._observation_key])
        except (WorldLost, KeyError, TypeError, ValueError, AttributeError):
            # Whether the server took the action cannot be known: never asked twice, never rewarded.
            self.reward, self.done, self.lost, self._id = 0.0, True, True, None
            return "The episode was lost.", True
        # As in the run: below 1, the discount makes a quick success worth more than a slow one.
        self.reward += SETTINGS["discount"] ** (self.turns - 1) * reward
        if self.turns >= SETTINGS["max_turns"]:
            self.done = True
        return observation, self.done

    def _ask(self, path, body):
        data = None if body is None else json.dumps(body).encode("utf-8")
        request = urllib.request.Request(self.url + path, data=data, headers={"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as response:
                text = response.read(_MAX_BYTES + 1)
        except OSError as error:
            raise WorldLost(str(error)) from error
        if len(text) > _MAX_BYTES:
            raise WorldLost("the answer is too large")
        try:
            answer = json.loads(text)
        except ValueError as error:
            raise WorldLost("the answer is not JSON") from error
        if isinstance(answer, dict) and answer.get("error"):
            raise WorldLost(str(answer["error"])[:300])
        return answer


_ACTION = re.compile(r"^[\\s*_#>-]*action\\s*:\\s*(.+)$", re.IGNORECASE | re.MULTILINE)


def action_of(text):
    """The first line "Action: ..." of an answer, or None."""
    found = _ACTION.search(text)
    return found.group(1).strip().strip("*_\`") if found else None
`;

export const trlScript = `"""GRPO with TRL, with the settings of the exported run: python train_trl.py --model BASE [--output DIR].

Needs: pip install "trl>=1.16" "transformers>=5.2" peft datasets, one GPU or more, and an environment server
(DREAMGYM_ENV_URL, see README.md). For several GPUs: accelerate launch train_trl.py ...
"""

import argparse
import json
import os

from datasets import load_dataset
from peft import LoraConfig, PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from world_client import HERE, SETTINGS, World


class DreamGymWorld:
    """What TRL asks of an environment: reset, tools (every other public method), and the reward."""

    def __init__(self):
        self._world = World()

    def reset(self, index, **_):
        return self._world.reset(index)

    def act(self, action: str) -> str:
        """Do one thing in the world and see what happens.

        Args:
            action: The action, for example: go to shelf 1

        Returns:
            What you see next.
        """
        observation, _ = self._world.step(action)
        return observation

    def get_reward(self) -> float:
        return self._world.reward


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="the base model: a folder or a name on the hub")
    parser.add_argument("--output", default="trained")
    parser.add_argument("--fresh", action="store_true", help="begin a new adapter instead of going on with adapter/")
    args = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(args.model)
    model = AutoModelForCausalLM.from_pretrained(args.model, dtype="auto")
    lora = None
    if (HERE / "adapter" / "adapter_config.json").exists() and not args.fresh:
        model = PeftModel.from_pretrained(model, str(HERE / "adapter"), is_trainable=True)
    else:
        lora = LoraConfig(
            r=SETTINGS["lora"]["rank"],
            lora_alpha=SETTINGS["lora"]["alpha"],
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )

    # One generation batch is one iteration of the run; it is learned from in as many steps.
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    episodes = SETTINGS["tasks_per_iteration"] * SETTINGS["group_size"]
    per_step = max(1, episodes // (SETTINGS["mini_batches"] * processes))
    steps = SETTINGS["iterations"] * SETTINGS["mini_batches"] * SETTINGS["epochs"]
    optimizer = SETTINGS["optimizer"]
    config = GRPOConfig(
        output_dir=args.output,
        **SETTINGS["trl"],
        per_device_train_batch_size=1,
        gradient_accumulation_steps=per_step,
        generation_batch_size=episodes,
        max_steps=steps,
        max_completion_length=SETTINGS["max_response_tokens"],
        max_tool_calling_iterations=SETTINGS["max_turns"],
        adam_beta1=optimizer["beta1"],
        adam_beta2=optimizer["beta2"],
        adam_epsilon=optimizer["epsilon"],
        weight_decay=optimizer["weight_decay"],
        max_grad_norm=optimizer["max_grad_norm"],
        warmup_steps=SETTINGS["warmup_iterations"] * SETTINGS["mini_batches"] * SETTINGS["epochs"],
        lr_scheduler_type="warmup_stable_decay",
        lr_scheduler_kwargs={"num_decay_steps": max(1, int(steps * SETTINGS["decay_share"])), "decay_type": "linear"},
        logging_steps=1,
        report_to="none",
        remove_unused_columns=False,
    )
    tasks = load_dataset("json", data_files=str(HERE / "data" / "trl-tasks.jsonl"), split="train")
    trainer = GRPOTrainer(
        model=model,
        args=config,
        train_dataset=tasks,
        processing_class=tokenizer,
        peft_config=lora,
        environment_factory=DreamGymWorld,
    )
    trainer.train()
    trainer.save_model(args.output)
    print(json.dumps({"output": args.output, "steps": steps}))


if __name__ == "__main__":
    main()
`;

export const verlAgentLoop = `"""verl (0.9) plays an episode: the policy says "Action: ...", the world answers, until it is over.

Tokens are kept as sampled; what the world says is masked out of the loss (0 in response_mask).
"""

from uuid import uuid4

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput

from world_client import SETTINGS, World, WorldLost, action_of

HINT = 'Nothing happens. End your answer with a line like "Action: look".'


class WorldAgentLoop(AgentLoopBase):
    async def run(self, sampling_params, **kwargs):
        messages = [dict(message) for message in kwargs["raw_prompt"]]
        info = kwargs.get("extra_info") or {}
        world = World()
        try:
            seen = await self._in_thread(world.reset, info["index"])
            messages[-1]["content"] = messages[-1]["content"] + seen
        except WorldLost:
            world.done = world.lost = True
        tokens = await self.ct_build_initial_tokens(messages)
        mask = []
        logprobs = []
        limit = self.rollout_config.response_length
        sampling = {**sampling_params, "max_tokens": SETTINGS["turn_tokens"]}
        request = uuid4().hex
        turns = 0
        while True:
            output = await self.server_manager.generate(request_id=request, prompt_ids=tokens, sampling_params=sampling)
            merged, mask, logprobs = await self.ct_merge_assistant_token(
                tokens,
                output.token_ids,
                mask,
                logprobs if output.log_probs else None,
                assistant_logprobs=output.log_probs if output.log_probs else None,
            )
            tokens = merged.token_ids
            turns += 1
            if world.done or len(mask) >= limit:
                break
            said = self.tokenizer.decode(output.token_ids, skip_special_tokens=True)
            action = action_of(said)
            if action is None:
                observation, over = HINT, False
            else:
                observation, over = await self._in_thread(world.step, action)
            # What could not be read as an action is a turn, too.
            if over or turns >= SETTINGS["max_turns"]:
                break
            before = messages + [{"role": "assistant", "content": said}]
            messages = before + [{"role": "user", "content": "Observation: " + observation}]
            merged, mask, logprobs = await self.ct_merge_context_msg(
                before, messages, tokens, mask, logprobs if logprobs else None
            )
            tokens = merged.token_ids
            if len(mask) >= limit:
                break
        return AgentLoopOutput(
            prompt_ids=tokens[: len(tokens) - len(mask)],
            response_ids=tokens[len(tokens) - len(mask) :][:limit],
            response_mask=mask[:limit],
            response_logprobs=logprobs[:limit] if logprobs else None,
            reward_score=0.0 if world.lost else world.reward,
            num_turns=2 * turns,
            metrics=AgentLoopMetrics(),
            extra_fields={"turn_scores": [], "tool_rewards": []},
        )

    async def _in_thread(self, work, *args):
        return await self.loop.run_in_executor(None, work, *args)
`;
