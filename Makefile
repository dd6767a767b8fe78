# Every target but interop runs offline once modules are present. `make` alone lists them.
SHELL := /bin/bash
GO ?= go
TOOL := $(GO) tool -modfile=.ci/tools/go.mod
PKGS ?= ./...
FUZZTIME ?= 10s
BENCH ?= .
COUNT ?= 10
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: build ## start broker and control plane in one process; ARGS='--quic-bind 127.0.0.1:0' passes flags
	@exec bin/felix dev $(ARGS)

.PHONY: build
build: ## build bin/felix
	@CGO_ENABLED=0 $(GO) build -trimpath -o bin/felix ./cmd/felix

.PHONY: test
test: ## run all tests (never from the test cache: some run the built program, which the cache does not see)
	$(GO) test -count=1 -timeout 15m $(PKGS)

.PHONY: interop
interop: build ## run the real Python client from PyPI against bin/felix (needs python3 and PyPI)
	.ci/interop/run bin/felix

.PHONY: race
race: ## run all tests under the race detector, long loads shortened
	$(GO) test -count=1 -race -short -timeout 20m $(PKGS)

.PHONY: invariants
invariants: ## run all tests with assertions, poisoned memory and leak sites
	$(GO) test -count=1 -tags invariants -short -timeout 15m $(PKGS)

.PHONY: fuzz-short
fuzz-short: ## run every fuzz target for FUZZTIME
	@.ci/fuzz $(FUZZTIME)

.PHONY: cover
cover: ## write coverage.html
	$(GO) test -short -coverprofile coverage.out -coverpkg ./... $(PKGS)
	$(GO) tool cover -html coverage.out -o coverage.html
	@$(GO) tool cover -func coverage.out | tail -1

.PHONY: fmt
fmt: ## format the code
	gofmt -w .

.PHONY: fmt-check
fmt-check: ## fail when a file is not formatted
	@bad=$$(gofmt -l .); [ -z "$$bad" ] || { echo "not formatted: $$bad; run make fmt"; exit 1; }

.PHONY: lint
lint: ## vet and staticcheck
	$(GO) vet $(PKGS)
	$(TOOL) staticcheck $(PKGS)

.PHONY: imports
imports: ## check who may import whom
	$(GO) test -count=1 -run 'Imports|TopLevel' ./internal/lint

.PHONY: escape
escape: ## compare heap escapes in hot functions with the checked-in list; UPDATE=1 rewrites it
	$(GO) test -count=1 -run Escape ./internal/lint $(if $(UPDATE),-update)

.PHONY: allocs
allocs: ## run the allocation gates
	$(GO) test -count=1 -run '^TestAllocs' ./dataplane/...

.PHONY: bench
bench: ## run benchmarks; BENCH=pattern PKGS=./dataplane/wire COUNT=10
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) $(PKGS)

.PHONY: bench-compare
bench-compare: ## compare benchmarks with another commit: BASE=ref
	@.ci/bench-compare '$(BASE)' '$(BENCH)' '$(PKGS)' '$(COUNT)'

.PHONY: clean
clean: ## remove what was built
	rm -rf bin coverage.out coverage.html .venv

.PHONY: ci
ci: fmt-check lint imports test race invariants allocs escape ## what every change must pass, without the network
