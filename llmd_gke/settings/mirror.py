"""Replaces the images of a stack with their copies in its mirror."""

from __future__ import annotations

from llmd_gke.catalog import registries, versions
from llmd_gke.settings.sections import ModelSettings, StackSettings


def mirrored(settings: StackSettings) -> StackSettings:
    """The settings with every image replaced by its copy in the stack's mirror; unchanged if there is no mirror."""
    if not settings.registry:
        return settings
    return settings.model_copy(update={"models": tuple(_model(one, settings.registry) for one in settings.models)})


def _model(model: ModelSettings, mirrors: registries.Mirrors) -> ModelSettings:
    # KServe's preset determines the tokenizer's image: it must be set here to come from the mirror.
    tokenizer = model.scheduler.tokenizer_image or versions.image("tokenizer")
    scheduler = model.scheduler.model_copy(
        update={
            "image": registries.at(model.scheduler.image, mirrors),
            "tokenizer_image": registries.at(tokenizer, mirrors),
        }
    )
    return model.model_copy(update={"image": registries.at(model.image, mirrors), "scheduler": scheduler})
