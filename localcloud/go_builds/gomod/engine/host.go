package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"github.com/pulumi/pulumi/sdk/v3/go/common/version"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/python/toolchain"
	"google.golang.org/protobuf/types/known/emptypb"
)

// host answers the engine's questions about Python projects and runs what it is told to run.
type host struct {
	pulumirpc.UnimplementedLanguageRuntimeServer

	folder string // where this executable and the two scripts beside it lie
	engine string // address of the engine, empty until it is known
	stop   context.Context
	cancel context.CancelFunc
}

// resolve chooses how Python is started, from `runtime.options` of a Pulumi.yaml or PulumiPolicy.yaml.
func resolve(info *pulumirpc.ProgramInfo, isPlugin bool) (toolchain.Toolchain, error) {
	options := toolchain.PythonOptions{Root: info.GetRootDirectory(), ProgramDir: info.GetProgramDirectory()}
	given := info.GetOptions().AsMap()
	options.Virtualenv, _ = given["virtualenv"].(string)
	switch given["toolchain"] {
	case "pip":
		options.Toolchain = toolchain.Pip
	case "poetry":
		options.Toolchain = toolchain.Poetry
	case "uv":
		options.Toolchain = toolchain.Uv
	case nil:
		if options.Virtualenv != "" { // a named environment is used as it is, never synchronised
			options.Toolchain = toolchain.Pip
		}
	default:
		return nil, fmt.Errorf("unsupported toolchain option %q: use pip, poetry or uv", given["toolchain"])
	}
	if isPlugin && options.Virtualenv == "" {
		options.Virtualenv = "venv"
	}
	return toolchain.ResolveToolchain(options)
}

func (h *host) Handshake(
	_ context.Context, req *pulumirpc.LanguageHandshakeRequest,
) (*pulumirpc.LanguageHandshakeResponse, error) {
	h.engine = req.GetEngineAddress()
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

func (h *host) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: version.Version}, nil
}

// Cancel ends the host and whatever it runs.
func (h *host) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	h.cancel()
	return &emptypb.Empty{}, nil
}

func (h *host) RuntimeOptionsPrompts(
	context.Context, *pulumirpc.RuntimeOptionsRequest,
) (*pulumirpc.RuntimeOptionsResponse, error) {
	return &pulumirpc.RuntimeOptionsResponse{}, nil
}

func (h *host) About(ctx context.Context, req *pulumirpc.AboutRequest) (*pulumirpc.AboutResponse, error) {
	tc, err := resolve(req.GetInfo(), false)
	if err != nil {
		return nil, err
	}
	info, err := tc.About(ctx)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.AboutResponse{Executable: info.PythonExecutable, Version: info.PythonVersion.String()}, nil
}

// GetRequiredPackages names the provider plugins of the project: every package in its virtual environment that ships a
// pulumi-plugin.json for a resource provider.
func (h *host) GetRequiredPackages(
	ctx context.Context, req *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	tc, err := resolve(req.GetInfo(), false)
	if err != nil {
		return nil, err
	}
	venv, err := tc.VirtualEnvPath(ctx)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(venv, "lib", "python3*", "site-packages", "*", "pulumi-plugin.json"))
	if err != nil {
		return nil, err
	}
	response := &pulumirpc.GetRequiredPackagesResponse{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var described plugin.PulumiPluginJSON
		if err := json.Unmarshal(text, &described); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if !described.Resource || described.Version == "" {
			continue
		}
		response.Packages = append(response.Packages, &pulumirpc.PackageDependency{
			Name:    described.Name,
			Kind:    "resource",
			Version: "v" + strings.TrimPrefix(described.Version, "v"),
			Server:  described.Server,
		})
	}
	return response, nil
}

func (h *host) GetProgramDependencies(
	ctx context.Context, req *pulumirpc.GetProgramDependenciesRequest,
) (*pulumirpc.GetProgramDependenciesResponse, error) {
	tc, err := resolve(req.GetInfo(), false)
	if err != nil {
		return nil, err
	}
	found, err := tc.ListPackages(ctx, req.GetTransitiveDependencies())
	if err != nil {
		return nil, err
	}
	response := &pulumirpc.GetProgramDependenciesResponse{}
	for _, one := range found {
		response.Dependencies = append(response.Dependencies, &pulumirpc.DependencyInfo{Name: one.Name, Version: one.Version})
	}
	return response, nil
}

func (h *host) InstallDependencies(
	req *pulumirpc.InstallDependenciesRequest, server pulumirpc.LanguageRuntime_InstallDependenciesServer,
) error {
	tc, err := resolve(req.GetInfo(), req.GetIsPlugin())
	if err != nil {
		return err
	}
	closer, stdout, stderr, err := rpcutil.MakeInstallDependenciesStreams(server, req.GetIsTerminal())
	if err != nil {
		return err
	}
	defer closer.Close()
	return tc.InstallDependencies(server.Context(), req.GetInfo().GetProgramDirectory(), false, true, stdout, stderr)
}
