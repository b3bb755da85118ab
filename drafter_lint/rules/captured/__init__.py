"""6xx: which of the target's hidden states are handed over, against those the drafter was trained on."""
