# Everything that developers and CI do. `make` alone lists it.

SOURCE   := stream-management/stream
PROVIDER := bin/terraform-provider-stream$(shell go env GOEXE)

# The newest tag, then what git adds to it: 1.2.3-4-gabcdef0. Override with VERSION=1.2.3.
VERSION := $(patsubst v%,%,$(or $(shell git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null),v0.1.0-dev))
# init never chooses a pre-release by itself, so a local install has the bare version.
RELEASE := $(firstword $(subst -, ,$(VERSION)))

# The CLI that the acceptance tests and examples run on.
CLI  := $(or $(TF_ACC_TERRAFORM_PATH),$(shell command -v terraform || command -v tofu))
TOFU := $(findstring tofu,$(notdir $(CLI)))

# The race detector needs a C compiler; without one, go turns cgo off.
RACE := $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)

# The tools have a module of their own, to keep them out of the provider's.
TOOL         := go tool -modfile=internal/tools/go.mod
GOLANGCI     := $(TOOL) golangci-lint
TFPLUGINDOCS := $(TOOL) tfplugindocs
GOVULNCHECK  := $(TOOL) govulncheck

DOCS     := docs
FUZZTIME := 10s

# Nothing here depends on the user's own CLI configuration, or asks for newer versions.
export TF_CLI_CONFIG_FILE := /dev/null
export CHECKPOINT_DISABLE := 1

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## the provider, into bin/
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w -X main.version=$(VERSION)' -o $(PROVIDER) .

.PHONY: install
install: build ## the provider, where terraform init and tofu init find it
	@for host in registry.terraform.io registry.opentofu.org; do \
		dir="$$HOME/.terraform.d/plugins/$$host/$(SOURCE)/$(RELEASE)/$$(go env GOOS)_$$(go env GOARCH)"; \
		mkdir -p "$$dir"; \
		install -m 755 $(PROVIDER) "$$dir/terraform-provider-stream_v$(RELEASE)" || exit; \
		echo "$$dir"; \
	done

.PHONY: test
test: testunit testacc ## everything: unit tests with the race detector, then acceptance tests

.PHONY: testunit
testunit: ## only the unit tests
	$(if $(RACE),,@echo "No C compiler (CGO_ENABLED=0): the race detector is off.")
	TF_ACC= go test $(RACE) -skip '^TestAcc' ./...

.PHONY: testacc
testacc: cli ## only the acceptance tests: a real CLI on the stand-in service, or on $STREAM_BASE_URL
	TF_ACC=1 TF_ACC_TERRAFORM_PATH='$(CLI)' \
		$(if $(TOFU),TF_ACC_PROVIDER_HOST=registry.opentofu.org TF_ACC_PROVIDER_NAMESPACE=hashicorp) \
		go test -count=1 -timeout=30m $(if $(STREAM_ACC_STREAM_ID),-v) -run '^TestAcc' ./...

.PHONY: validate-examples
validate-examples: cli ## only the acceptance test that every example passes init and validate
	TF_ACC=1 TF_ACC_TERRAFORM_PATH='$(CLI)' go test -count=1 -v -run '^TestAcc' ./examples

.PHONY: fuzz
fuzz: ## each fuzz test for FUZZTIME, 10s
	@for pkg in $$(go list ./internal/...); do \
		found=$$(go test -list '^Fuzz' $$pkg) || { echo "$$found"; exit 1; }; \
		for name in $$(echo "$$found" | grep '^Fuzz'); do \
			echo "$$name"; \
			go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) $$pkg || exit; \
		done; \
	done

.PHONY: bench
bench: cli ## Go benchmarks, then a real CLI with 100 and 1,000 streams, into internal/cmd/bench/RESULTS.md
	go test -run '^$$' -bench . -benchmem ./internal/streams ./internal/provider
	@mkdir -p bin
	go run ./internal/cmd/bench $(BENCHFLAGS) >bin/RESULTS.md
	mv bin/RESULTS.md internal/cmd/bench/RESULTS.md

.PHONY: demo
demo: build ## a real apply, change and destroy, with each request that the service sees
	@go build -o bin/demo ./internal/cmd/demo
	@bin/demo -provider $(PROVIDER)

.PHONY: lint
lint: ## the linters of .golangci.yml
	$(GOLANGCI) run

.PHONY: fmt
fmt: cli ## format Go and HCL
	$(GOLANGCI) fmt
	$(CLI) fmt -recursive examples internal

.PHONY: generate
generate: ## docs/ from the provider's schema, templates/ and examples/
	@mkdir -p bin
	go run ./internal/cmd/schema >bin/schema.json
	$(TFPLUGINDOCS) generate --provider-name stream --providers-schema bin/schema.json --rendered-website-dir $(DOCS)

.PHONY: check-clean
check-clean: cli ## nothing to format, tidy or generate
	$(GOLANGCI) fmt --diff
	$(CLI) fmt -check -diff -recursive examples internal
	go mod tidy -diff
	go -C internal/tools mod tidy -diff
	@rm -rf bin/docs && mkdir -p bin/docs
	@$(MAKE) --no-print-directory generate DOCS=bin/docs
	diff -ru docs bin/docs
	$(TFPLUGINDOCS) validate --provider-name stream --providers-schema bin/schema.json

.PHONY: vulncheck
vulncheck: ## known vulnerabilities in what is shipped (asks vuln.go.dev)
	$(GOVULNCHECK) ./...

.PHONY: release-check
release-check: ## a release of the last commit in dist/, made twice and checked; publishes nothing
	go run ./internal/cmd/release -version '$(VERSION)'

.PHONY: cli
cli:
	@test -n '$(CLI)' || { echo 'No terraform or tofu on PATH; TF_ACC_TERRAFORM_PATH can name one.' >&2; exit 1; }
