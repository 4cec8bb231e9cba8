"""Learning sparse parities: one gradient step, hinge losses, PolyNets, stochastic gradient descent."""
