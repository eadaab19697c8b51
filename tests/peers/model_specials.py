"""What single families need beyond what the names of their fields say."""
SPECIAL = {
    "swin": {"image_size": 32, "patch_size": 4, "window_size": 4, "depths": [2, 2], "num_heads": [2, 4], "embed_dim": 16},
}
