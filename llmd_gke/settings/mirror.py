"""The images of a stack where its mirror has them."""

from __future__ import annotations

from llmd_gke.catalog import registries, versions
from llmd_gke.settings.sections import ModelSettings, StackSettings


def mirrored(settings: StackSettings) -> StackSettings:
    """The settings with every image replaced by its copy in the stack's mirror; unchanged if there is no mirror."""
    if not settings.registry:
        return settings
    return settings.model_copy(update={"models": tuple(_model(one, settings.registry) for one in settings.models)})


def _model(model: ModelSettings, mirrors: registries.Mirrors) -> ModelSettings:
    # The tokenizer comes with KServe's preset: it has to be named to come from elsewhere.
    tokenizer = model.scheduler.tokenizer_image or versions.image("tokenizer")
    scheduler = model.scheduler.model_copy(
        update={
            "image": registries.at(model.scheduler.image, mirrors),
            "tokenizer_image": registries.at(tokenizer, mirrors),
        }
    )
    return model.model_copy(update={"image": registries.at(model.image, mirrors), "scheduler": scheduler})
