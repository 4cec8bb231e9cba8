"""The front door of Lemmata: the command line. The mathematics lives in the packages beside it."""
