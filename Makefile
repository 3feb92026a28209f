# Every target does its own set-up. `make run` and `make test` are the two to know.

WORKBENCH = .build/release/workbench

.PHONY: help run test lint format coverage build bootstrap tools

help: ## print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: build ## replay every scenario on every lane; writes build/report.html and build/junit.xml
	@mkdir -p build
	$(WORKBENCH) run scenarios --junit build/junit.xml --html build/report.html --out build/failed

test: bootstrap ## unit tests with coverage
	@scripts/test

build: bootstrap ## release build of the workbench
	swift build -c release --product workbench -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error

lint: ## format check
	@scripts/lint

format: ## rewrite the sources in the repository's format
	swift format --in-place --recursive --parallel Package.swift Sources Tests

coverage: ## line coverage of the last test run; gate on queue and delivery
	@scripts/coverage

bootstrap:
	@scripts/bootstrap

tools:
	@scripts/bootstrap tools
