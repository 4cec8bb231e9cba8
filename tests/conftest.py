"""The tests read what a terminal of 80 columns shows, whatever they are started from."""

import os

for variable in ("COLUMNS", "LINES"):
    os.environ.pop(variable, None)
