# All commands for developers and CI. `make` without a target lists them.

SOURCE   := stream-management/stream
PROVIDER := bin/terraform-provider-stream$(shell go env GOEXE)

# By default, the newest tag with the suffix of git describe, such as 1.2.3-4-gabcdef0.
VERSION ?= $(patsubst v%,%,$(or $(shell git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null),v0.1.0-dev))
# A local install drops the suffix, because init never selects a pre-release on its own.
RELEASE  = $(firstword $(subst -, ,$(VERSION)))

# The CLI that runs the acceptance tests and examples.
CLI  := $(or $(TF_ACC_TERRAFORM_PATH),$(shell command -v terraform || command -v tofu))
TOFU := $(findstring tofu,$(notdir $(CLI)))

# RACE=1 runs the tests with the race detector, which needs a C compiler.
RACE :=

# A separate module keeps the tools out of the provider's dependencies.
TOOL         := go tool -modfile=internal/tools/go.mod
GOLANGCI     := $(TOOL) golangci-lint
TFPLUGINDOCS := $(TOOL) tfplugindocs
# Not in that module, because it needs another version of a library than golangci-lint. The result is the same on each
# machine: actionlint does not run programs that may be installed.
ACTIONLINT   := go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 -shellcheck= -pyflakes=

DOCS     := docs
FUZZTIME := 10s

# Random tests repeat the same cases in each run. SEED=0 draws fresh ones.
SEED      := 1
# The test cache does not know the seed.
FRESH      = $(if $(filter-out 1,$(SEED)),-count=1)
HISTORIES := 100000
# The packages with acceptance tests. To link the tests of the others takes longer than a test.
ACCEPTANCE = $(addprefix ./,$(sort $(dir $(shell grep -rl --include='*_test.go' '^func TestAcc[A-Z]' internal))))

# Histories with a real CLI need a second each.
CLI_HISTORIES := 1000

# PLATFORMS=host builds a snapshot only for this machine.
PLATFORMS := all

# Ignore the user's CLI configuration, and do not check for newer CLI versions.
export TF_CLI_CONFIG_FILE := /dev/null
export CHECKPOINT_DISABLE := 1

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# The flags of a release, also for the demo: with equal flags, Go compiles each package once for all of these targets.
build demo: export CGO_ENABLED = 0
build demo: export GOFLAGS += -trimpath -buildvcs=false

.PHONY: build
build: ## build the provider into bin/
	go build -ldflags '-s -w -X main.version=$(VERSION)' -o $(PROVIDER) .

.PHONY: install
install: build ## install the provider where terraform init and tofu init find it
	@echo 'Installed version $(RELEASE) of $(SOURCE) for terraform init and for tofu init:'
	@for host in registry.terraform.io registry.opentofu.org; do \
		dir="$$HOME/.terraform.d/plugins/$$host/$$(echo '$(SOURCE)' | tr '[:upper:]' '[:lower:]')/$(RELEASE)/$$(go env GOOS)_$$(go env GOARCH)"; \
		mkdir -p "$$dir"; \
		install -m 755 $(PROVIDER) "$$dir/terraform-provider-stream_v$(RELEASE)" || exit; \
		echo "  $$dir"; \
	done
	@echo 'In a folder that has used another build, remove its entry from .terraform.lock.hcl. To uninstall, remove both folders.'

.PHONY: dev
dev: ## build the provider, and print the lines that make a CLI use this build
	go build -o bin/dev/ .
	@printf 'provider_installation {\n  dev_overrides { "%s" = "%s" }\n  direct {}\n}\n' '$(SOURCE)' '$(CURDIR)/bin/dev' >bin/dev/cli.tfrc
	@printf '\nWithout init and without a lock file, a CLI uses this build with these two lines in provider_installation\n'
	@printf 'of ~/.terraformrc or ~/.tofurc:\n\n'
	@sed -n 2,3p bin/dev/cli.tfrc
	@printf '\nor in one shell with\n\n  export TF_CLI_CONFIG_FILE=%s\n' '$(CURDIR)/bin/dev/cli.tfrc'

# With less garbage collection, tests, and the CLIs that they run, need a sixth less CPU time.
test testunit testacc histories clihistories: export GOGC ?= 400

.PHONY: test
test: cli testunit testacc ## run all tests; RACE=1 adds the race detector

# Histories that run one step at a time have no races to detect.
.PHONY: testunit
testunit: ## run only the unit tests
	TF_ACC= RAPID_SEED=$(SEED) go test $(if $(RACE),-race -skip '^TestHistories$$') $(FRESH) -timeout=30m ./...
	$(if $(RACE),RAPID_SEED=$(SEED) go test $(FRESH) -timeout=30m -run '^TestHistories$$' ./internal/testing/coretest)

.PHONY: testunit32
testunit32: ## run the unit tests with 32-bit integers, on an amd64 machine
	GOARCH=386 $(MAKE) --no-print-directory testunit

