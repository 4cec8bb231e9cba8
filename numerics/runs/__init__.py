"""Long work: items that resume, processes, memory, files written atomically, confidence intervals."""
