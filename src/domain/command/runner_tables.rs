//! The options of the test runners, as tables.
//!
//! Only what is known to leave a run whole is listed as such; everything else narrows it. `stops`
//! are options with which no test runs at all (`--no-run`, `--collect-only`, `--help`).

use super::options::{NONE, Options};

const HELP: &[&str] = &["--help", "-h", "--version"];

/// After `cargo test --`: options of the test harness.
pub(super) const HARNESS: Options = Options {
    flags: &[
        "--nocapture", "--no-capture", "--show-output", "--include-ignored", "-q", "--quiet",
    ],
    values: &["--test-threads", "--format", "--color", "-Z", "--logfile", "--report-time"],
    narrowing: &["--skip"],
    stops: &["--list", "--help", "-h"],
    ..NONE
};

pub(super) const CARGO: Options = Options {
    flags: &[
        "--release", "-r", "--all-features", "--no-default-features", "--workspace", "--all",
        "--quiet", "-q", "-v", "--verbose", "--no-fail-fast", "--locked", "--frozen", "--offline",
        "--all-targets", "--keep-going", "--future-incompat-report", "--nocapture", "--no-capture",
        "--unit-graph", "--timings", "--ignore-rust-version",
    ],
    values: &[
        "--features", "-F", "-j", "--jobs", "--target", "--target-dir", "--profile",
        "--manifest-path", "--color", "--message-format", "--config", "-Z", "--test-threads",
        "--retries", "--cargo-profile", "--status-level", "--final-status-level", "--lcov",
        "--output-path", "--failure-output", "--success-output", "--show-progress",
    ],
    narrowing: &[
        "-p", "--package", "--test", "--bin", "--bench", "--example", "--exclude", "-E",
        "--filter-expr", "--filterset", "--partition", "--skip",
    ],
    stops: &["--no-run", "--help", "-h", "--version", "-V", "--list"],
    whole: &[],
    after: Some(&HARNESS),
};

pub(super) const PYTEST: Options = Options {
    flags: &[
        "-v", "--verbose", "-q", "--quiet", "-s", "-x", "--exitfirst", "-l", "--showlocals",
        "--cov", "--no-cov", "--no-header", "--no-summary", "--strict-markers", "--strict",
        "--strict-config", "--disable-warnings", "--disable-pytest-warnings", "--full-trace",
        "--ff", "--failed-first", "--nf", "--new-first", "--cache-clear", "-rA", "-ra", "-rs",
        "-rf", "-rN", "-rP", "-rfE", "-rsx", "--benchmark-disable", "--benchmark-skip",
        "--runslow", "--cov-branch", "--code-style",
    ],
    values: &[
        "-n", "-W", "-o", "-p", "-c", "-r", "--rootdir", "--override-ini", "--tb", "--durations",
        "--color", "--cov-report", "--show-capture", "--capture", "--verbosity", "--junitxml",
        "--junit-xml", "--timeout", "--maxfail", "--import-mode", "--asyncio-mode",
        "--cov-fail-under", "--cov-config", "--dist", "--numprocesses", "--log-level",
        "--log-cli-level", "--reruns",
    ],
    narrowing: &["-k", "-m", "--deselect", "--ignore", "--ignore-glob"],
    stops: &[
        "--version", "-V", "--collect-only", "--co", "--help", "-h", "--fixtures", "--markers",
        "--setup-plan", "--cache-show", "--trace-config",
    ],
    whole: &["."],
    after: None,
};

pub(super) const UNITTEST: Options = Options {
    flags: &["-v", "--verbose", "-q", "--quiet", "-b", "--buffer", "-f", "--failfast", "--locals"],
    values: &["-t", "--top-level-directory", "-s", "--start-directory", "-p", "--pattern"],
    narrowing: &["-k"],
    stops: HELP,
    whole: &["discover"],
    after: None,
};

pub(super) const DJANGO: Options = Options {
    flags: &["--keepdb", "--noinput", "--no-input", "--failfast", "--parallel"],
    values: &["--settings", "-v", "--verbosity"],
    narrowing: &["-k", "--tag", "--exclude-tag", "--pattern", "-p"],
    stops: HELP,
    ..NONE
};

pub(super) const TOX: Options = Options {
    flags: &["-q", "-v", "-r", "--recreate", "-p", "--parallel", "--reuse-existing-virtualenvs"],
    values: &["-c", "--conf", "--workdir"],
    narrowing: &["-e", "-s", "-f", "-k", "-t", "-m"],
    stops: &["--help", "-h", "--version", "-l", "--list", "--notest", "-n", "--showconfig"],
    ..NONE
};

