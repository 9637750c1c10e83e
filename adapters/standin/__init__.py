"""A stand-in for the providers of editing models: their protocols on a local port, with faults on request."""
