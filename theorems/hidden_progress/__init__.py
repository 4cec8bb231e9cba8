"""Learning sparse parities: hidden progress behind the plateau."""