/// `jest`, `vitest`, `mocha`, and what stands behind `npm test --`.
pub(super) const JS: Options = Options {
    flags: &[
        "--ci", "--coverage", "--no-coverage", "--silent", "--verbose", "--runInBand", "-i",
        "--bail", "-b", "--run", "--watch=false", "--watchAll=false", "--no-watch", "--colors",
        "--no-colors", "--color", "--no-color", "--detectOpenHandles", "--forceExit", "--exit",
        "--passWithNoTests", "--no-cache", "--logHeapUsage", "--expose-gc", "--json",
        "--no-file-parallelism", "--experimental-vm-modules", "--coverage.enabled",
        "--watch-all=false", "--no-watchman", "--pass-with-no-tests", "--dom", "--recursive",
        "--parallel", "--single-run", "--experimental-test-coverage", "--test", "--silent=false",
        "--verbose=false", "-A", "--allow-all", "--allow-read", "--allow-net", "--allow-env",
        "--allow-write", "--no-check", "--allow-run", "--enable-source-maps",
    ],
    values: &[
        "-w", "--require", "-r", "--import", "--loader", "-R", "--reporter", "--reporters",
        "--maxWorkers", "--testTimeout", "--globals", "--outputFile", "--pool", "--test-reporter",
        "--environment", "--timeout",
    ],
    narrowing: &[
        "-t", "--testNamePattern", "--grep", "-g", "--fgrep", "-f", "--testPathPattern",
        "--testPathPatterns", "--project", "--selectProjects", "--shard", "--changedSince", "-c",
        "--config", "--test-name-pattern", "--related", "--filter", "--dir", "--root",
        "--coverage.include", "--testPathIgnorePatterns", "--exclude",
    ],
    stops: &[
        "--help", "-h", "--version", "-v", "--listTests", "--showConfig", "--init",
        "--clearCache", "--no-run", "--dry-run",
    ],
    whole: &["run"],
    after: None,
};

/// Before `--` in `npm test`: options of the package manager.
pub(super) const NPM: Options = Options {
    flags: &[
        "--silent", "-s", "--workspaces", "-ws", "-r", "--recursive", "--no-color", "--color",
        "--stream", "--verbose", "--include-workspace-root", "--parallel", "-A", "--all", "-v",
        "-t", "--quiet", "-d",
    ],
    values: &["--prefix", "-C", "--dir", "--cwd", "--loglevel"],
    narrowing: &["-w", "--workspace", "--filter", "-F"],
    stops: &["--help", "-h", "--version"],
    whole: &[],
    after: Some(&JS),
};

pub(super) const GO: Options = Options {
    flags: &[
        "-v", "-race", "-cover", "-failfast", "-json", "-shuffle", "-vet", "-x", "-a", "-trimpath",
        "-msan", "-asan", "-benchmem", "-fullpath",
    ],
    values: &[
        "-count", "-timeout", "-tags", "-mod", "-covermode", "-coverprofile", "-coverpkg",
        "-parallel", "-p", "-exec", "-o", "-bench", "-benchtime", "-gcflags", "-ldflags", "-cpu",
        "-C", "-f", "--format", "--junitfile", "-modfile",
    ],
    narrowing: &["-run", "-skip", "-fuzz"],
    stops: &["-c", "-list", "-n", "-h", "-help", "--help"],
    whole: &["./...", "...", "all"],
    after: None,
};

pub(super) const MAVEN: Options = Options {
    flags: &[
        "-q", "-B", "-o", "-U", "-e", "-X", "-am", "--quiet", "--batch-mode", "--offline", "-ntp",
        "--no-transfer-progress", "-fae", "--fail-at-end", "-ff", "-V", "-nsu", "--errors",
    ],
    values: &["-T", "-f", "--file", "-s", "--settings", "--threads", "-P"],
    narrowing: &["-pl", "--projects", "-rf"],
    stops: &["-DskipTests", "-Dmaven.test.skip", "--help", "-h", "--version", "-v"],
    whole: &[
        "clean", "compile", "test", "verify", "validate", "install", "package",
        "integration-test", "test-compile", "process-classes",
    ],
    after: None,
};

pub(super) const GRADLE: Options = Options {
    flags: &[
        "--continue", "--info", "--debug", "--stacktrace", "--full-stacktrace", "-s", "-S", "-i",
        "-q", "--quiet", "--no-daemon", "--daemon", "--offline", "--rerun-tasks", "--parallel",
        "--no-parallel", "--build-cache", "--no-build-cache", "--console", "--warning-mode",
        "--scan", "--no-scan", "--configuration-cache", "--no-configuration-cache", "--warn",
        "--refresh-dependencies", "-w",
    ],
    values: &["-p", "--project-dir", "-c", "--max-workers", "-b", "-I", "--init-script"],
    narrowing: &["--tests", "-x", "--exclude-task"],
    stops: &["--help", "-h", "--version", "-v", "--dry-run", "-m"],
    whole: &["clean", "test", "check", "build", "assemble", "cleanTest", "allTests", "jvmTest"],
    after: None,
};

pub(super) const DOTNET: Options = Options {
    flags: &[
        "--no-build", "--no-restore", "--nologo", "--blame", "-m", "/m", "-p", "--tl",
        "--blame-hang", "--interactive", "--force",
    ],
    values: &[
        "-c", "--configuration", "-v", "--verbosity", "--logger", "-l", "--results-directory",
        "--collect", "-r", "--settings", "-o", "--output", "-a", "--arch", "--os", "--runtime",
    ],
    narrowing: &["--filter", "-f", "--framework"],
    stops: &["--list-tests", "-t", "--help", "-h", "-?"],
    ..NONE
};

