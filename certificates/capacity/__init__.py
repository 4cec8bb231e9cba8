"""How much a class can fit, certified: codes of concrete networks, shattered points, covers, Lipschitz constants."""
