package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

const (
	// The official executor leaves with this status after it has reported the problem itself.
	userSawTheError = 32
	// How long a program may take to end after it was asked to.
	grace = 5 * time.Second
	// Set to 1 to run the official executor without the launcher, which leaves quickly and drops debug messages.
	debugVariable = "LLMD_GKE_SDK_DEBUG"
)

// executor is the command line that runs a program: the official script, through the launcher that saves the second
// which the interpreter needs to tear down the large SDKs.
func (h *host) executor() []string {
	official := filepath.Join(h.folder, "pulumi-language-python-exec")
	if os.Getenv(debugVariable) == "1" {
		return []string{official}
	}
	return []string{filepath.Join(h.folder, "fast_exit.py"), official}
}

// command is the arguments of the executor, in the form it parses.
func command(req *pulumirpc.RunRequest, engine string) []string {
	var args []string
	for _, pair := range [][2]string{
		{"monitor", req.GetMonitorAddress()},
		{"engine", engine},
		{"project", req.GetProject()},
		{"root_directory", req.GetInfo().GetRootDirectory()},
		{"stack", req.GetStack()},
		{"pwd", req.GetPwd()},
		{"dry_run", strconv.FormatBool(req.GetDryRun())},
		{"parallel", strconv.Itoa(int(req.GetParallel()))},
		{"organization", req.GetOrganization()},
	} {
		if pair[1] != "" {
			args = append(args, "--"+pair[0], pair[1])
		}
	}
	return append(append(args, req.GetInfo().GetEntryPoint()), req.GetArgs()...)
}

// asJSON writes a configuration. An empty one arrives as nil and must not become "null", which the SDK refuses.
func asJSON(config map[string]string) (string, error) {
	if config == nil {
		return "{}", nil
	}
	text, err := json.Marshal(config)
	return string(text), err
}

// interruptible is done when the call ends or when the host is told to end.
func (h *host) interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	both, cancel := context.WithCancel(h.stop)
	detach := context.AfterFunc(ctx, cancel)
	return both, func() { detach(); cancel() }
}

// politely asks a child to end with SIGTERM (SIGINT would make Python print a traceback) and kills it after a grace.
func politely(cmd *exec.Cmd) {
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
}

// Run runs the program once, for a preview or an update.
func (h *host) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	tc, err := resolve(req.GetInfo(), false)
	if err != nil {
		return nil, err
	}
	if err := tc.ValidateVenv(ctx); err != nil {
		return nil, err
	}
	config, err := asJSON(req.GetConfig())
	if err != nil {
		return nil, err
	}
	secretKeys, err := json.Marshal(append([]string{}, req.GetConfigSecretKeys()...))
	if err != nil {
		return nil, err
	}
	both, done := h.interruptible(ctx)
	defer done()
	cmd, err := tc.Command(both, append(h.executor(), command(req, h.engine)...)...)
	if err != nil {
		return nil, err
	}
	politely(cmd)
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, "PULUMI_CONFIG="+config, "PULUMI_CONFIG_SECRET_KEYS="+string(secretKeys))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return outcome(cmd.Run(), both.Err() != nil)
}

// outcome turns the way a program ended into the engine's words. A program that was told to end has not failed by
// itself: the engine already knows why.
func outcome(err error, told bool) (*pulumirpc.RunResponse, error) {
	var status *exec.ExitError
	switch {
	case err == nil:
		return &pulumirpc.RunResponse{}, nil
	case errors.As(err, &status) && status.ExitCode() == userSawTheError, told:
		return &pulumirpc.RunResponse{Bail: true}, nil
	case errors.As(err, &status) && status.ExitCode() < 0:
		return &pulumirpc.RunResponse{Error: "the program was ended by a signal: " + status.String()}, nil
	case errors.As(err, &status):
		return &pulumirpc.RunResponse{
			Error: fmt.Sprintf("program exited with non-zero exit code: %d", status.ExitCode()),
		}, nil
	default:
		return nil, fmt.Errorf("could not run the program: %w", err)
	}
}
