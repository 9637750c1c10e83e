"""The services that host editing models and judges: settings, one client each, their errors in our terms.

Shared by editors and judges, and knows neither. Each module offers `api(standin_url)`; what it returns sends
a call exactly once and raises only errors of `domain.errors`, or `Declined`.
"""
