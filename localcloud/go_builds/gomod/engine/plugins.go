package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"

	"github.com/pulumi/pulumi/sdk/v3"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// RunPlugin runs a policy pack (`python -m pulumi.policy`) or a plugin written in Python until it ends.
func (h *host) RunPlugin(req *pulumirpc.RunPluginRequest, server pulumirpc.LanguageRuntime_RunPluginServer) error {
	ctx, done := h.interruptible(server.Context())
	defer done()
	closer, stdout, stderr, err := rpcutil.MakeRunPluginStreams(server, false)
	if err != nil {
		return err
	}
	defer closer.Close()
	if req.GetKind() == "analyzer" {
		return h.runPack(ctx, req, stdout, stderr)
	}
	cmd, err := pythonCommand(ctx, req, true, append([]string{"-u", req.GetInfo().GetProgramDirectory()}, req.GetArgs()...))
	if err != nil {
		return err
	}
	cmd.Dir = req.GetPwd()
	cmd.Env = append(cmd.Env, req.GetEnv()...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err = cmd.Run()
	var status *exec.ExitError
	if errors.As(err, &status) {
		code := int32(status.ExitCode()) //nolint:gosec // an exit status fits
		return server.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Exitcode{Exitcode: code}})
	}
	return err
}

// runPack starts a policy pack as late as the engine has told the stack's name and configuration: a pack reads both
// from its environment when it starts, and the engine sends them only in ConfigureStack. Until then a proxy answers.
func (h *host) runPack(ctx context.Context, req *pulumirpc.RunPluginRequest, stdout, stderr io.Writer) error {
	args := append([]string{"-u", "-m", "pulumi.policy"}, req.GetArgs()...)
	cmd, err := pythonCommand(ctx, req, false, append(args, req.GetInfo().GetProgramDirectory()))
	if err != nil {
		return err
	}
	proxy, inner, err := sdk.NewPolicyProxy(ctx, stdout)
	if err != nil {
		return err
	}
	stack, err := proxy.AwaitConfiguration(ctx)
	if err != nil {
		return err
	}
	cmd.Dir = req.GetInfo().GetProgramDirectory()
	if stack != nil {
		config, err := asJSON(stack.GetConfig())
		if err != nil {
			return err
		}
		cmd.Env = append(cmd.Env,
			"PULUMI_ORGANIZATION="+stack.GetOrganization(), "PULUMI_PROJECT="+stack.GetProject(),
			"PULUMI_STACK="+stack.GetStack(), "PULUMI_DRY_RUN="+strconv.FormatBool(stack.GetDryRun()),
			"PULUMI_CONFIG="+config)
	}
	cmd.Env = append(cmd.Env, req.GetEnv()...)
	cmd.Stdout, cmd.Stderr = inner, stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	err = proxy.Attach(ctx, cmd)
	if ctx.Err() != nil { // ended on request
		return nil
	}
	return err
}

func pythonCommand(ctx context.Context, req *pulumirpc.RunPluginRequest, isPlugin bool, args []string) (*exec.Cmd, error) {
	tc, err := resolve(req.GetInfo(), isPlugin)
	if err != nil {
		return nil, err
	}
	cmd, err := tc.Command(ctx, args...)
	if err != nil {
		return nil, err
	}
	politely(cmd)
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	return cmd, nil
}
