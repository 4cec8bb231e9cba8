"""The shared vocabulary of layers, from which every construction is assembled."""
