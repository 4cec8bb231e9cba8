"""Statistical induction heads and in-context Markov chains."""
