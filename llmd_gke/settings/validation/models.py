"""Rules about models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from llmd_gke.catalog import accelerators
from llmd_gke.catalog.accelerators import Accelerator
from llmd_gke.rules import (
    adapters,
    buckets,
    capacity_order,
    environment,
    kv_offload,
    models,
    multi_host,
    names,
    parallelism,
    paths,
    pickers,
    pods,
    scaling,
    schedule,
    scheduling,
    vllm_arguments,
    vllm_parser,
)
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from llmd_gke.settings.sections.models import ModelSettings
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.validation.finding_at import SettingFinding, locate, of_each


def model_rules(key: str, model: ModelSettings, settings: StackSettings) -> Iterator[SettingFinding]:
    """Checks one model, whose settings are at ``key``: its names, weights, image, arguments and pool."""
    index = next((index for index, pool in enumerate(settings.pools) if pool.name == model.pool), None)
    kind = accelerators.DEFAULT if index is None else settings.pools[index].accelerator
    of_kind = () if index is None else of_each([settings.pool_keys[index]], "name", "machineType")
    limit = names.MODEL_NAME_LIMIT
    yield from locate(f"{key}.name", model.name, names.label(model.name, "model name", limit))
    yield from locate(f"{key}.namespace", model.namespace, names.namespace(model.namespace))
    yield from locate(f"{key}.uri", model.uri, models.weights_uri(model.uri))
    yield from locate(f"{key}.uri", model.uri, models.known_to_run(model.uri, kind), *of_kind)
    yield from locate(f"{key}.image", model.image, models.image(model.image))
    yield from locate(f"{key}.image", model.image, models.image_hardware(model.image, kind), *of_kind)
    yield from locate(f"{key}.uri", model.uri, models.weights_format(model.uri, kind), *of_kind)
    offloads, adapts = model.kv_offload_gb is not None, bool(model.adapters)
    owned = vllm_arguments.owned_arguments(model.image, offloads=offloads, adapts=adapts)
    findings = vllm_arguments.server_arguments(model.extra_args, kind, owned=owned)
    yield from locate(f"{key}.extraArgs", list(model.extra_args), findings, *of_kind)
    findings = vllm_parser.settings(model.extra_args, model.image, kind, owned=owned)
    yield from locate(f"{key}.extraArgs", list(model.extra_args), findings, f"{key}.image", *of_kind)
    for number, one in enumerate(model.env):
        at = f"{key}.env[{number}]"
        findings = environment.variable(one.name, one.value, one.secret, one.key, kind)
        yield from locate(at, one.name, findings, at, *of_kind)
    yield from locate(f"{key}.env", [one.name for one in model.env], environment.twice([one.name for one in model.env]))
    yield from _adapters(key, model, kind, of_kind)
    yield from locate(f"{key}.capabilities", list(model.capabilities), pods.capabilities(model.capabilities))
    context = {"privileged": model.privileged, "capabilities": {"add": list(model.capabilities)}}
    loosened = Input({"containers": [{"securityContext": context}]})
    warned = [replace(finding, severity="warning") for finding in pods.privileges(loosened)]
    yield from locate(f"{key}.privileged", model.privileged, iter(warned))
    yield from _replicas(key, model, settings)
    if model.max_model_len is not None:
        findings = models.context(model.uri, model.max_model_len, model.extra_args)
        yield from locate(f"{key}.maxModelLen", model.max_model_len, findings)
    if model.compile_cache is not None:
        yield from locate(f"{key}.compileCache", model.compile_cache, buckets.bucket_uri(model.compile_cache))
    if model.weights_cache is not None:
        findings = buckets.weights_cache(model.uri, model.weights_cache)
        yield from locate(f"{key}.weightsCache", model.weights_cache, findings)
    if model.parallel_download:
        findings = buckets.parallel_download(model.weights_uri)
        needs = of_each([key], "uri", "weightsCache")
        yield from locate(f"{key}.parallelDownload", model.parallel_download, findings, *needs)
    elif model.read_buckets:
        findings = buckets.buffered_read(settings.cluster.min_version)
        yield from locate(f"{key}.parallelDownload", model.parallel_download, findings)
    for number, path in enumerate(model.paths):
        yield from locate(f"{key}.paths[{number}]", path, paths.path(path))
    findings = paths.paths(model.paths, at_root=model.at_root)
    yield from locate(f"{key}.paths", list(model.paths), findings, f"{key}.atRoot")
    yield from _scheduler(f"{key}.scheduler", model, f"{key}.prefixCaching")
    if index is None:
        pool_names = [pool.name for pool in settings.pools]
        finding = Finding(
            "model-pool",
            f"there is no pool {model.pool}",
            allowed=", ".join(pool_names),
            fix=f"pool: {pool_names[0]}",
        )
        yield SettingFinding(f"{key}.pool", model.pool, finding, of_each(settings.pool_keys, "name"))
        return
    pool, needs = settings.pools[index], (key, settings.pool_keys[index])
    slice_ = accelerators.find_slice(pool.machine_type, pool.topology_or_gpus)
    if slice_ is None:
        return
    yield from locate(f"{key}.dtype", model.dtype, models.precision(model.dtype, pool.family), *needs)
    findings = list(models.eight_bits(model.uri, model.extra_args, pool.family))
    for finding in findings:
        at, value = ("uri", model.uri) if finding.severity == "warning" else ("extraArgs", list(model.extra_args))
        yield SettingFinding(f"{key}.{at}", value, finding, needs)
    findings = kv_offload.blocks(model.kv_offload_blocks, model.kv_offload_gb, kind)
    yield from locate(f"{key}.kvOffloadBlocks", model.kv_offload_blocks, findings, *needs)
    if model.kv_offload_gb is not None:
        findings = kv_offload.memory(model.kv_offload_gb, slice_)
        yield from locate(f"{key}.kvOffloadGb", model.kv_offload_gb, findings, *needs)
    zones = [one.zone_in(settings.cluster.zone) for one in pool.node_pools]
    yield from locate(f"{key}.uri", model.uri, capacity_order.zonal_claim(model.uri, zones))
    if model.autoscaled:
        findings = scaling.single_host(pool.name, slice_)
        slice_keys = of_each([settings.pool_keys[index]], "machineType", "topology")
        yield from locate(f"{key}.maxReplicas", model.max_replicas, findings, *slice_keys)
    findings = multi_host.opt_in(pool.name, slice_, opted=model.experimental_multi_host)
    yield from locate(f"{key}.pool", model.pool, findings, *needs)
    if slice_.multi_host and not model.experimental_multi_host:
        return
    if model.adapters:
        yield from locate(f"{key}.adapters", [one.name for one in model.adapters], adapters.single_host(slice_), *needs)
    at = {
        "tensor-parallel": ("tensorParallel", model.tensor_parallel),
        "pipeline-parallel": ("pipelineParallel", model.pipeline_parallel),
        "data-parallel": ("extraArgs", list(model.extra_args)),
    }
    findings = list(parallelism.split(model.tensor_parallel, model.pipeline_parallel, model.extra_args, slice_))
    for finding in findings:
        name, value = at[finding.rule]
        yield SettingFinding(f"{key}.{name}", value, finding, needs)
    if all(finding.severity == "warning" for finding in findings):
        tensor = model.tensor_parallel or parallelism.default_tensor(model.pipeline_parallel, model.extra_args, slice_)
        heads = models.tensor_heads(model.uri, tensor)
        yield from locate(f"{key}.uri", model.uri, heads, *needs, f"{key}.tensorParallel", f"{key}.extraArgs")
    findings = multi_host.compile_cache(model.compile_cache, slice_)
    yield from locate(f"{key}.compileCache", model.compile_cache, findings, *needs)
    if model.uri.startswith("hf://") and (model.weights_cache is None or model.parallel_download):
        yield from locate(f"{key}.uri", model.uri, models.disk(model.uri, pool.disk_gb), *needs)
    yield from locate(
        f"{key}.uri", model.uri, models.weights(model.uri, pool.machine_type, pool.topology_or_gpus), *needs
    )


def _adapters(key: str, model: ModelSettings, kind: Accelerator, of_kind: tuple[str, ...]) -> Iterator[SettingFinding]:
    rank = adapters.rank_alone(model.adapter_rank, len(model.adapters))
    yield from locate(f"{key}.adapterRank", model.adapter_rank, rank, f"{key}.adapters")
    for number, one in enumerate(model.adapters):
        at, others = f"{key}.adapters[{number}]", [other.name for other in model.adapters[:number]]
        findings = adapters.name(one.name, (*model.answers_to, *others))
        yield from locate(f"{at}.name", one.name, findings, *of_each([key], "name", "servedModelName", "adapters"))
        findings = adapters.uri(one.uri, model.weights_uri)
        yield from locate(f"{at}.uri", one.uri, findings, *of_each([key], "uri", "weightsCache"))
    if model.adapters:
        findings = adapters.implementation([(one.name, one.value) for one in model.env], kind)
        yield from locate(f"{key}.env", [one.name for one in model.env], findings, *of_kind)


def _replicas(key: str, model: ModelSettings, settings: StackSettings) -> Iterator[SettingFinding]:
    fixed = model.replicas if "replicas" in model.model_fields_set else None
    bounds = scaling.bounds(model.min_replicas, model.max_replicas, fixed=fixed)
    given = "minReplicas" if model.max_replicas is None else "maxReplicas"
    needs = of_each([key], "replicas", "minReplicas", "maxReplicas")
    yield from locate(f"{key}.{given}", model.max_replicas or model.min_replicas, bounds, *needs)
    yield from _schedule(key, model, settings)
    if not model.autoscaled:
        if model.scaling is not None and model.min_replicas is None:
            yield from locate(f"{key}.scaling", None, scaling.without_bounds(), *needs)
        return
    chosen, version = model.pace.source, settings.cluster.min_version
    findings = scaling.source(chosen, version, scrape=settings.monitoring.scrape)
    yield from locate(f"{key}.scaling.source", chosen, findings)
    if (idle := model.idle_after_seconds) is not None:
        findings = scaling.idle_source(scaling.effective_source(chosen, version))
        yield from locate(f"{key}.scaling.idleAfterSeconds", idle, findings)
    threshold = model.pace.running_per_replica
    if threshold is not None and model.max_num_seqs is not None:
        findings = scaling.running(threshold, model.max_num_seqs)
        yield from locate(f"{key}.scaling.runningPerReplica", threshold, findings, f"{key}.maxNumSeqs")


def _schedule(key: str, model: ModelSettings, settings: StackSettings) -> Iterator[SettingFinding]:
    if (given := model.schedule) is None:
        return
    source = scaling.effective_source(model.pace.source, settings.cluster.min_version)
    needs = of_each([key], "minReplicas", "maxReplicas", "scaling")
    yield from locate(f"{key}.schedule", None, schedule.needs_keda(source, autoscaled=model.autoscaled), *needs)
    yield from locate(f"{key}.schedule.timeZone", given.time_zone, schedule.time_zone(given.time_zone))
    for index, text in enumerate(given.hours):
        yield from locate(f"{key}.schedule.hours[{index}]", text, schedule.hours(text))
    yield from locate(f"{key}.schedule.hours", list(given.hours), schedule.overlap(given.hours))


def _scheduler(key: str, model: ModelSettings, caching_key: str) -> Iterator[SettingFinding]:
    if (tokenizer := model.scheduler.tokenizer_image) is not None:
        yield from locate(f"{key}.tokenizerImage", tokenizer, models.image(tokenizer))
    image = model.scheduler.image
    yield from locate(f"{key}.image", image, models.image(image))
    pod = Input({"containers": [{"image": image}]})
    yield from locate(f"{key}.image", image, pickers.endpoint_picker(pod, pickers.FLOORS))
    yield from locate(f"{key}.image", image, pickers.picker_ceiling(pod, pickers.preset_picker()))
    entries = [(plugin.type, plugin.weight) for plugin in model.scheduler.plugins]
    if (saturation := model.scheduler.saturation) is not None:
        kinds = [kind for kind, _ in entries]
        counted = saturation.max_concurrency is not None
        yield from locate(f"{key}.plugins", kinds, scheduling.saturation(kinds, counted=counted), key)
        findings = scheduling.one_detector([*saturation.thresholds], counted=counted)
        yield from locate(f"{key}.saturation.maxConcurrency", saturation.max_concurrency, findings, key)
    if entries:
        findings = scheduling.plugins(entries, prefix_caching=model.prefix_caching)
        yield from locate(f"{key}.plugins", [kind for kind, _ in entries], findings, key, caching_key)


def unique(settings: StackSettings) -> Iterator[SettingFinding]:
    """Checks that pools and models have distinct names, and that at most one model is served at ``/``."""
    seen, pool_names = ["system"], of_each(settings.pool_keys, "name")
    for key, pool in zip(settings.pool_keys, settings.pools, strict=True):
        if pool.name in seen:
            finding = Finding(
                "unique-name", f"another pool has the name {pool.name}", fix="give each pool a unique name"
            )
            yield SettingFinding(f"{key}.name", pool.name, finding, pool_names)
        seen.append(pool.name)
        for index, made in enumerate(pool.node_pools if pool.entries else ()):
            findings = capacity_order.node_pool_name(made.name, seen)
            yield from locate(f"{key}.capacity[{index}].name", made.name, findings, *pool_names, f"{key}.capacity")
            seen.append(made.name)
    models_seen: set[str] = set()
    model_names = of_each(settings.model_keys, "name")
    rooted: str | None = None
    for key, model in zip(settings.model_keys, settings.models, strict=True):
        if model.name in models_seen:
            fix = "give each model and version a unique name"
            finding = Finding("unique-name", f"another model or version has the name {model.name}", fix=fix)
            yield SettingFinding(f"{key}.name", model.name, finding, ("llmd-gke:models",))
        models_seen.add(model.name)
        if model.at_root and rooted is not None:
            finding = Finding(
                "root-model", f"{rooted} is already served at the root", fix="keep atRoot: true on one model only"
            )
            yield SettingFinding(f"{key}.atRoot", True, finding, model_names)
        rooted = model.name if model.at_root else rooted
