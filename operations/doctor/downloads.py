"""What the engine and the nodes download: charts, images, weights."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

import httpx

from llmd_gke.catalog import registries, scaling, versions
from operations.doctor.context import Context
from operations.doctor.result import Result, failed, ok, skipped, warning

REQUEST_SECONDS = 15
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
ACCEPT = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)


def charts(context: Context) -> Iterator[Result]:
    """The charts' registries have the pinned versions; the engine fetches them from where it runs.

    KEDA's chart is an archive of a Helm repository, which mirrors of registries do not have; only stacks that KEDA
    scales need it.
    """
    if folder := context.settings.platform.chart_folder:
        yield skipped("charts", f"are read from the folder {folder}")
        return
    lacking: list[str] = []
    pinned = versions.charts()
    for chart in pinned:
        home = registries.at(chart.home.removeprefix("oci://"), context.settings.mirrors.charts)
        host, _, path = home.partition("/")
        answer = manifest(context.registry(host), path, chart.version)
        if answer.problem:
            lacking.append(f"oci://{home}:{chart.version} ({answer.problem})")
        elif moved(chart.digest, answer):
            yield _moved("charts", f"{chart.name} {chart.version}", chart.digest, answer)
    archives = [versions.archive(scaling.KEDA_CHART)] if context.settings.scales_by("keda") else []
    for chart in archives:
        if problem := _archive(context, chart.home):
            lacking.append(f"{chart.home} ({problem})")
    if lacking:
        yield failed(
            "charts",
            f"cannot be fetched from here: {'; '.join(lacking)}",
            "allow access to these registries, or set llmd-gke:platform.chartFolder to a folder that contains the "
            "charts",
        )
    else:
        yield ok("charts", f"all {len(pinned) + len(archives)} can be fetched by the engine")


def _archive(context: Context, address: str) -> str:
    """Why an archive cannot be fetched; empty if it can. Raises nothing."""
    url = httpx.URL(address)
    try:
        with httpx.Client(timeout=REQUEST_SECONDS, follow_redirects=True) as client:
            status = client.head(f"{context.registry(url.host)}{url.path}").status_code
    except httpx.HTTPError as error:
        return type(error).__name__
    return "" if status == 200 else f"HTTP {status}"


def images(context: Context) -> Iterator[Result]:
    """The images' registries have the pinned tags. The nodes pull them: images that this machine may not read may be
    accessible to nodes. Images of an image cache are looked up where the cache fetches them: before the first ``pulumi
    up`` its repositories do not exist.
    """
    wanted: set[str] = set()
    private: set[str] = set()
    for model in context.settings.models:
        (private if model.private_image else wanted).add(model.image)
        wanted.add(model.scheduler.image)
        if model.scheduler.tokenizer_image:
            wanted.add(model.scheduler.tokenizer_image)
    lacking: list[str] = []
    for image in sorted({registries.original(one, context.settings.cached_registries) for one in wanted}):
        host, path, reference = parts(image)
        answer = manifest(context.registry(host), path, reference)
        if answer.problem:
            lacking.append(f"{image} ({answer.problem})")
            continue
        name, _, digest = image.partition("@")
        if digest:  # the image is pulled by its digest; the tag only informs readers
            tag = parts(name)[2]
            now = manifest(context.registry(host), path, tag)
            if moved(digest, now):
                yield _moved("images", name, digest, now)
    if lacking:
        yield warning(
            "images",
            f"not found from here: {'; '.join(lacking)}",
            "check the names, and that the nodes can reach the registries",
        )
    else:
        yield ok("images", f"{len(wanted)} exist")
    for image in sorted(private):
        yield skipped("images", f"{image} is pulled with llmd-gke:pullSecret, which this check does not use")


def parts(image: str) -> tuple[str, str, str]:
    """Host, repository and tag (or digest) of an image."""
    name, at, digest = image.partition("@")
    host, _, path = name.partition("/")
    if at:
        return host, path.partition(":")[0], digest
    path, _, tag = path.partition(":")
    return host, path, tag or "latest"


@dataclass(frozen=True)
class Manifest:
    """A registry's answer about a reference: the reason why it has no manifest (empty if it has), and the digest."""

    problem: str
    digest: str | None = None


def moved(recorded: str | None, manifest: Manifest) -> bool:
    """Whether a tag no longer has the recorded digest; ``False`` if one of the digests is not known."""
    return recorded is not None and manifest.digest is not None and recorded != manifest.digest


