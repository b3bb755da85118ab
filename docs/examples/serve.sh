#!/usr/bin/env bash
# Kimi-K2.5 and its drafter, as recipes of this repository; any folder or Hub id stands here as well.
python3 -m sglang.launch_server \
  --model-path fixtures/targets/moonshotai--Kimi-K2.5.recipe.toml --tp 8 \
  --speculative-algorithm EAGLE \
  --speculative-draft-model-path fixtures/recipes/lightseekorg--kimi-k2.5-eagle3.recipe.toml \
  --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4
