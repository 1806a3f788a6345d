// The conformance tests of the Gateway API Inference Extension as a program: upstream's `go test ./conformance`.
// With the one argument `tests` it prints every test, and the features that the test needs, as a line of JSON.
package main

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
	"time"

	"sigs.k8s.io/gateway-api-inference-extension/conformance"
	"sigs.k8s.io/gateway-api-inference-extension/conformance/tests"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "tests" {
		for _, test := range tests.ConformanceTests {
			line := map[string]any{"name": test.ShortName, "features": test.Features, "about": test.Description}
			if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
				panic(err)
			}
		}
		return
	}
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
