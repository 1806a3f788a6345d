"""The pack as the engine starts it: a process that prints its port and answers by gRPC."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from llmd_common import bootstrap
from policies.groups import ALL
from policies.rules.routes.routes import ROUTE_TIMEOUTS
from tests.policies.support import request_of, resources

PACK = Path(__file__).parents[2] / "policies"


@pytest.fixture(scope="module")
def analyzer() -> Iterator[analyzer_pb2_grpc.AnalyzerStub]:
    bootstrap.write_path(PACK.parent / ".venv")  # as `make` leaves it, where only pytest was run
    command = [sys.executable, "-u", "-m", "pulumi.policy", "127.0.0.1:1", "."]
    with subprocess.Popen(command, cwd=PACK, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                grpc.channel_ready_future(channel).result(timeout=30)
                yield analyzer_pb2_grpc.AnalyzerStub(channel)
        finally:
            process.kill()


def test_the_pack_introduces_every_rule_with_level_schema_and_link(analyzer: analyzer_pb2_grpc.AnalyzerStub) -> None:
    info = analyzer.GetAnalyzerInfo(empty_pb2.Empty())
    policies = {policy.name: policy for policy in info.policies}
    assert set(policies) == {rule.name for rule in ALL}
    assert info.supportsConfig
    for rule in ALL:
        policy = policies[rule.name]
        level = "advisory" if rule.level == "production" else rule.level
        assert analyzer_pb2.EnforcementLevel.Name(policy.enforcementLevel).lower() == level
        assert set(policy.configSchema.properties) == {parameter.name for parameter in rule.parameters}
        assert policy.url == rule.sources[0]


def test_a_violation_comes_back_over_the_wire(analyzer: analyzer_pb2_grpc.AnalyzerStub) -> None:
    response = analyzer.Analyze(request_of(resources(ROUTE_TIMEOUTS.examples.refused[0])[0]))
    assert "route-timeouts" in {one.policyName for one in response.diagnostics}


def test_wrong_configuration_comes_back_as_words(analyzer: analyzer_pb2_grpc.AnalyzerStub) -> None:
    request = analyzer_pb2.ConfigureAnalyzerRequest()
    request.policyConfig["gateway-clas"].enforcementLevel = analyzer_pb2.ADVISORY
    with pytest.raises(grpc.RpcError) as refused:
        analyzer.Configure(request)
    assert "did you mean gateway-class?" in str(refused.value)
