# Every target does its own set-up. `make run` and `make test` are the two to know.

WORKBENCH = .build/release/workbench
# The same flags for every release build: other flags would build every module anew.
RELEASE = -c release -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error

.PHONY: help run test lint format coverage build bootstrap tools conformance clients soak \
  crash property tsan stored-form bench check-bench docs examples fuzz schemathesis verify-broken

help: ## print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: build ## replay every scenario on every lane; writes build/report.html and build/junit.xml
	@mkdir -p build
	$(WORKBENCH) run scenarios --junit build/junit.xml --html build/report.html --out build/failed

test: bootstrap ## unit tests with coverage
	@scripts/test

build: bootstrap ## release build of the workbench
	swift build $(RELEASE) --product workbench

lint: ## format check
	@scripts/lint

format: ## rewrite the sources in the repository's format
	swift format --in-place --recursive --parallel Package.swift Sources Tests

coverage: ## line coverage of the last test run; gate on queue and delivery
	@scripts/coverage

conformance: build tools ## HTTP/1.1 against h11 and the kinds of h1spec
	@scripts/conformance

clients: build tools ## curl, requests, httpx and aiohttp against the server
	@scripts/clients

soak: build tools ## 100,000 batches with resets and bad bodies; books must agree
	@scripts/soak

crash: bootstrap ## SIGKILL and power loss at every storage operation
	swift build $(RELEASE) --product crashlab
	.build/release/crashlab crash

property: bootstrap ## RUNS=10000 seeded lives of a queue with kills, faults and clock jumps
	swift build $(RELEASE) --product crashlab
	.build/release/crashlab property --runs $(or $(RUNS),10000)

stored-form: bootstrap ## what a stored event costs in each form; DATA=folder of recordings
	swift build $(RELEASE) --product storedform
	.build/release/storedform $(DATA)

tsan: bootstrap ## threads under ThreadSanitizer; PART=server for the server's instead of the SDK's
	@scripts/tsan $(PART)

verify-broken: bootstrap ## every deliberately broken server against `workbench verify`
	@scripts/verify-broken

bench: build ## every speed row next to its limit; ROWS="record drain" picks some
	swift build -c release --package-path Benchmarks --product bench
	Benchmarks/.build/release/bench $(ROWS)

check-bench: build ## type-check the benchmark package
	@scripts/check-bench

docs: bootstrap ## the API pages, built with DocC into build/docs
	@scripts/docs

examples: bootstrap ## the example package, built as a client would
	swift build --package-path Examples/QuickStart

fuzz: bootstrap ## libFuzzer on the HTTP parser, the inflater and the JSON parser; SECONDS_EACH=600
	@scripts/fuzz $(or $(SECONDS_EACH),600)

schemathesis: build tools ## PyPI's schemathesis against the served OpenAPI document; EXAMPLES=10
	@scripts/schemathesis $(or $(EXAMPLES),10)

bootstrap:
	@scripts/bootstrap

tools:
	@scripts/bootstrap tools
