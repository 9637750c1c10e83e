"""Pixels shared by editors, judges and embedders: decoding, face models, regions and shapes."""
