# make run    builds and starts the server on http://127.0.0.1:8080
# make test   passes the tests
# make check  format, vet, staticcheck, race detector, generated files fresh
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)

.PHONY: all build run test check fmt generate fresh fuzz bench clean

all: build

build:
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/atelier ./cmd/atelier
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/atelier-bench ./cmd/atelier-bench
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/commerce ./cmd/commerce

run: build
	bin/atelier serve --config config.toml

test:
	$(GO) test -timeout 15m ./...

check: fmt fresh
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) test -race -timeout 18m ./...

fmt:
	@out=$$(git ls-files -co --exclude-standard '*.go' | xargs -r gofmt -l); test -z "$$out" || { echo "not formatted: $$out"; exit 1; }

generate:
	$(GO) generate ./...

# Generated files are what their sources give.
fresh:
	@for d in actors/*/*pb; do (cd $$d && $(GO) run atelier/actors/internal/protogen -check) || exit 1; done

clean:
	rm -rf bin
