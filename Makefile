# Builds, shows and tests sdm. `make demo` and `make test` are all that a
# newcomer needs; `make help` lists the rest.

GO      ?= go
BIN     := bin
SOURCES := $(shell find cmd master server tree backend protocol launch -name '*.go' -not -name '*_test.go')
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
DATE    := $(shell git log -1 --format=%cs 2>/dev/null)
FUZZTIME ?= 10s

# Packages whose tests start other programs. Under -race, and with programs of sdm that are built so, E2E and
# UNRACED take two or three times as long; make faults does so.
E2E     := sdm/cmd/internal/check/e2e
RACED   := sdm/launch/launchtest sdm/launch/mpir sdm/backend/gdb/custody sdm/launch/local sdm/server sdm/cmd/sdm-server sdm/cmd/sdm-master sdm/cmd/sdm-pmix sdm/cmd/internal/check/newcommand
UNRACED := sdm/cmd/sdm sdm/backend/gdb sdm/backend/probe sdm/backend/probe/internal/sampler sdm/cmd/internal/check/oracle
REAL    := $(E2E) $(RACED) $(UNRACED)

# What the tests on fake hosts need beyond that; only root can make them.
HOSTS := $(if $(filter 0,$(shell id -u)),ip tc nsenter unshare mount srun)

export GOFLAGS += -buildvcs=false

# A program with the race detector sleeps for a second before it ends, unless told otherwise: each test
# binary, and each sdm that a test starts.
export GORACE ?= atexit_sleep_ms=20

# Simulated trees: each trial is one goroutine, so the race detector would find nothing and take five
# times as long.
SIMULATED := sdm/tree/treetest

# They read the tree; lint runs them.
FLOORS := sdm/cmd/internal/check/floors

# The other packages; those that take longest come first, so that both processors have work to the end.
LONG := sdm/tree/overlay sdm/backend/tape sdm/master/frontend/rpc
UNIT = $(LONG) $(filter-out $(REAL) $(SIMULATED) $(LONG) $(FLOORS),$(shell $(GO) list ./...))

# A test that fails is run a second time and listed as rerun at the end: these machines are noisy, and a listed rerun is
# a defect to mend, not to live with.
TESTSUM := $(GO) tool gotestsum --format pkgname-and-test-fails --format-icons text
RERUN   := --rerun-fails=1 --rerun-fails-max-failures=8 --rerun-fails-run-root-test

# sdm-pmix links libpmix; it is built where that is. sdm doctor tells when it is missing.
WITH_PMIX := $(if $(shell pkg-config --exists pmix 2>/dev/null && echo yes),$(BIN)/sdm-pmix)

# What sdm runs on.
PLATFORMS := linux/amd64 linux/arm64

platform:
	@case ' $(PLATFORMS) ' in *" $$($(GO) env GOOS)/$$($(GO) env GOARCH) "*) ;; \
	  *) echo "sdm runs on $(PLATFORMS) only, not on $$($(GO) env GOOS)/$$($(GO) env GOARCH)"; exit 1;; esac

.PHONY: platform help build install uninstall release demo test editors web vscode apps check unit e2e lane1 lane2 floors lint lintbeside fuzz faults roots matrix tapes bench clean

help: ## list the targets
	@grep -hE '^[a-z0-9]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

build: platform $(BIN)/sdm $(BIN)/sdm-server $(BIN)/sdm-master $(WITH_PMIX) ## build the programs into bin/

# Static: one file that runs on any node of the same architecture. Its symbol table tells which signals were ignored (startup.KeepIgnored).
$(BIN)/%: $(SOURCES) go.mod
	@mkdir -p $(BIN)
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-w -X sdm/cmd/internal/startup.version=$(VERSION) -X sdm/cmd/internal/startup.Date=$(DATE)' -o $@ ./cmd/$*

