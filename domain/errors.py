"""The errors of facedrift.

FacedriftError
├─ DefinitionError      a definition, parameter or file of the user is wrong  -> mend it; nothing was started
├─ PhotoError           one photo cannot be used (`reason` is a stable code)  -> it is left out and counted
├─ WeightsError         weights of a face model are missing or altered  -> install or point to them
├─ StoreError           the store cannot be read or written  -> mend access, run again
├─ ProviderError        an editing model or a judge failed
│  ├─ TransientError    not sent, or safe to send again  -> retried with backoff
│  ├─ AmbiguousError    may have been accepted (and paid)  -> resent as often as the suite allows, and counted
│  │  └─ UnresolvedError  was resent as often as allowed  -> left alone until a person allows more
│  ├─ QuotaError        the account's quota is used up  -> this provider pauses
│  ├─ FatalError        bad key, unknown model, our bug  -> no further call to this provider
│  └─ UnreadableError    a judge's answers made no sense  -> kept to look at; a later run asks again
├─ BudgetError          the next call would pass the run's cap  -> raise the cap and run again
├─ IncompleteError      work ended with steps missing  -> run again to repeat only those
└─ MetricError          the input does not determine the number

The message is the only positional argument and every other field is a keyword with a default, so that
each error survives pickling between processes.
"""

from __future__ import annotations


class FacedriftError(Exception):
    """Root of all errors raised on purpose."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message


class DefinitionError(FacedriftError):
    """A definition file, a parameter or a user's file is wrong."""

    def __init__(
        self,
        message: str = "",
        *,
        file: str | None = None,
        line: int | None = None,
        field: str | None = None,
        allowed: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.field = field
        self.allowed = allowed

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        text = f"{where}: {self.message}" if where else self.message
        if self.field:
            text += f" (field {self.field!r})"
        if self.allowed:
            text += f"; allowed: {', '.join(self.allowed)}"
        return text


class PhotoError(FacedriftError):
    """One photo cannot be used; `reason` is a stable code such as `truncated` or `no_face`."""

    def __init__(self, message: str = "", *, reason: str = "unreadable", file: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.file = file


class WeightsError(FacedriftError):
    """Weights of a face model are missing, incomplete or not the expected ones."""


class StoreError(FacedriftError):
    """The store cannot be read or written; `key` names the object."""

    def __init__(self, message: str = "", *, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


class ProviderError(FacedriftError):
    """An editing model or a judge failed to answer."""

    def __init__(
        self,
        message: str = "",
        *,
        provider: str | None = None,
        model: str | None = None,
        code: str | None = None,
        retry_after_s: float | None = None,
        job_over: bool = False,
    ) -> None:
        super().__init__(message)
        self.provider = provider
        self.model = model
        self.code = code
        """What the provider itself calls it, such as an HTTP status or `rate_limit_exceeded`."""
        self.retry_after_s = retry_after_s
        self.job_over = job_over
        """Raised while collecting: the job ended without an image, so its ticket is worth nothing now."""


class TransientError(ProviderError):
    """The call was not accepted, or is safe to send again."""


class AmbiguousError(ProviderError):
    """The call may have been accepted and paid, and its answer is lost or worth nothing."""


class UnresolvedError(AmbiguousError):
    """The call may have been paid several times, and the suite allows no further one."""


class QuotaError(ProviderError):
    """The account's quota is used up; the provider pauses."""


class FatalError(ProviderError):
    """A wrong key, an unknown model or a malformed request; no further call can succeed."""


class UnreadableError(ProviderError):
    """No answer of a judge could be read, asked for as often as the suite allows."""


class BudgetError(FacedriftError):
    """The next call would bring the cost of the run above its cap; it was not made."""


class IncompleteError(FacedriftError):
    """Work ended, kept what it has, and some steps failed; running again repeats only those."""

    def __init__(
        self, message: str = "", *, run_id: str | None = None, done: int = 0, cost_usd: float = 0.0
    ) -> None:
        super().__init__(message)
        self.run_id = run_id
        self.done = done
        self.cost_usd = cost_usd


class MetricError(FacedriftError):
    """The input does not determine the number."""