.PHONY: testacc
testacc: cli ## run only the acceptance tests: a real CLI and the stand-in service, or $STREAM_BASE_URL
	TF_ACC=1 TF_ACC_TERRAFORM_PATH='$(CLI)' \
		$(if $(TOFU),TF_ACC_PROVIDER_HOST=registry.opentofu.org TF_ACC_PROVIDER_NAMESPACE=hashicorp) \
		go test $(if $(RACE),-race) -count=1 -timeout=30m $(if $(STREAM_ACC_STREAM_ID),-v) -run '^TestAcc[A-Z]' $(ACCEPTANCE)

.PHONY: fuzz
fuzz: ## run each fuzz test for FUZZTIME (default 10s)
	@for pkg in $$(go list ./internal/...); do \
		found=$$(go test -list '^Fuzz' $$pkg) || { echo "$$found"; exit 1; }; \
		for name in $$(echo "$$found" | grep '^Fuzz'); do \
			echo "$$name"; \
			go test -timeout=24h -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) $$pkg || exit; \
		done; \
	done

.PHONY: histories
histories: ## run HISTORIES random histories with fresh seeds, 100000, and as many lives of one resource; a failure prints how to repeat it
	go test ./internal/testing/coretest -v -run '^Test(Histories|Protocol)$$' -timeout=24h -rapid.checks=$$(( ($(HISTORIES) + 4) / 5 ))

.PHONY: clihistories
clihistories: cli ## compare CLI_HISTORIES random histories of the model of Terraform core with a real CLI, 1000; SEED=0 draws fresh ones
	TF_ACC=1 TF_ACC_TERRAFORM_PATH='$(CLI)' CLI_HISTORIES=$(CLI_HISTORIES) CLI_HISTORIES_SEED=$(SEED) \
		go test -count=1 -timeout=24h -run '^TestAccHistories$$' ./internal/testing/coretest

.PHONY: bench
bench: cli ## measure a real CLI, for about seven minutes, into internal/cmd/bench/RESULTS.md
	@mkdir -p bin
	go run ./internal/cmd/bench -plot bin/plot.svg 100 1000 10000 >bin/RESULTS.md
	mv bin/plot.svg bin/RESULTS.md internal/cmd/bench

.PHONY: demo
demo: ## show real plans and applies, good and bad ones, with each request that the service receives
	@echo 'Compiling. The first time takes a few minutes, and lists each package.'
	@go build -v . ./internal/cmd/demo
	@go build -o bin/demo ./internal/cmd/demo
	@bin/demo

.PHONY: texts
texts: ## renew internal/testing/texts/testdata/texts.txt, which has what a person reads: review its changes
	go test ./internal/testing/texts -count=1 -run '^TestTexts$$' -update

.PHONY: lint
lint: ## run the linters of .golangci.yml, vet for other platforms, and actionlint on the workflows and on those of the examples
	$(GOLANGCI) run
	GOOS=windows go vet ./...
	GOOS=darwin go vet ./...
	GOOS=linux GOARCH=386 go vet ./...
	$(ACTIONLINT)
	$(ACTIONLINT) examples/pipelines/github-actions.yml examples/infrastructure/.github/workflows/streams.yml

.PHONY: fmt
fmt: cli ## format Go and HCL
	$(GOLANGCI) fmt
	$(CLI) fmt -recursive examples internal

.PHONY: generate
generate: ## generate docs/ from the provider's schema, templates/ and examples/
	@mkdir -p bin
	go run ./internal/cmd/schema >bin/schema.json
	$(TFPLUGINDOCS) generate --provider-name stream --providers-schema bin/schema.json --rendered-website-dir $(DOCS)

.PHONY: check-clean
check-clean: cli ## check that nothing is left to format, tidy or generate
	$(GOLANGCI) fmt --diff
	$(CLI) fmt -check -diff -recursive examples internal
	go mod tidy -diff
	go -C internal/tools mod tidy -diff
	@rm -rf bin/docs && mkdir -p bin/docs
	@$(MAKE) --no-print-directory generate DOCS=bin/docs
	diff -ru docs bin/docs
	$(TFPLUGINDOCS) validate --provider-name stream --providers-schema bin/schema.json

.PHONY: vulncheck
vulncheck: ## check the code for known vulnerabilities; needs vuln.go.dev
	$(TOOL) govulncheck ./...

.PHONY: notices
notices: ## write the licences of all modules in the provider to bin/NOTICES
	@mkdir -p bin
	go run ./internal/cmd/notices >bin/NOTICES

.PHONY: snapshot
snapshot: cli ## build the files of a release from the last commit into dist/, with the goreleaser on PATH, and install one
	@mkdir -p bin
	$(if $(filter host,$(PLATFORMS)),sed -e "s/goos: \[.*/goos: [$$(go env GOOS)]/" -e "s/goarch: \[.*/goarch: [$$(go env GOARCH)]/",cat) \
		.goreleaser.yml >bin/goreleaser.yml
	goreleaser release --config bin/goreleaser.yml --snapshot --clean --skip=sign,sbom
	RELEASE_DIST=dist TF_ACC=1 TF_ACC_TERRAFORM_PATH='$(CLI)' go test -count=1 -timeout=30m -v -run '^TestAccMirror$$' ./internal/testing/release

.PHONY: cli
cli:
	@test -n '$(CLI)' || { echo 'Found no terraform or tofu on PATH. Install one, or set TF_ACC_TERRAFORM_PATH to its path.' >&2; exit 1; }