$(BIN)/sdm-pmix: $(SOURCES) $(wildcard cmd/sdm-pmix/*.[ch]) go.mod
	@mkdir -p $(BIN)
	CGO_ENABLED=1 $(GO) build -tags pmix -trimpath -o $@ ./cmd/sdm-pmix

# Where make install puts things: DESTDIR is for packages, MODULEFILE a file to write (Lua if it ends so, else Tcl).
PREFIX     ?= /usr/local
DESTDIR    ?=
MODULEFILE ?=

install: build ## install below PREFIX (/usr/local): programs, manual pages, completion, documents; MODULEFILE=FILE
	@packaging/install $(BIN) '$(DESTDIR)' '$(PREFIX)' '$(MODULEFILE)'

uninstall: build ## remove what make install with the same variables has installed
	@packaging/install --remove $(BIN) '$(DESTDIR)' '$(PREFIX)' '$(MODULEFILE)'

release: ## archives, deb and rpm of VERSION=1.2.3 for all platforms, checksums, list of components, in bin/release
	@packaging/release $(BIN)/release '$(VERSION)'

demo: ## debug a real MPI program on 4 ranks and show the session
	@.ci/deps gdb gcc mpirun.openmpi mpicc.openmpi
	@$(MAKE) --no-print-directory build
	@testdata/demo/run

test: ## everything: format, vet, staticcheck, floors, unit, simulation, fuzz seeds, end to end
	@.ci/deps gdb gcc g++ gfortran python3 /usr/lib/python3/dist-packages/mpi4py eu-stack musl-gcc /usr/share/doc/libopenblas-dev mpirun.openmpi mpicc.openmpi mpiexec.mpich mpicc.mpich pkg-config zstd $(HOSTS)
	@mkdir -p $(BIN) && rm -f $(BIN)/roots.txt
	@testdata/roots/fetch trixie forky >$(BIN)/roots.txt 2>&1 & # what e2e runs on other releases; its tests wait for it
	@$(MAKE) --no-print-directory build unit
	@cat $(BIN)/roots.txt
	@$(MAKE) --no-print-directory -j3 lane1 lane2 lintbeside

unit: ## what needs no other program; under -race but for simulated trees
	$(TESTSUM) --packages '$(SIMULATED)' -- -timeout 10m
	$(TESTSUM) $(RERUN) --packages '$(UNIT)' -- -race -p 3 -timeout 10m

# Two lanes, a package at a time in each: half of the time they wait. Not more: they start real gdbs and MPI jobs by
# the dozen, and what they wait for has deadlines. What has none, lint, gets the time that they leave.
e2e: build ## real gdbs, real Open MPI and MPICH, real processes killed
	@$(MAKE) --no-print-directory -j2 lane1 lane2

lane1:
	$(TESTSUM) $(RERUN) --packages '$(E2E)' -- -timeout 45m -parallel 3

lane2:
	$(TESTSUM) $(RERUN) --packages '$(UNRACED)' -- -p 1 -timeout 45m
	$(TESTSUM) $(RERUN) --packages '$(RACED)' -- -race -p 1 -timeout 20m

editors: build ## try sdm dap with real clients: VS Code's test client, Neovim, Emacs with dap-mode; the extension's own code
	@.ci/deps node npm nvim emacs /usr/share/emacs/site-lisp/elpa/dap-mode-0.7
	cd editors/vscode && node --test
	mkdir -p $(BIN)/editors && cp editors/test/* $(BIN)/editors && cd $(BIN)/editors && npm install --no-audit --no-fund
	cd $(BIN)/editors && SDM=$(CURDIR)/$(BIN)/sdm node testsupport.js
	SDM=$(CURDIR)/$(BIN)/sdm nvim --headless -u NONE -c 'luafile editors/nvim/client.lua'
	SDM=$(CURDIR)/$(BIN)/sdm emacs --batch -l editors/emacs/test.el

web: ## try the page of sdm web: its own modules, without a browser
	@.ci/deps node
	node --test master/frontend/web/testdata/page/

# The modules of the page of sdm web that the panel draws with. Not all releases of VS Code know what a .mjs is.
DRAWN := groups icicle runs

vscode: ## pack the extension of VS Code into bin/sdm.vsix
	@.ci/deps node npm
	rm -rf $(BIN)/vscode && mkdir -p $(BIN)/vscode && cp -r editors/vscode/. $(BIN)/vscode
	mkdir $(BIN)/vscode/view/page
	for m in $(DRAWN); do cp master/frontend/web/page/$$m.mjs $(BIN)/vscode/view/page/$$m.js; done
	cd $(BIN)/vscode && npx --yes @vscode/vsce package --skip-license --allow-missing-repository -o $(CURDIR)/$(BIN)/sdm.vsix

# What is said in bin/apps/*.txt is to be looked at: the checks do not see everything.
apps: build ## debug tutorials of PETSc on 8 ranks, and mpi4py; transcripts in bin/apps (minutes; before an issue is closed)
	@.ci/deps gdb gcc g++ gfortran mpirun.openmpi mpicc.openmpi pkg-config /usr/share/doc/libpetsc3.18-dev-examples /usr/lib/petscdir/petsc3.18 /usr/lib/python3/dist-packages/mpi4py /usr/include/python3.11
	PATH=$(CURDIR)/$(BIN):$$PATH SDM_APPS=$(CURDIR)/$(BIN)/apps $(GO) test -count=1 -v -timeout 60m ./cmd/internal/check/apps

check: lint unit ## what to run before a commit: lint, race tests without other programs

lint: ## gofmt, vet, staticcheck, unreachable functions, floors
	@unformatted=$$(gofmt -l cmd master server tree backend protocol launch); \
	  if [ -n "$$unformatted" ]; then echo "gofmt -w these:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	@dead=$$($(GO) tool deadcode -test ./...) || exit 1; if [ -n "$$dead" ]; then echo "delete these:"; echo "$$dead"; exit 1; fi
	$(if $(WITH_PMIX),$(GO) vet -tags pmix ./cmd/sdm-pmix && $(GO) tool staticcheck -tags pmix ./cmd/sdm-pmix)
	@$(MAKE) --no-print-directory floors

lintbeside: # in the time that the lanes leave
	@nice -n 19 $(MAKE) --no-print-directory lint

floors: ## who imports whom: arrows point down only
	$(GO) test -count=1 ./cmd/internal/check/floors

fuzz: ## FUZZTIME (10s) of every fuzzer
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "fuzz $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$p || exit 1; \
	  done; done

faults: ## 1,000 random fault schedules on simulated trees of 64 servers, 3,000 on small ones; 10,000 random sessions of several front ends; 1,000 random ends of attaches, 1,000 of the sampling of stacks, 1,000 of sessions, 1,000 of adapters of editors, 1,000 of agents; 1,000 random sessions beside plain gdb; all that debugs with real gdbs under -race
	$(GO) test ./tree/treetest -run Faults -schedules 1000
	$(GO) test -count=1 -timeout 60m -run '^TestRandomFrontEnds$$' ./master/hub -seeds 10000
	$(GO) test -count=1 -timeout 60m -run '^TestRandomEnds$$' ./cmd/internal/check/e2e -ends 1000
	$(GO) test -count=1 -timeout 30m -run '^TestSamplerEnds$$' ./cmd/internal/check/e2e -sampler-ends 1000
	$(GO) test -count=1 -timeout 120m -run '^TestDAPAdapterEnds$$' ./cmd/internal/check/e2e -adapter-ends 1000
	$(GO) test -count=1 -timeout 120m -run '^TestRandomSessionEnds$$' ./cmd/internal/check/e2e -session-ends 1000
	$(GO) test -count=1 -timeout 120m -run '^TestAgentEnds$$' ./cmd/internal/check/e2e -agent-ends 1000
	$(TESTSUM) $(RERUN) --packages '$(E2E)' -- -race -timeout 120m -raced -all-prrte -all-ways -all-hangs -all-plants -all-dialogs -later
	$(TESTSUM) $(RERUN) --packages '$(UNRACED)' -- -race -p 1 -timeout 60m
	$(GO) test -count=1 -timeout 60m -run '^TestSessions$$' ./cmd/sdm -all-layouts
	$(GO) test -count=1 -timeout 60m -run '^TestConformanceOfOtherGDBs$$' ./backend/gdb -all-gdbs
	$(GO) test -count=1 -timeout 90m -run '^TestSessions$$' ./cmd/internal/check/oracle -sessions 1000
	$(GO) test -count=1 -timeout 90m ./backend/probe/internal/sampler -thorough

roots: ## fetch other releases of Debian (gdb 10, 16, 18, multiarch; Open MPI 5, 6; MPICH 5) for the tests that run several versions
	@testdata/roots/fetch

# Tests that fail are in the page; the command fails if a root cannot be had.
SYSTEMS ?= bookworm-all trixie-all forky-all
matrix: ## run the tests that meet gdb, MPI, Slurm, Python and compilers on three releases of Debian; writes docs/tested.md (an hour and a half)
	@testdata/roots/matrix $(BIN)/matrix $(SYSTEMS); status=$$?; \
	  $(GO) run ./cmd/internal/check/matrix $(BIN)/matrix $(SYSTEMS) >$(BIN)/tested.md && mv $(BIN)/tested.md docs/tested.md && exit $$status

GDB ?= gdb
tapes: ## record what GDB (gdb) says to the conformance suite into testdata/tapes
	$(GO) test -count=1 ./backend/gdb -run '^TestTapes$$' -record -gdb $(GDB)
	$(GO) test -count=1 ./backend/tape

bench: build ## measure; prints ratios against floors in the same run (docs/performance.md)
	@.ci/deps gdb gcc $(HOSTS)
	$(GO) test -run '^$$' -bench . -benchtime 300ms ./protocol/... ./tree/... ./backend/mi
	$(GO) run ./cmd/internal/check/bench
	$(GO) test -count=1 -timeout 40m -run '^TestFaultSchedules$$' ./cmd/internal/check/e2e -schedules 50

clean: ## remove what was built
	rm -rf $(BIN)