pub(super) const CTEST: Options = Options {
    flags: &[
        "--output-on-failure", "-V", "--verbose", "-VV", "-Q", "--quiet", "--progress",
        "--no-tests", "--schedule-random", "--stop-on-failure",
    ],
    values: &[
        "-j", "--parallel", "--test-dir", "-C", "--build-config", "--timeout", "--repeat",
        "--output-junit", "-O", "--preset",
    ],
    narrowing: &[
        "-R", "--tests-regex", "-E", "--exclude-regex", "-L", "--label-regex", "-LE", "-I",
        "--label-exclude",
    ],
    stops: &["-N", "--show-only", "--help", "-H", "--version", "--print-labels", "--list-presets"],
    ..NONE
};

pub(super) const MAKE: Options = Options {
    flags: &["-s", "--silent", "--quiet", "-k", "--keep-going", "-B", "--no-print-directory", "-w"],
    values: &["-C", "--directory", "-f", "--file", "--makefile", "-j", "--jobs", "-l"],
    narrowing: &[],
    stops: &["-n", "--dry-run", "--just-print", "--help", "-h", "--version", "-q", "-p", "-t"],
    whole: &["test", "tests", "check"],
    after: None,
};

pub(super) const JUST: Options = Options {
    flags: &["-q", "--quiet", "-v", "--verbose"],
    values: &["-f", "--justfile", "-d", "--working-directory", "--dir", "-t", "--taskfile"],
    stops: &["-n", "--dry-run", "--list", "-l", "--show", "--help", "-h", "--version", "--dump"],
    whole: &["test", "tests", "check"],
    ..NONE
};

pub(super) const RUBY: Options = Options {
    flags: &[
        "-b", "--backtrace", "-c", "--color", "--no-color", "--fail-fast", "-v", "--verbose", "-w",
        "--profile", "-p", "--force-color", "-d", "--defer-output",
    ],
    values: &["-f", "--format", "-o", "--out", "-r", "--require", "-s", "--seed", "--order"],
    narrowing: &["-e", "--example", "-t", "--tag", "-n", "--name", "-P", "--pattern"],
    stops: &["--help", "-h", "--version", "--dry-run", "--init"],
    whole: &["test", "spec", "."],
    after: None,
};

pub(super) const MIX: Options = Options {
    flags: &[
        "--cover", "--trace", "--force", "--no-color", "--color", "--warnings-as-errors",
        "--raise", "--no-compile", "--no-start", "--umbrella-only",
    ],
    values: &["--seed", "--max-failures", "--max-cases", "--timeout", "--formatter", "--slowest"],
    narrowing: &["--only", "--include", "--exclude", "--partitions", "--failed"],
    stops: HELP,
    ..NONE
};

pub(super) const PHP: Options = Options {
    flags: &[
        "--colors", "--testdox", "--no-coverage", "--stop-on-failure", "--stop-on-error", "-v",
        "--verbose", "--no-progress", "--compact", "--parallel", "-p", "--coverage-text",
        "--display-warnings", "--display-deprecations", "--no-output", "--ansi", "--no-ansi", "-q",
        "--without-tty", "--no-interaction", "-n", "--debug",
    ],
    values: &["--order-by", "--processes", "--log-junit", "--memory-limit", "-d"],
    narrowing: &["--filter", "--group", "--exclude-group", "--testsuite", "-c", "--configuration"],
    stops: &["--help", "-h", "--version", "--list-tests", "--list-suites", "--list-groups"],
    whole: &[],
    after: None,
};

pub(super) const SWIFT: Options = Options {
    flags: &["--parallel", "-v", "--verbose", "--enable-code-coverage", "-q", "--quiet"],
    values: &["-c", "--configuration", "-Xswiftc", "--num-workers", "--package-path", "-j"],
    narrowing: &["--filter", "--skip", "--test-product"],
    stops: &["list", "-l", "--list-tests", "--help", "-h"],
    ..NONE
};

pub(super) const BAZEL: Options = Options {
    flags: &[
        "--test_output", "--config", "--keep_going", "-k", "--nocache_test_results",
        "--cache_test_results", "--verbose_failures", "--noshow_progress", "--show_progress",
        "--color", "--curses", "--runs_per_test", "--test_summary",
    ],
    values: &["-c", "--compilation_mode", "--jobs"],
    narrowing: &["--test_filter", "--test_tag_filters", "--build_tests_only"],
    stops: &["--help", "--nobuild", "--build_only"],
    whole: &["//...", "..."],
    after: None,
};

/// Runners with few options of interest.
pub(super) const PLAIN: Options = Options {
    flags: &["-v", "--verbose", "-q", "--quiet", "--release", "--color", "--no-color", "--ci"],
    values: &["-j", "--jobs"],
    narrowing: &[],
    stops: &["--help", "-h", "--version", "--dry-run", "-n", "--list"],
    whole: &[],
    after: None,
};
