"""Settings that change attention, by family, and families that cannot be judged, with the reason."""
VARIANTS = {}
WITHOUT_JUDGE = {}
