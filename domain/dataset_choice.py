"""Which photos a suite uses: an adapter, what it is told, and which of its photos are kept."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from domain.dataset_options import OPTIONS, PACKAGED, DatasetAdapter, ScreenedOptions, dataset_options
from domain.photos import GroupChoice, Slug


class DatasetChoice(BaseModel):
    """Where the photos come from: a dataset adapter and its arguments."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=Slug)
    adapter: DatasetAdapter
    path: str | None = None
    """Where its files are; a relative path is taken from the folder that `FACEDRIFT_DATA` names, if any."""
    options: dict[str, Any] = Field(default_factory=dict[str, Any])
    """What else the adapter is told, checked by its model in `domain.dataset_options`."""
    min_fss0: float = Field(default=0.0, ge=0, le=1)
    """Base photos whose FSS₀ (similarity to their own references) is lower are left out and counted; 0
    keeps all."""
    exclude_near_duplicates: bool = False
    """Whether reference photos that may be copies of a base photo are left out; mirror images are, too."""
    mirror_alone: bool = True
    """Whether the mirror image of a person's only photo is its reference; else the person is left out."""
    per_group: GroupChoice | None = None
    """Keep only so many base photos of each group; None for all."""

    @field_validator("options")
    @classmethod
    def _options_are_the_adapters(cls, given: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if "adapter" in info.data:
            dataset_options(info.data["adapter"], given)
        return given

    @model_validator(mode="after")
    def _files_are_somewhere(self) -> Self:
        if (self.adapter in PACKAGED) != (self.path is None):
            needs = "takes no `path`" if self.path else "needs a `path`"
            raise ValueError(f"the adapter `{self.adapter}` {needs}")
        return self

    @model_validator(mode="after")
    def _screened_photos_have_no_references(self) -> Self:
        """Where every photo is a base photo, choices about references would do nothing."""
        if issubclass(OPTIONS[self.adapter], ScreenedOptions):
            rules = ("min_fss0", "exclude_near_duplicates", "mirror_alone", "per_group")
            given = [name for name in rules if getattr(self, name) != type(self).model_fields[name].default]
            if given:
                raise ValueError(
                    f"the adapter `{self.adapter}` takes no {', '.join(given)}: its photos have no "
                    "references, and all that pass its `screening` are used"
                )
        return self
