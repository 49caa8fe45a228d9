# make run    builds and starts the server on http://127.0.0.1:8080.
# make demo   does the same with a codelab and forty active attendees. NODES=3 runs it on
#             three nodes, any of which you can kill.
#
# make help   prints this text.
#
# The tests have tiers. All but make quick end with a table of suites that names the failures.
# make quick  runs the tests that need neither a store nor a whole server, in a minute.
# make test   runs the tests of units, stores, the API on one node and the app, and one story
#             per feature in a browser. It takes eight minutes on two processors.
# make ci     runs make test, make check without release-check, and 150 seeds of the
#             simulator. It runs the race detector for packages with goroutines that start no
#             server and write to no disk. On three nodes it runs those tests of the API whose
#             results can differ there. .ci/run installs programs, and runs make ci.
# make long   runs all long tests, in parts of at most 25 minutes. PART is one or more of
#             stories, firefox, nodes, race, simulate, disk, fuzz, pages, release and shake,
#             separated by spaces. CONTRIBUTING.md lists when to run which part.
# make shake  runs make test ten times (ROUNDS) while four busy loops run.
#
# make generators  generates clients with the tools of four languages, and holds a
#               workshop with each. It also runs Schemathesis and the JSON Schema test
#               suite. It needs package registries.
# make test-nodes  runs, on three nodes, the tests of the API whose results can differ there.
# make simulate  runs several nodes in simulated time under random faults, once for each of
#               SEEDS (2000) seeds. SEED=17 repeats one, NODES=3 fixes the number of nodes,
#               and FOR=8h tries new seeds for 8 hours.
# make simulate-mutants  removes, one at a time, the lines that implement guarantees, and
#               reports which tests notice. MUTANT=17 tries only that one, LIMIT=10000 raises
#               the number of seeds.
# make powercut  runs a server on a simulated disk (FUSE) through 200 power cuts and every
#               kind of disk fault. Without FUSE it uses recorded traces. POINT=17 SEED=3
#               repeats a cut of the last run, FAULT='EIO (sync), table' tries one fault,
#               and RECORD=1 records the traces of the tests again.
# make check  runs format, vet, staticcheck and prose, and verifies that generated files are
#               up to date. For the browser app it runs Prettier, types and eslint.
# make prose  counts and lists the findings of the language rules of .vale in pages,
#               comments and texts. make check fails if a path in .vale/clean has one.
#
# make fuzz     runs every fuzz test for FUZZTIME (10s).
# make bench    runs every Go benchmark. Results are in bench/RESULTS.md.
# make peers    runs the load generator alternately against other servers, for half an hour.
#               SHORT=1 only checks in five minutes that everything works, and writes
#               nothing. make peers-test runs the tests of bench/peers.
# make regress BASE=HEAD~20  compares this tree's server with that of the commit BASE. Both do
#               the same work alternately, for a quarter of an hour on two quiet cores. It
#               fails if this tree is slower by a significant 7 % or more. SHORT=1 only checks
#               in two minutes that everything works, and does not judge the speed.
#               REGRESS_FLAGS='--json FILE' writes all numbers.
# make audit    looks for known vulnerabilities, if the lists of them can be downloaded.
# make dependencies  measures the size of each module in the server, for DEPENDENCIES.md.
# make version  prints the version of the next build.
# make release  makes archives, packages, images, checksums, licences and more, in dist/. The
#               same commit gives the same bytes. ONLY=package or image makes only that.
#
# go.mod contains the required version of Go, package.json of the browser app that of Node.
# With NODE=none the build needs no Node: it uses the app from the last build. Tests in a
# browser run only if Chromium is installed. NEED_PROGRAMS=1 turns a missing program into an
# error.
GO      ?= go
NODE    ?= node
# The top heading of CHANGELOG.md is the version. If it is "Unreleased", the version is the
# next patch after the newest release, as in 1.0.1-dev+COMMIT, or 1.0.0 before the first.
VERSION ?= $(shell awk -v commit="$$(git describe --always --abbrev=12 --dirty --exclude '*' 2>/dev/null || echo unknown)" \
	'/^\#\# / { if ($$2 == "Unreleased") { dev = 1; next } v = $$2; exit } \
	END { n = split(v, p, "."); if (!dev) print v; else print (n == 3 ? p[1] "." p[2] "." p[3] + 1 : "1.0.0") "-dev+" commit }' CHANGELOG.md)
