# The commands for users. They are implemented in Python: `.venv/bin/python -m localcloud --help`.
# Needs: make, git, Python 3.11 to 3.14; Go 1.26 only if the Pulumi engine or programs of the laptop cloud have to be
# built; Linux for the laptop cloud.

# STACK and CLOUD are plain text: make never expands them, and the shell reads them from its environment.
STACK ?= local
STACK_IS_FROM := $(origin STACK)
override STACK := $(value STACK)
ifeq ($(origin CLOUD),undefined)
# Inside `make shell` the default is the cloud of that shell.
CLOUD := $(if $(value LLMD_GKE_CLOUD),$(value LLMD_GKE_CLOUD),rehearsal)
endif
override CLOUD := $(value CLOUD)
export MAKE_STACK := $(value STACK)
export MAKE_CLOUD := $(value CLOUD)

SET_UP  = python3 llmd_common/python_first.py
LAPTOP  = .venv/bin/python -m localcloud --cloud "$$MAKE_CLOUD"
# Tests of the laptop cloud that share a cluster stay together (localcloud/tests/real_kubernetes/sharing.py), and those of
# the product in a file, whose worker records each graph once. Of the others, those with the real engine come first and
# take longest: a worker without tests takes over half of another's queue. Three workers keep two processors busy.
TESTS   = $(if $(filter laptop,$(CLOUD)),localcloud/tests/real_kubernetes,$(if $(filter test-localcloud,$(MAKECMDGOALS)),localcloud/tests))
PYTEST_ARGS ?= $(if $(filter laptop,$(CLOUD)),-n 2 --dist load,-n 3 $(if $(filter test,$(MAKECMDGOALS)),--dist loadfile --no-loadscope-reorder,--dist worksteal))
OPERATE = .venv/bin/python -m operations
STACK_THERE = --stack "$$MAKE_STACK" --cloud "$$MAKE_CLOUD" $(ARGS)

.DEFAULT_GOAL := help
TARGETS := help help-all venv new up down preview shell status doctor cost smoke bench live test test-localcloud test-faults lint format types docs clean \
           requirements digests sbom known any-known cloud tools operations laptop dev
.PHONY: $(TARGETS)

# What looks like an argument, and would otherwise be taken for a target or for a variable that nothing reads.
TARGET := $(or $(firstword $(filter $(TARGETS),$(MAKECMDGOALS))),preview)
EXTRA := $(firstword $(filter-out $(TARGETS),$(MAKECMDGOALS)))
ifneq ($(EXTRA),)
$(error $(EXTRA) is not a target.$(if $(wildcard Pulumi.$(EXTRA).yaml), Fix: make $(TARGET) STACK=$(EXTRA), Fix: `make help-all` \
lists the targets; options of a command go into ARGS: make cost ARGS="--output json"))
endif
ifneq ($(filter command,$(origin stack) $(origin cloud)),)
$(error Variables are in upper case. Fix: make $(strip $(TARGET) $(if $(value stack),STACK=$(value stack)) $(if $(value cloud),CLOUD=$(value cloud))))
endif

help: LISTED = \#\#
help-all: LISTED = \#\#-*
help help-all:
	@echo "llmd-gke: GKE + TPU or GPU + Gateway API + KServe as one Pulumi graph"
	@echo
	@sed -n 's/^\([a-z-]*\):.*$(LISTED) /\1|/p' Makefile | while IFS='|' read -r target text; do printf '  make %-15s %s\n' "$$target" "$$text"; done
	@echo
	@$(if $(filter help,$@),echo "  make help-all lists the others (smoke bench live ...) and what maintainers use."; echo)
	@printf '  STACK=%s chooses the stack file Pulumi.%s.yaml. ' "$$MAKE_STACK" "$$MAKE_STACK"
	@echo "Neither of these clouds needs an account or credentials:"
	@echo "  both run Google's provider on an emulator of Google's APIs. CLOUD=rehearsal (default) has a stand-in for Kubernetes,"
	@echo "  CLOUD=laptop real Kubernetes and KServe. status, doctor, smoke, bench and live also accept CLOUD=google, which needs both."

venv: operations  ##- set up the Python environment of the program and of llmd-gke, for use on Google Cloud

up: cloud  ## set up what is missing, then create or update stack STACK
	@$(LAPTOP) up --stack "$$MAKE_STACK" $(ARGS)

new: tools  ## create a stack file of your own to edit, Pulumi.STACK.yaml
	@$(LAPTOP) new --stack "$$MAKE_STACK"

preview: cloud  ## show what `up` would do to stack STACK; needs no credentials and no secrets
	@$(LAPTOP) preview --stack "$$MAKE_STACK"

down: cloud  ## destroy every stack and stop everything
	@$(LAPTOP) down $(if $(filter command line environment,$(STACK_IS_FROM)),--stack "$$MAKE_STACK")

shell: cloud  ## open a shell for plain `pulumi` commands (CLOUD=laptop: also kubectl)
	@$(LAPTOP) shell

# One line per command of llmd-gke; ARGS="--output json" adds options. CLOUD=google queries Google Cloud.

