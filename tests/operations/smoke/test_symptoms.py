"""The table of symptoms: what gateways and clients say finds its cause, and the page for people has every row."""

from __future__ import annotations

import pytest

from operations.symptoms import explain, explain_log


@pytest.mark.parametrize(
    ("symptom", "key"),
    [
        ("expected status 200, got 503: no healthy upstream", "no-healthy-upstream"),
        ("expected status 200, got 504: upstream request timeout", "cut-at-30-seconds"),
        (
            "the stream was cut off after 30.0 s and 81 parts, as GKE's default backend timeout does (504)",
            "cut-at-30-seconds",
        ),
        ("expected status 200, got 404: fault filter abort", "route-unknown"),
        (
            "got 503: upstream connect error or disconnect/reset before headers. reset reason: remote connection "
            "failure, transport failure reason: TLS_error:|268435703:SSL routines:OPENSSL_internal:"
            "WRONG_VERSION_NUMBER",
            "tls-to-plain",
        ),
        ("got 503: upstream connect error or disconnect/reset before headers", "upstream-gone"),
        ("got 426: Upgrade Required", "old-http"),
        ("got 404: The model `x` does not exist.", "model-name"),
        ("no answer: [Errno -2] Name or service not known", "name-resolution"),
        ("no answer: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", "certificate"),
        ("no answer: All connection attempts failed", "refused"),
        ("no answer: ConnectTimeout", "refused"),
    ],
)
def test_what_is_said_finds_its_cause(symptom: str, key: str) -> None:
    explanation = explain(symptom)
    assert explanation is not None
    assert explanation.key == key


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("TPU initialization failed: open(/dev/vfio/0): Operation not permitted", "tpu-privileges"),
        ("open(/dev/accel0): Permission denied", "tpu-privileges"),
        ("RLIMIT_MEMLOCK is too low", "tpu-privileges"),
        ("failed to map 2147483648 bytes of /dev/vfio/0", "tpu-privileges"),
        ("UNKNOWN: TPU initialization failed: open(/dev/vfio/0): Device or resource busy", "tpu-busy"),
        ("open(/dev/vfio/0): Device or resource busy; Couldn't open iommu group /dev/vfio/0", "tpu-busy"),
        ("OSError: [Errno 16] Device or resource busy: '/dev/accel0'", "tpu-busy"),
        ("ABORTED: The TPU is already in use by process with pid 7. Not attempting to load libtpu.so", "tpu-busy"),
        ("libtpu.so already in use by another process. Run lsof -w /dev/accel0", "tpu-busy"),
        ("Internal error when accessing libtpu multi-process lockfile. Run rm /tmp/libtpu_lockfile", "tpu-busy"),
        ("RuntimeError: TPU initialization failed: INTERNAL", None),
        ("TPU initialization failed: No ba16c7433 device found.", None),
        ("OSError: [Errno 16] Device or resource busy: '/mnt/models'", None),
    ],
)
def test_a_server_that_cannot_use_its_chips_says_why_in_its_log(line: str, key: str | None) -> None:
    explanation = explain_log(f"INFO starting\n{line}\n")
    assert (explanation and explanation.key) == key


def test_a_timeout_in_a_servers_log_is_not_taken_for_one_of_the_gateway() -> None:
    assert explain_log("download timed out, 502 from huggingface.co") is None


def test_words_that_are_no_symptom_find_none() -> None:
    assert explain("asked for model qwen, answered by 'other' in 1504 ms") is None
