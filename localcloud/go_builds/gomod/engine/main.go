// Command pulumi-language-python is the language host that a Pulumi CLI built from its published Go module lacks.
//
// The official host is bundled with official CLIs but not published as a module. This one is made of the parts that
// github.com/pulumi/pulumi/sdk/v3 exports (python/toolchain, PolicyProxy, rpcutil) and the official executor script,
// which is a file of the same module. It runs programs, policy packs and Python plugins; code generation, packing and
// debugging answer Unimplemented. The engine uses it when it lies next to the `pulumi` executable.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
)

// healthEvery is how often the engine is asked whether it still lives.
const healthEvery = 10 * time.Second

func main() {
	if err := serve(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve prints the port it listens on as the first line, as the engine expects of every plugin, and then answers until
// it is told to end or the engine is gone.
func serve(args []string, stdin *os.File, stdout io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return err
	}
	stop, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()

	engine := engineAddress(args)
	if engine != "" {
		if err := rpcutil.Healthcheck(stop, engine, healthEvery, cancel); err != nil {
			return fmt.Errorf("could not watch the engine at %s: %w", engine, err)
		}
	}
	cancelWhenClosed(stdin, cancel)

	ended := make(chan bool)
	context.AfterFunc(stop, func() { close(ended) })
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Cancel: ended,
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(server, &host{
				folder: filepath.Dir(self), engine: engine, stop: stop, cancel: cancel,
			})
			return nil
		},
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, handle.Port); err != nil {
		return err
	}
	return <-handle.Done
}

// engineAddress is the last word that is not an option; the engine passes its own address there.
func engineAddress(args []string) string {
	for i := len(args) - 1; i >= 0; i-- {
		if !strings.HasPrefix(args[i], "-") {
			return args[i]
		}
	}
	return ""
}

// cancelWhenClosed ends the host when the other end of a piped standard input closes. The engine holds that end open
// for as long as it lives, so a killed engine leaves no host and no program behind. Anything that is not a pipe (a
// terminal, /dev/null) says nothing about the engine.
func cancelWhenClosed(stdin *os.File, cancel context.CancelFunc) {
	info, err := stdin.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		cancel()
	}()
}
