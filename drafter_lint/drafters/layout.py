"""How a method is written to disk: every published layout by name, and the family of drafters it belongs to."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

Family = Literal["eagle1", "eagle3", "block", "mtp", "medusa", "mlp_speculator", "language_model", "none"]


class Layout(StrEnum):
    """How a method is written to disk."""

    EAGLE1 = "eagle1"  # fc [H, 2H], layers.N, no head (EAGLE-1/2, HASS)
    EAGLE1_SPECULATORS = "eagle1-speculators"  # fusion_fc and transformer.*, speculators up to 0.4
    EAGLE3_MIDLAYER = "eagle3-midlayer"  # SafeAILab, SpecForge
    EAGLE3_LAYERS = "eagle3-layers"  # ModelOpt, AngelSlim
    EAGLE3_SPECULATORS = "eagle3-speculators"  # vllm-project/speculators
    EAGLE3_MLA = "eagle3-mla"  # DeepSeek-style attention (Kimi)
    EAGLE3_DEEPSPEC = "eagle3-deepspec"  # deepseek-ai/DeepSpec: five states, ids under target_layer_ids
    DFLASH = "dflash"  # z-lab, SpecForge, ModelOpt, AngelSlim
    DFLASH_SPECULATORS = "dflash-speculators"
    DFLASH_DEEPSPEC = "dflash-deepspec"  # a DSpark class of Markov rank 0
    DFLASH_LAGUNA = "dflash-laguna"  # fused qkv, a gate, a norm on each state
    DFLASH_MUSE = "dflash-muse"  # encoder.fc, encoder.output_norm_enc
    DFLARE = "dflare"  # separate key and value projections for the target's states
    LILICORR = "lilicorr"
    DFLASH2 = "dflash2"  # convolutions and a candidate selector
    DFLASH2_SPECULATORS = "dflash2-speculators"
    DOMINO = "domino"  # a GRU over the drafted prefix
    XPRESS_SPECULATORS = "xpress-speculators"  # a refiner head
    DSPARK = "dspark"  # SpecForge, TorchSpec
    DSPARK_SPECULATORS = "dspark-speculators"
    DSPARK_DEEPSPEC = "dspark-deepspec"
    DSPARK_MODELOPT = "dspark-modelopt"  # the heads without their prefixes
    DSPARK_FUSED = "dspark-fused"  # mtp.N.markov_head inside a DeepSeek-V4 target
    MTP_DEEPSEEK = "mtp-deepseek"  # layers.N.eh_proj behind the decoder layers (DeepSeek, GLM, Kimi grafts, Step)
    MTP_NEXTN = "mtp-nextn"  # the same exported alone
    MTP_DEEPSEEK_V4 = "mtp-deepseek-v4"  # mtp.N.attn, mtp.N.ffn
    MTP_QWEN = "mtp-qwen"  # mtp.fc, mtp.pre_fc_norm_*
    MTP_LAYERS = "mtp-layers"  # mtp.layers.N (Nemotron-H, Exaone, LongCat, MiMo-V2)
    MTP_MIMO = "mtp-mimo"  # mtp_layers.N.input_proj
    MTP_ERNIE = "mtp-ernie"  # mtp_block.N, mtp_linear_proj.N
    MTP_SPECULATORS = "mtp-speculators"
    MTP_GEMMA4 = "mtp-gemma4"  # pre_projection, post_projection: Gemma-4 assistants
    MEDUSA = "medusa"  # FasterDecoding, TensorRT
    MEDUSA_VLLM = "medusa-vllm"  # blocks.N, lm_heads.N
    HYDRA = "hydra"
    MLP_SPECULATOR = "mlp-speculator"
    DRAFT_MODEL = "draft-model"  # an ordinary language model
    PARD = "pard"  # an ordinary language model that drafts in parallel
    GGUF = "gguf"  # llama.cpp's container, whatever is inside
    OTHER = "other"  # a drafter of a method not yet understood
    NOT_A_DRAFTER = "not-a-drafter"  # adapter, token map, training state, a target
    UNKNOWN = "unknown"

    @property
    def family(self) -> Family:
        """What kind of drafter is written this way."""
        return _FAMILIES.get(self.value.partition("-")[0], "none")


#: The first word of a layout's name says what family it is.
_FAMILIES: dict[str, Family] = {
    "eagle1": "eagle1",
    "eagle3": "eagle3",
    "dflash": "block",
    "dflash2": "block",
    "dflare": "block",
    "lilicorr": "block",
    "domino": "block",
    "xpress": "block",
    "dspark": "block",
    "mtp": "mtp",
    "medusa": "medusa",
    "hydra": "medusa",
    "mlp": "mlp_speculator",
    "draft": "language_model",
    "pard": "language_model",
}
