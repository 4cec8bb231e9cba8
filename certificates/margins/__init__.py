"""All-layer margins: certified lower bounds and attacks from above."""
