# confab: everything a contributor needs. `make` alone lists it.

BIN     := bin/confab
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 30s
SOAK    ?= 10m
SOAKFLAGS ?=
SOAK_KILLS ?=
SOAK_REPLICA ?=
BENCH   ?=
AXE     := axe-core@4.14.0
AXEFILE := axe-core-4.14.0.tgz
AXESUM  := 2277b0a3ef47af9b52497faa3e71598e86e0a0e5e6eb295207a5657ede4709af
AXETESTS ?=
RELEASE ?= bin/release
RELEASEFLAGS ?=
TSGO    := github.com/microsoft/typescript-go/cmd/tsgo@v0.0.0-20260708042240-2bd066d87f5b

# The compiler and the linker collect no garbage before they have a gigabyte of it, which
# makes the first build shorter, that of SQLite above all.
TOOLS   := -toolexec 'env GOGC=off GOMEMLIMIT=1GiB'

# One package more is tested at a time than there are cores: the longest, that of whole
# processes, waits for its processes at times. Without a browser, which keeps the cores busy, all
# wait a good part of the time, and twice as many are done sooner.
# The names are those in app/tools/rig/browser.go.
BROWSER := $(firstword $(foreach name,chromium-headless-shell chromium chromium-browser google-chrome chrome,$(shell command -v $(name))))
CORES   := $(shell getconf _NPROCESSORS_ONLN)
ATONCE  := -p $(shell expr $(CORES) $(if $(BROWSER),+ 1,+ $(CORES)))

export CGO_ENABLED = 0

# Nothing that is made here has tables for a debugger (a release has none either, and sets
# its own flags), or knows in which directory it was made: what one clone has compiled, another
# need not compile again. All targets say so, so that none compiles again what another has.
export GOFLAGS := $(strip $(shell go env GOFLAGS) -trimpath -gcflags=all=-dwarf=false)

.DEFAULT_GOAL := help

.PHONY: help run build generate test race lint picture bench soak fuzz vuln outside axe check release reproduce

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: generate build ## Build and start the sandbox; it prints where the console is, and a first curl
	@$(BIN) sandbox

build: ## Build the static binary, bin/confab
	@go build $(TOOLS) -ldflags '-s -w -X main.version=$(VERSION)' -o $(BIN) .

generate: ## Bundle the console's modules again, after an edit of them (app/console/built)
	@go run $(TOOLS) ./app/tools/bundle

# Without vet, which is a part of lint and looks at every dependency on a fresh machine.
# Tests, like the compiler, collect no garbage before they have a gigabyte of it. The longest
# begin first: packages are tested in the order in which they are named.
test: ## Run every test
	GOGC=off GOMEMLIMIT=1GiB go test $(TOOLS) $(ATONCE) -vet=off -timeout 20m -parallel 8 ./app/e2e ./...

race: ## Run the tests under the race detector (needs a C compiler; slow)
	CGO_ENABLED=1 go test -race -timeout 30m ./...

# Each run asks the registry for staticcheck, also when it is here. A registry that refuses for a
# moment is asked once more.
STATICCHECK := go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

# A release is for macOS too, and nothing but this build looks at what differs there.
lint: ## gofmt, vet, staticcheck, a build for macOS, and the types of the console's modules
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "not gofmt-ed: $$unformatted"; exit 1; }
	go vet $(TOOLS) ./...
	go vet $(TOOLS) -tags trial ./storage ./jobs
	GOOS=darwin go build $(TOOLS) -o /dev/null .
	$(STATICCHECK) || { sleep 10; $(STATICCHECK); }
	@if GOBIN=$(CURDIR)/bin/tools go install $(TSGO) 2>/dev/null; then bin/tools/tsgo -p app/console/tsconfig.json; \
	else echo "the TypeScript compiler cannot be had here: the types of the console's modules are not checked"; fi

picture: ## Take the README's picture, of inbox and phone side by side, from the real thing
	go test -count=1 -run TestThePictureOfTheREADME ./app/e2e -picture $(CURDIR)/.github/inbox-and-phone.png

bench: build ## Measure, and print a table with goals and verdicts; BENCH=-quick for a rough look
	go run ./app/tools/bench -confab $(BIN) $(BENCH)

soak: ## Press a whole installation for SOAK (default 10m), with faults, and audit it; SOAK_KILLS=1000 only kills it, SOAK_REPLICA=1 replicates
	@go build -tags trial -o $(BIN)-trial .
	go run ./app/tools/soak -confab $(BIN)-trial -length $(SOAK) $(if $(SOAK_KILLS),-kills $(SOAK_KILLS)) $(if $(SOAK_REPLICA),-replica) $(SOAKFLAGS)

fuzz: ## Run every fuzz target for FUZZTIME (default 30s each)
	@for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$package || exit 1; \
		done; \
	done

vuln: ## Look for known vulnerabilities in what is used (asks vuln.go.dev)
	go run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./...

# Dex replaces a module in its go.mod, so that it cannot be installed by its name alone.
DEX := 20260806151424-ab64ed778070

outside: axe ## Fetch Pebble, versitygw, Dex and axe-core, and run the tests that need them
	GOBIN=$(CURDIR)/bin/tools go install github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.1
	GOBIN=$(CURDIR)/bin/tools go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
	@mkdir -p bin/tools/outside && cd bin/tools/outside && rm -f go.mod go.sum && go mod init outside && \
		go get github.com/dexidp/dex/cmd/dex@v0.0.0-$(DEX) github.com/dexidp/dex/api/v2@v2.4.1-0.$(DEX) && \
		go build -o ../dex github.com/dexidp/dex/cmd/dex
	PATH="$(CURDIR)/bin/tools:$$PATH" go test -count=1 -v -run 'Pebble|Versitygw|Dex' ./app/e2e

axe: ## Fetch axe-core, and let it examine every screen in both themes, at two widths
	@mkdir -p bin/tools
	@if command -v npm >/dev/null; then cd bin/tools && npm pack --silent $(AXE) >/dev/null; \
	else echo "npm, which fetches axe-core, is not here: nothing is examined"; fi
	@if test -f bin/tools/$(AXEFILE); then cd bin/tools && echo "$(AXESUM)  $(AXEFILE)" | sha256sum -c --quiet && tar -xzf $(AXEFILE) package/axe.min.js; fi
	@if test -f bin/tools/package/axe.min.js; then \
		tests="$(AXETESTS)"; test -n "$$tests" || \
			tests=$$(grep -l 'shoot(' app/e2e/*_test.go | xargs sed -n 's/^func \(Test[^(]*\).*/^\1$$/p' | paste -sd'|'); \
		go test -count=1 -timeout 40m -run "$$tests" ./app/e2e -axe $(CURDIR)/bin/tools/package/axe.min.js; fi

check: lint test race ## Everything that must pass before a release

release: ## Build what is handed out, bin/release: binaries, checksums, licences, changes
	go run ./app/tools/release -version $(VERSION) -out $(RELEASE) $(RELEASEFLAGS)

reproduce: ## Build bin/release again, in a fresh clone with an empty cache, and compare: the same bytes
	@other=$$(mktemp -d) && trap 'chmod -R u+w "$$other"; rm -rf "$$other"' EXIT && \
	git clone --quiet . "$$other/clone" && \
	GOCACHE="$$other/cache" $(MAKE) -C "$$other/clone" release RELEASE="$$other/release" && \
	for file in $$(ls bin/release); do cmp "bin/release/$$file" "$$other/release/$$file" || exit 1; done && \
	echo "bin/release is reproduced: every file is the same, byte for byte"
