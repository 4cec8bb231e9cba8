"""A small piece of work in items, for tests of runs and of experiments."""

SETTINGS = {f"seed-{seed}": {"seed": seed, "sizes": (1, 2)} for seed in range(4)}


def square(settings):
    if settings["seed"] == settings.get("bad"):
        raise ArithmeticError("no luck")
    return {"square": settings["seed"] ** 2, "pair": (1, 2.5)}
