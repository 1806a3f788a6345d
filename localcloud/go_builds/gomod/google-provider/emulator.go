package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"
)

// address is the variable that names the emulator, such as http://127.0.0.1:8040.
const address = "LLMD_GKE_GOOGLE_API"

// pollInterval is the time between two looks at an operation that is not done.
const pollInterval = 200 * time.Millisecond

// sendAfter is how long requests for the same project are collected before they are sent as one (the provider's setting
// batching.send_after, 3 s if not given). An API takes three such waits, a role one.
const sendAfter = "10ms"

// emulator is where the APIs are. It fails where that is not this machine, and from then on the process connects to
// nothing else: a token that were a real one could not leave it.
func emulator() (string, error) {
	root := strings.TrimSuffix(os.Getenv(address), "/")
	parsed, err := url.Parse(root)
	if err != nil || parsed.Scheme != "http" || !loopback(parsed.Host) {
		return "", fmt.Errorf("%s=%q: this plugin talks to an emulator of Google's APIs on this machine only. "+
			"Allowed: http://127.0.0.1:PORT. Fix: use the official plugin for Google Cloud", address, root)
	}
	plain := http.DefaultTransport.(*http.Transport).Clone()
	plain.Proxy = nil
	plain.DialContext = func(ctx context.Context, network, where string) (net.Conn, error) {
		if !loopback(where) {
			return nil, fmt.Errorf("%s is not on this machine: this plugin connects to the emulator only", where)
		}
		return (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, network, where)
	}
	http.DefaultTransport = plain
	// Upstream's own transports take their proxy from the environment: one that nobody listens at.
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"} {
		if err := os.Setenv(name, "http://127.0.0.1:1"); err != nil {
			return "", err
		}
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		if err := os.Unsetenv(name); err != nil {
			return "", err
		}
	}
	return root, nil
}

// at is Google's URL of an API on the emulator: https://dns.googleapis.com/dns/v1/ is ROOT/dns.googleapis.com/dns/v1/.
func at(root, base string) string {
	return root + "/" + strings.TrimPrefix(base, "https://")
}

func loopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return false
	}
	found, err := netip.ParseAddr(host)
	return err == nil && found.IsLoopback()
}
