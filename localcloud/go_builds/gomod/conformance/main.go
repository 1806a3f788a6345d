// The Gateway API's conformance tests as a program: what upstream runs by `go test ./conformance`, without Go.
// With the one argument `tests` it prints every test, and the features that the test needs, as a line of JSON.
package main

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"sigs.k8s.io/gateway-api/conformance"
	"sigs.k8s.io/gateway-api/conformance/tests"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "tests" {
		for _, test := range tests.ConformanceTests {
			line := map[string]any{"name": test.ShortName, "features": test.Features}
			if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
				panic(err)
			}
		}
		return
	}
	matches := func(pattern, name string) (bool, error) { return regexp.MatchString(pattern, name) }
	testing.Main(matches, []testing.InternalTest{{Name: "TestConformance", F: conformance.RunConformance}}, nil, nil)
}
