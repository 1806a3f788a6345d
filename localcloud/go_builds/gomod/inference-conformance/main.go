// The conformance tests of the Gateway API Inference Extension as a program: upstream's `go test ./conformance`.
package main

import (
	"regexp"
	"testing"
	"time"

	"sigs.k8s.io/gateway-api-inference-extension/conformance"
)

func main() {
	matches := func(pattern, name string) (bool, error) { return regexp.MatchString(pattern, name) }
	testing.Main(matches, []testing.InternalTest{{Name: "TestConformance", F: run}}, nil, nil)
}

// run is conformance.RunConformance with the time that the Gateway API allows a data plane; the suite allows 200 s.
func run(t *testing.T) {
	options := conformance.DefaultOptions(t)
	options.TimeoutConfig.MaxTimeToConsistency = 30 * time.Second
	options.TimeoutConfig.DefaultTestTimeout = 60 * time.Second
	conformance.RunConformanceWithOptions(t, options)
}