status: any-known tools  ## show local processes and their logs, then stack STACK, from nodes to a model's token
	@$(if $(filter google,$(CLOUD)),,$(LAPTOP) status)
	@$(OPERATE) $@ $(STACK_THERE)

doctor: any-known tools  ## find what would make `pulumi up` of stack STACK fail, before anything is created
	@$(OPERATE) $@ $(STACK_THERE)

cost: any-known tools  ## show chips, nodes and price of stack STACK, per hour and month
	@$(OPERATE) $@ $(STACK_THERE)

smoke: any-known tools  ##- check everything that clients rely on, on the models of stack STACK
	@$(OPERATE) $@ $(STACK_THERE)

bench: any-known tools  ##- measure throughput, time to first token and price of a model
	@$(OPERATE) $@ $(STACK_THERE)

live: any-known tools  ##- acceptance run: create, test, measure, report, and always destroy
	@$(OPERATE) $@ $(STACK_THERE)

test: known dev  ##- run the product's tests (PYTEST_ARGS="-k name": only some); with CLOUD=laptop the same as test-localcloud
	@$(LAPTOP) setup --quiet
	@$(if $(filter laptop,$(CLOUD)),,$(LAPTOP) programs promtool prometheus > /dev/null || echo "tests of the alerts' expressions are skipped: they need Prometheus")
	@$(RUN_TESTS)

test-localcloud: known dev  ##- run the local clouds' tests; CLOUD=laptop: on real Kubernetes (MINUTES=20: only those that start in time)
	@$(LAPTOP) setup --quiet
	@$(RUN_TESTS)

# Images of containers set the variable: then each worker compiles every module again.
RUN_TESTS = env -u PYTHONDONTWRITEBYTECODE .venv/bin/python -m pytest $(TESTS) $(PYTEST_ARGS) $(if $(MINUTES),--minutes=$(MINUTES))

# SEED=N plays one again; without it, seeds are new ones. PLAN='[...]' plays a plan as a failure prints it.
SEEDS ?= 5
JOBS ?= 2
export SEEDS PLAN FAULTS_STACK
test-faults: dev  ##- play SEEDS life cycles under random faults, JOBS at a time (SEED=N: from this one on; about a minute each)
	@.venv/bin/python -m localcloud setup --quiet
	@SEED="$(or $(SEED),$(shell date +%s))" .venv/bin/python -m pytest localcloud/tests/life_cycle/test_seeds.py -n "$(JOBS)" -rA

lint: dev  ##- check style and format with ruff, and the workflows with zizmor
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/zizmor --offline --quiet .github

format: dev  ##- fix style and format with ruff
	@.venv/bin/ruff check --fix .
	@.venv/bin/ruff format .

types: dev  ##- check types with pyright (strict)
	@.venv/bin/basedpyright

docs: operations  ##- generate pages and schema from the code
	@.venv/bin/python policies/generate_docs.py
	@.venv/bin/python -m llmd_gke.settings.schema
	@.venv/bin/python -m llmd_gke.manifests.alerts.page
	@.venv/bin/python -m operations.pages

clean:  ##- remove what was set up in this clone (run `make down` first), and vLLM from the cache; keeps the engine there
	@if [ -x .venv/bin/python ]; then for cloud in rehearsal laptop; do .venv/bin/python -m localcloud --cloud $$cloud clean || exit; done; fi
	python3 llmd_common/bootstrap.py --remove vllm
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis

digests: tools  ##- maintainers: record the digests of charts and images in versions.toml
	@.venv/bin/python -m operations.doctor.digests

sbom:  ##- write bills of materials of the Python packages (CycloneDX) to sbom/
	@python3 operations/sbom.py sbom

requirements:  ##- resolve requirements/*.in into the hash-pinned *.txt again
	@python3 -m llmd_common.resolve_requirements

known:
	@case "$$MAKE_CLOUD" in rehearsal|laptop) ;; \
	google) printf 'make $(firstword $(MAKECMDGOALS)) never reaches Google Cloud, so it cannot cost money by accident.\nFix: follow the steps in the README, then run pulumi itself: pulumi up --stack %s --policy-pack policies\n' "$$MAKE_STACK" >&2; exit 2 ;; \
	*) printf 'CLOUD=%s is not a cloud. Allowed: rehearsal, laptop. Fix: make $(firstword $(MAKECMDGOALS)) CLOUD=rehearsal\n' "$$MAKE_CLOUD" >&2; exit 2 ;; \
	esac

any-known:
	@case "$$MAKE_CLOUD" in google|rehearsal|laptop) ;; \
	*) printf 'CLOUD=%s is not a cloud. Allowed: google, rehearsal, laptop. Fix: make $(firstword $(MAKECMDGOALS)) CLOUD=google\n' "$$MAKE_CLOUD" >&2; exit 2 ;; \
	esac

cloud: known tools

tools:
	@$(SET_UP) $(if $(filter laptop,$(CLOUD)),laptop,operations)

operations laptop dev:
	@$(SET_UP) $@
