"""Soaks LoadingKit: `chaos.py FOLDER soak MINUTES SEED`."""
