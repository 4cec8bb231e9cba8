"""Certificates of groups: making, writing, reading and sweeping."""
