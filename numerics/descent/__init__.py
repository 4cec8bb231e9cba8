"""Gradient descent on deep networks: backpropagation and the recursion of its errors."""