def _moved(check: str, what: str, recorded: str | None, manifest: Manifest) -> Result:
    return failed(
        check,
        f"{what} is {manifest.digest} now, and {recorded} in versions.toml: the tag now refers to another image",
        "find out why upstream changed the release before you use it; `make digests` records the new digest",
    )


def manifest(base: str, path: str, reference: str) -> Manifest:
    """Reads a manifest from a registry without credentials: whether that works, and the manifest's digest.

    Anonymous access with the token step of the distribution protocol
    (https://distribution.github.io/distribution/spec/auth/token/).
    """
    url = f"{base}/v2/{path}/manifests/{reference}"
    try:
        with httpx.Client(timeout=REQUEST_SECONDS, follow_redirects=True) as client:
            answer = client.head(url, headers={"Accept": ACCEPT})
            if answer.status_code == 401:
                challenge = _challenge(answer.headers.get("www-authenticate", ""))
                if "realm" in challenge:
                    asked = {key: challenge[key] for key in ("service", "scope") if key in challenge}
                    given = client.get(challenge["realm"], params=asked).json()
                    token = given.get("token") or given.get("access_token")
                    answer = client.head(url, headers={"Accept": ACCEPT, "Authorization": f"Bearer {token}"})
    except (httpx.HTTPError, ValueError) as error:
        return Manifest(f"{type(error).__name__}")
    if answer.status_code != 200:
        return Manifest(f"HTTP {answer.status_code}")
    digest = answer.headers.get("docker-content-digest", "")
    return Manifest("", digest if DIGEST.fullmatch(digest) else None)


def _challenge(header: str) -> dict[str, str]:
    _, _, fields = header.partition(" ")
    pairs = (field.partition("=") for field in fields.split(","))
    # A scope such as "repository:a/b:pull,push" contains a comma: a part without "=" continues the part before it.
    return {key.strip(): value.strip().strip('"') for key, equals, value in pairs if equals}


def weights(context: Context) -> Iterator[Result]:
    """Models from Hugging Face exist, and the stack's token may read those that require an accepted licence."""
    base = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    models = {
        model.uri.removeprefix("hf://").partition(":")[0]: model
        for model in context.settings.models
        if model.uri.startswith("hf://")
    }
    if not models:
        yield skipped("weights", "no model is downloaded from Hugging Face")
        return
    # Only weights that require a licence need the token: it is sent nowhere else, and only over HTTPS.
    token = context.token() if any(model.needs_token for model in models.values()) else None
    if token and not _private(base):
        yield failed(
            "weights",
            f"HF_ENDPOINT is {base}: the token of stack {context.stack} is not sent over an unencrypted connection",
            "set HF_ENDPOINT to a URL that begins with https://, or unset it",
        )
        return
    for name, model in models.items():
        headers = {"Authorization": f"Bearer {token}"} if token and model.needs_token else {}
        if model.needs_token and not token:
            yield failed(
                "weights",
                f"{name} requires an accepted licence, but stack {context.stack} has no token",
                f"pulumi config set --secret llmd-gke:hfToken --stack {context.stack}",
            )
            continue
        try:
            with httpx.Client(timeout=REQUEST_SECONDS, follow_redirects=True) as client:
                # Requests a file, because the page about the model is public.
                status = client.head(f"{base}/{name}/resolve/main/config.json", headers=headers).status_code
        except httpx.HTTPError as error:
            yield warning("weights", f"{base} did not answer ({type(error).__name__})", "check the network")
            return
        yield _weights(context, name, status, with_token=bool(headers))


def _private(base: str) -> bool:
    """Whether a token may be sent to that address: it uses HTTPS, or is on this machine."""
    url = httpx.URL(base)
    return url.scheme == "https" or (url.scheme == "http" and url.host in ("127.0.0.1", "::1", "localhost"))


def _weights(context: Context, name: str, status: int, *, with_token: bool) -> Result:
    if status == 200:
        return ok("weights", f"{name} can be read{' with the token' if with_token else ''}")
    if status == 403:
        return failed(
            "weights",
            f"the token's owner has no access to {name}",
            f"accept its licence at https://huggingface.co/{name}",
        )
    if status == 401:
        fix = f"pulumi config set --secret llmd-gke:hfToken --stack {context.stack}"
        if with_token:
            return failed("weights", f"Hugging Face rejects the token of stack {context.stack}", fix)
        return failed("weights", f"{name} does not exist, or requires a token", f"check llmd-gke:models' uri, or {fix}")
    if status == 404:
        return failed("weights", f"{name} does not exist, or has no config.json", "check llmd-gke:models' uri")
    return warning("weights", f"Hugging Face answered {status} for {name}", "try again later")
