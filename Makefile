# fornax: build, demo, tests, checks. Every target works on a fresh clone.

HOST := $(shell rustc -vV | sed -n 's/^host: //p')
DIST := dist/fornax
CORPUS ?= ../shared/corpus

ifneq (,$(findstring linux,$(HOST)))
STATIC := -C target-feature=+crt-static
endif

.PHONY: build demo test check fmt clippy doc deny bench fuzz fuzz-check corpus-report clean

# The static, stripped release binary.
build:
	RUSTFLAGS="$(STATIC)" cargo build --release --locked --target $(HOST)
	mkdir -p dist
	cp target/$(HOST)/release/fornax $(DIST)

# The main job end to end in a scratch home, on fixtures of our own.
demo: build
	scripts/demo.sh

# With the moments at which tests end the process, see docs/reliability.md.
test:
	cargo test --locked --features crash-points

check: fmt clippy doc deny

fmt:
	cargo fmt --all --check

clippy:
	cargo clippy --locked --all-targets --features crash-points -- -D warnings

doc:
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --document-private-items

# Licences, advisories and sources, where cargo-deny is installed.
deny:
	@if command -v cargo-deny > /dev/null; then cargo deny --offline check licenses sources bans; \
	else echo "cargo-deny is not installed: skipped"; fi

# Figures beside the budgets; BENCH_SIZE_MB=64 for a quick run. See docs/performance.md.
bench: build
	scripts/bench.sh $(DIST)

# Every fuzz target for some seconds, with coverage, on the stable toolchain.
FUZZ_SECONDS ?= 60
fuzz-check:
	cargo check --locked --manifest-path fuzz/Cargo.toml

fuzz:
	scripts/fuzz.sh $(FUZZ_SECONDS)

# Figures over a folder of real files; writes docs/corpus-report.md.
corpus-report: build
	scripts/corpus_report.py $(DIST) $(CORPUS) docs/corpus-report.md

clean:
	cargo clean
	rm -rf dist
