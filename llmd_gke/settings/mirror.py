"""Replaces the images of a stack with their copies in its mirror or image cache."""

from __future__ import annotations

from llmd_gke.catalog import registries, versions
from llmd_gke.settings.sections.models import ModelSettings
from llmd_gke.settings.sections.stack import StackSettings


def mirrored(settings: StackSettings) -> StackSettings:
    """The settings with every image replaced by its copy in the stack's mirror or image cache, if it has one."""
    table = settings.mirrors.images
    if not table:
        return settings
    models = tuple(_model(one, table, anonymous=settings.image_cache is not None) for one in settings.models)
    return settings.model_copy(update={"models": models})


def _model(model: ModelSettings, table: registries.Table, *, anonymous: bool) -> ModelSettings:
    # KServe's preset determines the tokenizer's image: it must be set here to come from the mirror.
    tokenizer = model.scheduler.tokenizer_image or versions.image("tokenizer")
    scheduler = model.scheduler.model_copy(
        update={
            "image": registries.at(model.scheduler.image, table),
            "tokenizer_image": registries.at(tokenizer, table),
        }
    )
    # The repositories of an image cache have no credentials: nodes pull a private image with those of the pod.
    image = model.image if anonymous and model.private_image else registries.at(model.image, table)
    return model.model_copy(update={"image": image, "scheduler": scheduler})