# Every go command gets the same flags, so that each package is compiled once, in whatever folder
# the sources are.
export GOFLAGS := -trimpath $(GOFLAGS)
LDFLAGS  = -s -w -X atelier/cmd/internal/process.version=$(VERSION)

APP       := transport/web/app
BUILT     := transport/web/built/index.html
INSTALLED := $(APP)/node_modules/.installed

GO_NEEDED   := $(shell sed -n 's/^go \([0-9]*\.[0-9]*\).*/\1/p' go.mod)
NODE_NEEDED := $(shell sed -n 's/.*"node": ">=\([0-9.]*\)".*/\1/p' $(APP)/package.json)
GO_FOUND     = $(shell $(GO) version 2>/dev/null | sed -n 's/.*go\([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p')
NODE_FOUND  := $(if $(filter-out none,$(NODE)),$(shell $(NODE) --version 2>/dev/null | sed -n 's/^v\([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p'))
# at_least FOUND,NEEDED is "yes" when the first version is the second or newer.
at_least  = $(shell echo '$(1).$(2)' | awk -F. '$$1 > $$3 || ($$1 == $$3 && $$2 >= $$4) {print "yes"}')
found     = $(if $(2),"$(1)" is $(2),there is no "$(1)")
HAVE_NPM  := $(shell command -v npm)
HAVE_NODE := $(and $(NODE_FOUND),$(HAVE_NPM),$(call at_least,$(NODE_FOUND),$(NODE_NEEDED)))
CHROMIUM  ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
FIREFOX   ?= $(shell command -v firefox-esr || command -v firefox)
export CHROMIUM
# The sources of the app, without generated files. Git also lists deleted files, which wildcard
# drops.
APP_SOURCES := $(wildcard $(shell git ls-files -co --exclude-standard $(APP) 2>/dev/null || find $(APP) -name node_modules -prune -o -type f -print) \
	transport/rest/openapi.json transport/messages/asyncapi.json \
	CHANGELOG.md bench/README.md cmd/atelier/deploy/*.md transport/handler/*.md transport/commerce/*.md \
	transport/web/pictures/*.png transport/rest/RULES.md transport/rest/clients/README.md transport/rest/clients/webhooks/README.md)

.PHONY: all help need-go build app run demo test go-test ci shake shake-once long go-long test-nodes test-nodes-long pages simulate-long simulation-tests powercut-tests simulate-ci go-check race race-all generators quick simulate simulate-mutants powercut app-test app-stories firefox-stories check app-check fmt generate fresh size fuzz bench budgets peers peers-build peers-test regress screenshots pictures audit version dependencies release release-check release-tests clean
.DELETE_ON_ERROR:

all: build

help:
	@sed -n '/^GO /q; s/^# \{0,1\}//p' Makefile

need-go:
	@test -n '$(call at_least,$(GO_FOUND),$(GO_NEEDED))' || { \
		echo 'Atelier needs Go $(GO_NEEDED) or newer, and $(call found,$(GO),$(GO_FOUND)): see https://go.dev/dl'; exit 1; }

build: need-go app
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/atelier ./cmd/atelier
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/atelier-bench ./cmd/atelier-bench
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/commerce ./cmd/commerce

run: build
	bin/atelier serve --config config.toml

demo: build
	bin/atelier-bench demo $(if $(NODES),--nodes $(NODES))

# The timeout of a package, long enough for a busy machine. CI sets a shorter one, so that go test
# names a hanging test before CI itself times out.
TEST_TIMEOUT ?= 60m
# bin/suites reports the result of each test (cmd/internal/suites). make check vets everything.
# FRESH=1 also runs tests whose result is cached.
GOTEST := $(GO) test -vet off $(if $(REPORT),-json) $(if $(FRESH),-count 1) -timeout $(TEST_TIMEOUT)
SUITES := bin/suites
.PHONY: $(SUITES)
$(SUITES): need-go
	@$(GO) build -o $@ ./cmd/internal/suites

test: build $(SUITES) bin/s3test
	@$(SUITES) go-test,app-test

# The tests of the simulator and of failing disks run only in make long, in parts of their own.
LONG_ONLY := /cmd/atelier/(simulation|powercut)(/|$$)
go-test: build bin/s3test
	$(GOTEST) -p 3 $$($(GO) list ./... | grep -vE '$(LONG_ONLY)')

ci: build $(SUITES) bin/s3test
	@$(SUITES) go-test,app-test,app-check,race,go-check,test-nodes simulate-ci

shake: build $(SUITES) bin/s3test
	@FRESH=1 $(SUITES) -repeat $(or $(ROUNDS),10) -spinners 4 go-test,app-test

shake-once:
	@$(MAKE) --no-print-directory shake ROUNDS=1

# The targets of each part.
LONG_stories  := app-stories
LONG_firefox  := firefox-stories
LONG_nodes    := go-long test-nodes-long
LONG_race     := race-all
LONG_simulate := simulate-long simulation-tests
LONG_disk     := powercut powercut-tests
LONG_fuzz     := fuzz
LONG_pages    := generators pages
LONG_release  := release-tests
LONG_shake    := shake-once
PARTS         := stories firefox nodes race simulate disk fuzz pages release shake
long: build $(SUITES) bin/s3test
	$(foreach p,$(PART),$(if $(LONG_$(p)),,$(error there is no part $(p); the parts are $(PARTS))))
	@$(SUITES) $(foreach p,$(or $(PART),$(PARTS)),$(LONG_$(p)))

# All slow tests on one node, and those of the API on three.
go-long: build bin/s3test
	LONG_TESTS=1 $(GOTEST) ./cmd/atelier/acceptance ./cmd/atelier/nodes ./cmd/atelier-bench ./actors/token

test-nodes-long: build bin/s3test
	LONG_TESTS=1 TEST_NODES=3 $(GOTEST) ./cmd/atelier/acceptance

# Tests that run the commands of the pages.
pages: build
	LONG_TESTS=1 $(GOTEST) -count 1 -run 'Samples|Compose|TheUnit|BackupUnit|Evening|Systemd|Alerts|ImageCanBeBuilt|Containers|CoreDump' ./cmd/atelier/acceptance

simulate-long simulate-ci:
	@$(MAKE) --no-print-directory simulate SEEDS=$(if $(filter %ci,$@),150,2000)

simulation-tests powercut-tests: bin/s3test
	$(GOTEST) $(if $(filter simulation%,$@),./cmd/atelier/simulation/...,./cmd/atelier/powercut ./persistence/powercut)

# The S3 server of the tests. It is a separate module because it has about 200 dependencies.
S3TEST := persistence/objects/s3test
bin/s3test: $(S3TEST)/main.go $(S3TEST)/go.mod $(S3TEST)/go.sum
	cd $(S3TEST) && $(GO) build -o $(CURDIR)/$@ .

# Clients in Python, Go, TypeScript and Java, generated from the documents with tools from package
# registries. This needs a network, python3, npm and Maven.
generators:
	ATELIER_GENERATORS=1 $(GOTEST) -v -count 1 -run 'ClientHoldsAWorkshop|HaveModels|Schemathesis|JSONSchemaTestSuite' ./cmd/atelier/acceptance ./transport/commerce/schema

test-nodes: bin/s3test
	TEST_NODES=3 $(GOTEST) ./cmd/atelier/acceptance

# One process per processor, and one processor per process: then Go schedules goroutines in nearly
# the same order each time.
SEEDS ?= 2000
SIMULATED = $(if $(NODES),nodes=$(NODES)) $(PLAN)
simulate:
	@$(GO) test -c -o bin/simulation.test ./cmd/atelier/simulation
	@bin/simulation.test -test.run '^TestSimulation$$' -test.timeout 0 -plan '$(strip $(SIMULATED))' \
		$(if $(SEED),-first $(SEED) -seeds 1 -workers 1,-seeds $(SEEDS) -workers $$(getconf _NPROCESSORS_ONLN)) $(if $(FOR),-for $(FOR))

simulate-mutants:
	@nice $(GO) run ./cmd/atelier/simulation/mutants $(if $(MUTANT),-mutant $(MUTANT)) $(if $(LIMIT),-limit $(LIMIT))

# Simulates the disk below the server. The trace of a live run is in .powercut, so that a point can
# be repeated.
POWERCUT := bin/powercut.test -test.v -test.timeout 20m
powercut:
	@$(GO) test -c -o bin/powercut.test ./cmd/atelier/powercut
	@mkdir -p .powercut
ifdef POINT
	@cd cmd/atelier/powercut && ../../../$(POWERCUT) -test.run PowerCuts -last $(CURDIR)/.powercut -point $(POINT) $(if $(SEED),-seed $(SEED))
else ifdef FAULT
	@cd cmd/atelier/powercut && ../../../$(POWERCUT) -test.run Faults -live -fault '$(FAULT)' $(if $(SEED),-seed $(SEED))
else ifdef RECORD
	@cd cmd/atelier/powercut && ../../../$(POWERCUT) -test.run PowerCuts -record -points 200
else
	@cd cmd/atelier/powercut && ../../../$(POWERCUT) -test.run 'PowerCuts|Faults' -live -last $(CURDIR)/.powercut -points 200 $(if $(SEED),-seed $(SEED))
endif

# make quick leaves out packages whose tests start whole servers or write to disks.
SLOW := /acceptance$$|/cmd/(atelier/(simulation|powercut|service)|atelier$$|atelier-bench|commerce|internal)|/persistence/(badger|postgres|objects)|/bench|/transport/(server|live|web)(/|$$)
# The rest takes less than 60 processor seconds. Properties try a fifth of the cases of
# make test. Four packages run at once, because some only wait.
quick: need-go
	$(GOTEST) -short -p 4 $$($(GO) list ./... | grep -vE '$(SLOW)')

# Go can fuzz only one test at a time. Before Go 1.27, the end of the time is sometimes reported as a
# failure without a failing input (go.dev/issue/75804). Such a test is repeated.
FUZZTIME ?= 10s
fuzz:
	@git ls-files '*_test.go' | xargs grep -l '^func Fuzz' | while read -r f; do \
		for t in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$$f"); do \
			echo "$$(dirname "$$f") $$t"; \
			until $(GO) test -run '^$$' -fuzz "^$$t$$" -fuzztime $(FUZZTIME) "./$$(dirname "$$f")" >.fuzz.out 2>&1; do \
				cat .fuzz.out; \
				if grep -q 'Failing input' .fuzz.out || ! grep -q 'context deadline exceeded' .fuzz.out; then rm .fuzz.out; exit 1; fi; \
			done; \
		done || exit 1; \
	done && rm -f .fuzz.out

BENCHTIME ?= 1s
bench:
	$(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) -benchmem -timeout 60m $$($(GO) list ./... | grep -v /acceptance$$)

# A separate module, so that the other servers' dependencies stay out of Atelier.
PEERS := bench/peers
PEERS_FLAGS ?=
peers: peers-build
	bin/peers compare --bench bin/atelier-bench --node $(PEERS)/node $(if $(SHORT),--short --rounds 1 --duration 2s --warmup 500ms,--into bench/RESULTS.md) $(PEERS_FLAGS)

peers-test: peers-build
	cd $(PEERS) && $(GO) vet ./... && $(GO) test ./...

peers-build: $(if $(HAVE_NODE),$(PEERS)/node/node_modules/.installed)
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/atelier ./cmd/atelier-bench
	cd $(PEERS) && $(GO) build -o ../../bin/peers .

# COPY_SOURCES copies this tree to a folder, with uncommitted files and without ignored ones. Git
# also lists deleted files, which ls drops.
COPY_SOURCES = git ls-files -co --exclude-standard -z | xargs -0 ls -d 2>/dev/null | tar -c -T - | tar -x -C $(1)

# Both servers are built in folders of their own without the app, because an embedded app takes
# memory. Uncommitted changes are included.
REGRESS_FLAGS ?=
REGRESS_BUILD  = $(GO) build -ldflags '$(LDFLAGS)' -o ../$(1)-atelier ./cmd/atelier
regress: need-go
	@git rev-parse --verify --quiet '$(BASE)^{commit}' >/dev/null || { \
		echo '$(if $(BASE),there is no commit $(BASE): )say make regress BASE=COMMIT, with the commit to compare this tree with'; exit 1; }
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/atelier-bench
	@dir=$$(mktemp -d) || exit 1; trap 'rm -rf "$$dir"' EXIT; trap 'exit 130' INT TERM HUP; \
	set -e; mkdir "$$dir/base" "$$dir/new"; echo 'building the servers of $(BASE) and of this tree'; \
	git archive '$(BASE)' | tar -x -C "$$dir/base"; \
	$(call COPY_SOURCES,"$$dir/new"); \
	(cd "$$dir/base" && $(call REGRESS_BUILD,base)); (cd "$$dir/new" && $(call REGRESS_BUILD,new)); \
	bin/atelier-bench regress --base "$$dir/base-atelier" --base-name "$$(git log -1 --format='%h %s' '$(BASE)')" \
		--new "$$dir/new-atelier" --new-name "$$(git log -1 --format='%h %s')$$(git diff --quiet HEAD || echo ', with changes')" \
		$(if $(SHORT),--short) $(REGRESS_FLAGS)

check: go-check app-check release-check

go-check: need-go fmt fresh prose-check
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

# The modules that make releases, and the workflows of the forge. CI does not check them, because
# compiling what only they need takes a minute on a fresh machine. make long PART=release does.
release-check: need-go
	cd .release && $(GO) vet ./...
	cd .ci/tools && GOFLAGS= $(GO) tool actionlint -shellcheck= -pyflakes= ../../.github/workflows/*.yml

# Vale with the rules of .vale. It is a separate module, so that its dependencies stay out of
# Atelier. It needs a C compiler, as the race detector does. Its parsers of programming languages
# are not used here, so it is compiled without optimization.
.PHONY: prose prose-check prose-extend
bin/vale: .vale/go.mod .vale/go.sum
	cd .vale && CGO_CFLAGS=-O0 GOFLAGS= $(GO) build -o $(CURDIR)/$@ github.com/vale-cli/vale/v3/cmd/vale

prose: need-go bin/vale
	@$(GO) run ./cmd/internal/prose

prose-check: need-go bin/vale
	@$(GO) run ./cmd/internal/prose -clean

prose-extend: need-go bin/vale
	@$(GO) run ./cmd/internal/prose -extend

# The race detector for packages that use goroutines, without those that start whole servers.
# Property tests try a fifth of their cases. race-all includes every package. The arithmetic of
# cryptography is not instrumented: it shares no data between goroutines, and password hashing would
# take a fifth of the time.
RACE := -race '-gcflags=golang.org/x/crypto/...=-race=false' '-gcflags=crypto/internal/fips140/...=-race=false'
race: $(SUITES)
	$(GOTEST) $(RACE) -short $$($(SUITES) -concurrent $$($(GO) list ./... | grep -vE '$(SLOW)'))

race-all: build bin/s3test
	$(GOTEST) $(RACE) ./...

# The browser app. Its last step runs after the page is written. If it fails, .DELETE_ON_ERROR
# removes the page, so that the next make builds it again.
ifeq ($(HAVE_NODE),yes)
app: $(BUILT)

$(BUILT): $(INSTALLED) $(APP_SOURCES)
	@echo "building the browser app, which takes half a minute"
	@cd $(APP) && npm run --silent build
	@touch $@

PACKAGES_SIZE := 180 MB to download, 420 MB on disk
# The stamp is a copy of the installed lock file, so a lock file with only a newer date installs
# nothing. Packages for the browser declare Node versions that do not matter here; --loglevel error
# hides npm's warnings about them.
$(INSTALLED): $(APP)/package-lock.json
	@cmp -s $< $@ || { \
		echo 'installing the Node packages of the browser app: $(PACKAGES_SIZE); this takes some minutes'; \
		cd $(APP) && npm ci --no-audit --no-fund --loglevel error; }
	@cp $< $@

$(PEERS)/node/node_modules/.installed: $(PEERS)/node/package-lock.json
	cd $(PEERS)/node && npm ci --no-audit --no-fund
	@cp $< $@

app-check: $(INSTALLED)
	cd $(APP) && npm run --silent formatted && npm run --silent check && npm run --silent lint

app-test: build $(INSTALLED) $(if $(CHROMIUM),bin/identity-provider)
	cd $(APP) && npm run --silent test
ifneq ($(CHROMIUM),)
	cd $(APP) && npm run --silent e2e
else
	@$(call missing,the tests in a browser are left out: there is no Chromium)
endif

# All stories in a browser. app-test runs one per feature.
app-stories: build $(INSTALLED) $(if $(CHROMIUM),bin/identity-provider)
ifneq ($(CHROMIUM),)
	cd $(APP) && LONG_TESTS=1 npx vitest run src/markdown/leaks.test.ts
	cd $(APP) && npm run --silent e2e:long
else
	@$(call missing,the tests in a browser are left out: there is no Chromium)
endif

# The same in the distribution's Firefox.
firefox-stories: build $(INSTALLED) $(if $(FIREFOX),bin/identity-provider)
ifneq ($(FIREFOX),)
	cd $(APP) && BROWSER=firefox FIREFOX='$(FIREFOX)' npm run --silent e2e:long
else
	@$(call missing,the tests in Firefox are left out: there is no Firefox)
endif

# The identity provider of those tests. A separate module, so that its dependencies stay out of
# Atelier.
PROVIDER := transport/web/e2e/provider
bin/identity-provider: $(PROVIDER)/main.go $(PROVIDER)/go.mod $(PROVIDER)/go.sum
	cd $(PROVIDER) && $(GO) build -o $(CURDIR)/$@ .

# Measures how long things take in a browser, on a quiet machine.
budgets: build
	cd $(APP) && npm run --silent budgets

# Captures every screen in dist/looks/index.html. With STILLS=FOLDER, each is beside the picture of
# the same name from that folder.
screenshots: build
	cd $(APP) && $(if $(STILLS),STILLS='$(abspath $(STILLS))') npm run --silent looks

# The pictures of the README.
pictures: build
	cd $(APP) && npm run --silent pictures
else ifeq ($(NODE),none)
app app-test app-stories firefox-stories app-check:
	@$(call missing,the browser app is $(if $(wildcard $(BUILT)),as it was built last,left out): NODE=none)

budgets screenshots pictures:
	@echo 'this needs Node $(NODE_NEEDED) or newer with npm'; exit 1
else
app app-test app-stories firefox-stories app-check budgets screenshots pictures: need-go
	@echo 'the browser app needs Node $(NODE_NEEDED) or newer with npm, and $(if $(HAVE_NPM),$(call found,$(NODE),$(NODE_FOUND)),there is no "npm"): see https://nodejs.org, or build without the app: make NODE=none'; exit 1
endif

missing = echo '$(1)'; test -z '$(NEED_PROGRAMS)'

fmt:
	@out=$$(git ls-files -co --exclude-standard '*.go' | xargs -r gofmt -l); test -z "$$out" || { echo "not formatted: $$out"; exit 1; }

# All generated files: codecs, documents, config.toml, and lists in documents. The app's types are
# generated whenever the app is built, and NOTICE is generated with a release.
generate:
	$(GO) generate ./...

# Checks that make generate changes nothing. It runs in a copy, because other suites compile these
# files at the same time.
fresh:
	@copy=$$(mktemp -d) && trap 'rm -rf "$$copy"' EXIT && mkdir "$$copy/tree" && $(call COPY_SOURCES,"$$copy/tree") && \
	cd "$$copy/tree" && $(SUMS) > ../before && $(MAKE) --no-print-directory generate >/dev/null && $(SUMS) > ../after && \
	diff ../before ../after || { echo 'these generated files are out of date: run make generate'; exit 1; }
SUMS := find . -type f -print0 | sort -z | xargs -0 sha256sum

# Hand-written lines by folder, packages, and generated lines, for the table in
# CONTRIBUTING.md. Lines of tests and test support are left out; a line of over 120 columns
# counts once per 120. Test support has a row of its own: suites that several packages run,
# test doubles, and the simulated disk.
WRITTEN := git ls-files '*.go' | grep -vE '_test\.go$$|^bench/peers/' | xargs grep -L '^// Code generated'
SUPPORT := /[a-z0-9]+test/|/codelab/(draw|oracle)/|/persistence/(powercut/|memory/faults)|/simulation/|/cmd/atelier/powercut/|/e2e/|/internal/(suites|house)/
COUNTED := xargs cat | awk '{n += 1 + int((length($$0) - 1) / 120)} END {print n}'
size:
	@for d in actors transport persistence cmd bench; do \
		printf '%-12s %s\n' $$d "$$($(WRITTEN) | grep "^$$d/" | grep -vE '$(SUPPORT)' | $(COUNTED))"; done
	@printf '%-12s %s\n' 'test support' "$$($(WRITTEN) | grep -E '$(SUPPORT)' | $(COUNTED))" \
		tests "$$(git ls-files '*_test.go' | grep -v '^bench/peers/' | $(COUNTED))" \
		generated "$$(git ls-files '*.go' | grep -v _test.go | xargs grep -l '^// Code generated' | xargs cat | wc -l)" \
		packages "$$($(GO) list ./... | wc -l)"

audit:
	@$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./... || echo 'Go modules with vulnerabilities were found, or the list could not be downloaded: see above'
ifeq ($(HAVE_NODE),yes)
	@cd $(APP) && npm audit --omit=dev || echo 'npm packages with vulnerabilities were found, or the list could not be downloaded: see above'
endif

# The tables of DEPENDENCIES.md that are measured.
dependencies: need-go app
	cd .release && $(GO) run . -version '$(VERSION)' -into ../dist -only dependencies

version:
	@echo '$(VERSION)'

# A separate module, so that the dependencies of the packaging stay out of Atelier. The app is
# embedded, so it must be built.
PLATFORMS ?= linux/amd64 linux/arm64 darwin/arm64
release: need-go app
	cd .release && $(GO) run . -version '$(VERSION)' -platforms '$(PLATFORMS)' $(if $(ONLY),-only $(ONLY))
	@cd dist && ls -s --block-size=KB

# Builds the release twice, installs it and queries the running server. This needs root,
# debootstrap with a mirror of Debian, and skopeo.
release-tests: release release-check
	cd .release && LONG_TESTS=1 $(GOTEST) -count 1 ./...

clean:
	rm -rf bin dist .powercut
	find transport/web/built -mindepth 1 ! -name .gitignore -delete
