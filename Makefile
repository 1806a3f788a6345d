# What people type. Everything behind it is Python: `.venv/bin/python -m llmd_gke.laptop --help`.
# Needs: make, git, Python 3.11 to 3.14; Go 1.26 only where the Pulumi engine has to be built.

STACK ?= local
CLOUD ?= rehearsal
PYTEST_ARGS ?= -n 2

SET_UP  = python3 llmd_gke/laptop/bootstrap.py
LAPTOP  = .venv/bin/python -m llmd_gke.laptop

.DEFAULT_GOAL := help
.PHONY: help venv up down preview shell test lint format types docs clean requirements cloud operations laptop dev

help:  ## this list
	@echo "llmd-gke: GKE + TPU v6e + Gateway API + KServe as one Pulumi graph"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | while IFS='|' read -r target text; do printf '  make %-10s %s\n' "$$target" "$$text"; done
	@echo
	@echo "  STACK=$(STACK) chooses the stack file Pulumi.$(STACK).yaml; CLOUD=rehearsal (default) needs no cloud and no credentials."

venv:  ## the Python environment of the program, for use on Google Cloud
	@$(SET_UP) program

up: cloud operations  ## set up what is missing and bring stack STACK up in the rehearsal
	@$(LAPTOP) up --stack "$(STACK)"

preview: cloud operations  ## what `up` would do to stack STACK; needs no credentials and no secrets
	@$(LAPTOP) preview --stack "$(STACK)"

down: cloud operations  ## destroy every stack of the rehearsal and stop everything
	@$(LAPTOP) down $(if $(filter command line environment,$(origin STACK)),--stack "$(STACK)")

shell: cloud operations  ## a shell in which plain `pulumi` commands work on the rehearsal
	@$(LAPTOP) shell

test: dev  ## all tests (PYTEST_ARGS="-k name" runs some)
	@$(LAPTOP) setup --quiet
	@.venv/bin/python -m pytest $(PYTEST_ARGS)

lint: dev  ## ruff: style and format
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .

format: dev  ## let ruff fix what it can
	@.venv/bin/ruff check --fix .
	@.venv/bin/ruff format .

types: dev  ## pyright, strict
	@.venv/bin/basedpyright

docs: operations  ## pages and schema that are generated from the code
	@.venv/bin/python policies/generate_docs.py
	@.venv/bin/python -m llmd_gke.settings.schema

clean:  ## remove what was set up in this clone (run `make down` first); the engine in the cache stays
	@if [ -x .venv/bin/python ]; then $(LAPTOP) clean; fi
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis

requirements:  ## resolve requirements/*.in anew into the hash-pinned *.txt
	@$(SET_UP) --resolve

cloud:
	@case "$(CLOUD)" in \
	rehearsal) ;; \
	laptop) echo "CLOUD=laptop (real Kubernetes and KServe on this machine) is not there yet; run: make $(firstword $(MAKECMDGOALS)) CLOUD=rehearsal" >&2; exit 2 ;; \
	*) echo "CLOUD=$(CLOUD) is not known. Allowed: rehearsal. Run: make $(firstword $(MAKECMDGOALS)) CLOUD=rehearsal" >&2; exit 2 ;; \
	esac

operations laptop dev:
	@$(SET_UP) $@
