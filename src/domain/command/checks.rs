//! Commands that build, lint, check types or check formatting: which they are, and how much they
//! cover.
//!
//! As with test runners whole words count at their place. A formatter that rewrites files checks
//! nothing, and a build that also runs tests (`gradle build`, `mvn package`) fails for their sake, so
//! neither is here.

use super::Scope;
use super::jobs::base_name;
use super::lexer::Word;
use super::options::{self, NONE, Options};
use super::runners::is_python;

/// What a command checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// That the project builds.
    Build,
    /// That a linter is content.
    Lint,
    /// That types agree.
    Types,
    /// That a formatter has nothing to change.
    Format,
}

struct Row {
    check: Check,
    words: &'static [&'static str],
    options: &'static Options,
}

const fn row(check: Check, words: &'static [&'static str], options: &'static Options) -> Row {
    Row { check, words, options }
}

const STOPS: &[&str] = &["--help", "-h", "--version", "-V", "--list", "--init", "--print-config"];

const CARGO: Options = Options {
    flags: &[
        "--all",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--release",
        "-q",
        "--quiet",
        "-v",
        "--verbose",
        "--locked",
        "--offline",
        "--frozen",
        "-r",
        "--keep-going",
        "--fix",
        "--no-deps",
        "--timings",
        "--tests",
        "--examples",
        "--benches",
        "--check",
    ],
    values: &[
        "--target",
        "--target-dir",
        "--profile",
        "--features",
        "-F",
        "-j",
        "--jobs",
        "--color",
        "--message-format",
        "--config",
    ],
    narrowing: &["-p", "--package", "--exclude", "--bin", "--example", "--test", "--bench"],
    stops: &["--help", "-h", "--version", "-V", "--build-plan", "--unit-graph"],
    whole: &[],
    after: Some(&LINT_LEVELS),
};

/// `cargo clippy -- -D warnings`
const LINT_LEVELS: Options = Options {
    flags: &["--check", "--no-deps"],
    values: &["-D", "-W", "-A", "-F", "--deny", "--warn", "--allow", "--forbid"],
    ..NONE
};

/// Tools that take files or folders; the project's own folder leaves them whole.
const OVER_FILES: Options = Options {
    flags: &[
        "-q",
        "--quiet",
        "-v",
        "--verbose",
        "--strict",
        "--color",
        "--no-color",
        "--cache",
        "--no-error-summary",
        "--pretty",
        "--no-cache",
        "--check",
        "-c",
        "--diff",
        "--dry-run",
        "--check-only",
        "--list-different",
        "-l",
        "-r",
        "--recursive",
        "-a",
        "--all-files",
        "--show-fixes",
        "--statistics",
        "--noEmit",
        "--skipLibCheck",
        "-b",
        "--build",
        "--force",
        "--incremental",
        "--warnings",
        "--no-install",
        "--parallel",
        "--silent",
        "-A",
        "--verify-no-changes",
        "--no-restore",
        "--check-formatted",
        "--write-changes",
        "--Werror",
        "-Werror",
        "--prod",
        "--production",
        "--no-daemon",
        "--offline",
        "--fix",
        "--force-exclude",
        "--server",
        "--no-progress",
        "--error-on-warnings",
        "--memory-limit=1G",
    ],
    values: &[
        "--config",
        "--config-file",
        "--max-warnings",
        "--format",
        "--output-format",
        "-o",
        "--ext",
        "--project",
        "-p",
        "--timeout",
        "-j",
        "--jobs",
        "--cache-dir",
        "--cache-location",
        "-f",
        "--python-version",
        "--output-file",
        "--ignore-path",
        "--log-level",
        "--mode",
        "--level",
        "--configuration",
        "-C",
        "--tsconfig",
        "--memory-limit",
        "--colors",
        "--target",
        "--outDir",
    ],
    narrowing: &["--select", "--rule", "--only", "--filter", "--exclude", "--ignore"],
    stops: STOPS,
    whole: &[".", "./", "./...", "...", "src", "src/", "**/*", "lib", "tests", "//...", "all"],
    after: None,
};

use Check::{Build, Format, Lint, Types};

#[rustfmt::skip] // A table.
const ROWS: &[Row] = &[
    row(Build, &["cargo", "build"], &CARGO), row(Build, &["cargo", "b"], &CARGO),
    row(Build, &["go", "build"], &OVER_FILES), row(Build, &["dotnet", "build"], &OVER_FILES),
    row(Build, &["cmake", "--build", "build"], &OVER_FILES), row(Build, &["cmake", "--build"], &OVER_FILES),
    row(Build, &["ninja"], &OVER_FILES), row(Build, &["meson", "compile"], &OVER_FILES),
    row(Build, &["bazel", "build"], &OVER_FILES), row(Build, &["bazelisk", "build"], &OVER_FILES),
    row(Build, &["swift", "build"], &OVER_FILES), row(Build, &["mix", "compile"], &OVER_FILES),
    row(Build, &["zig", "build"], &OVER_FILES), row(Build, &["stack", "build"], &OVER_FILES),
    row(Build, &["cabal", "build"], &OVER_FILES), row(Build, &["sbt", "compile"], &OVER_FILES),
    row(Build, &["vite", "build"], &OVER_FILES), row(Build, &["next", "build"], &OVER_FILES),
    row(Build, &["ng", "build"], &OVER_FILES), row(Build, &["webpack"], &OVER_FILES),
    row(Build, &["rollup"], &OVER_FILES), row(Build, &["tsup"], &OVER_FILES),
    row(Build, &["turbo", "build"], &OVER_FILES), row(Build, &["turbo", "run", "build"], &OVER_FILES),
    row(Build, &["gradle", "assemble"], &OVER_FILES), row(Build, &["gradlew", "assemble"], &OVER_FILES),
    row(Build, &["mvn", "compile"], &OVER_FILES), row(Build, &["mvnw", "compile"], &OVER_FILES),
    row(Build, &["python", "-m", "build"], &OVER_FILES), row(Build, &["python3", "-m", "build"], &OVER_FILES),
    row(Build, &["uv", "build"], &OVER_FILES), row(Build, &["poetry", "build"], &OVER_FILES),
    row(Build, &["tsc", "-b"], &OVER_FILES), row(Build, &["tsc", "--build"], &OVER_FILES),
    row(Build, &["just", "build"], &OVER_FILES), row(Build, &["task", "build"], &OVER_FILES),
    row(Build, &["make", "build"], &OVER_FILES), row(Build, &["make", "all"], &OVER_FILES), row(Build, &["make"], &OVER_FILES),
    row(Lint, &["cargo", "clippy"], &CARGO), row(Lint, &["cargo-clippy"], &CARGO),
    row(Lint, &["eslint"], &OVER_FILES), row(Lint, &["oxlint"], &OVER_FILES),
    row(Lint, &["biome", "lint"], &OVER_FILES), row(Lint, &["biome", "check"], &OVER_FILES), row(Lint, &["biome", "ci"], &OVER_FILES),
    row(Lint, &["stylelint"], &OVER_FILES), row(Lint, &["next", "lint"], &OVER_FILES), row(Lint, &["ng", "lint"], &OVER_FILES),
    row(Lint, &["ruff", "check"], &OVER_FILES), row(Lint, &["flake8"], &OVER_FILES), row(Lint, &["pylint"], &OVER_FILES),
    row(Lint, &["golangci-lint", "run"], &OVER_FILES), row(Lint, &["go", "vet"], &OVER_FILES), row(Lint, &["staticcheck"], &OVER_FILES),
    row(Lint, &["rubocop"], &OVER_FILES), row(Lint, &["phpcs"], &OVER_FILES), row(Lint, &["swiftlint"], &OVER_FILES),
    row(Lint, &["ktlint"], &OVER_FILES), row(Lint, &["mix", "credo"], &OVER_FILES), row(Lint, &["deno", "lint"], &OVER_FILES),
    row(Lint, &["pre-commit", "run"], &OVER_FILES), row(Lint, &["just", "lint"], &OVER_FILES), row(Lint, &["make", "lint"], &OVER_FILES),
    row(Lint, &["make", "clippy"], &OVER_FILES), row(Lint, &["task", "lint"], &OVER_FILES),
    row(Types, &["tsc"], &OVER_FILES), row(Types, &["vue-tsc"], &OVER_FILES), row(Types, &["mypy"], &OVER_FILES),
    row(Types, &["pyright"], &OVER_FILES), row(Types, &["basedpyright"], &OVER_FILES),
    row(Types, &["ty", "check"], &OVER_FILES), row(Types, &["cargo", "check"], &CARGO), row(Types, &["cargo", "c"], &CARGO),
    row(Types, &["flow", "check"], &OVER_FILES), row(Types, &["phpstan", "analyse"], &OVER_FILES), row(Types, &["psalm"], &OVER_FILES),
    row(Types, &["srb", "tc"], &OVER_FILES), row(Types, &["mix", "dialyzer"], &OVER_FILES), row(Types, &["deno", "check"], &OVER_FILES),
    row(Types, &["make", "typecheck"], &OVER_FILES), row(Types, &["just", "typecheck"], &OVER_FILES),
    row(Format, &["black", "--check"], &OVER_FILES), row(Format, &["isort", "--check"], &OVER_FILES), row(Format, &["isort", "--check-only"], &OVER_FILES),
    row(Format, &["prettier", "--check"], &OVER_FILES), row(Format, &["prettier", "-c"], &OVER_FILES),
    row(Format, &["dotnet", "format", "--verify-no-changes"], &OVER_FILES), row(Format, &["mix", "format", "--check-formatted"], &OVER_FILES),
    row(Format, &["deno", "fmt", "--check"], &OVER_FILES), row(Format, &["taplo", "fmt", "--check"], &OVER_FILES),
    row(Format, &["make", "fmt-check"], &OVER_FILES), row(Format, &["make", "format-check"], &OVER_FILES), row(Format, &["just", "fmt-check"], &OVER_FILES),
];

/// What a row's tool is called: the sub-command of a program that has many.
fn tool(words: &'static [&'static str]) -> &'static str {
    const FRONTS: [&str; 12] = [
        "cargo", "go", "make", "just", "task", "mix", "dotnet", "deno", "next", "ng", "-m", "turbo",
    ];
    match words {
        [first, second, ..] if FRONTS.contains(first) => second,
        [first, ..] => first,
        [] => "",
    }
}

/// Names that say what is done and not by what.
const GENERAL: [&str; 16] = [
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "make",
    "build",
    "b",
    "all",
    "lint",
    "typecheck",
    "check",
    "c",
    "compile",
    "run",
    "fmt-check",
    "format-check",
];

/// Whether a runner's name is that of one tool.
pub fn names_tool(runner: &str) -> bool {
    !GENERAL.contains(&runner)
}

/// The tools that a claim about this check can name.
pub fn tools(check: Check) -> impl Iterator<Item = &'static str> {
    let rows = ROWS.iter().filter(move |row| row.check == check);
    rows.map(|row| tool(row.words)).filter(|name| names_tool(name))
}

/// Scripts of a package file by their usual names.
const SCRIPTS: &[(Check, &[&str])] = &[
    (Build, &["build"]),
    (Lint, &["lint"]),
    (Types, &["typecheck", "type-check", "tsc", "types", "check-types", "check:types"]),
    (Format, &["format:check", "fmt:check", "prettier:check", "check-format", "check:format"]),
];

/// How much of the check `words` cover, when they are that check at all, with the tool's name.
pub(super) fn recognise(words: &[Word], wanted: Check) -> Option<(&'static str, Scope)> {
    if wanted == Check::Build
        && base_name(&words.first()?.text) == "cargo"
        && let Some((tool, _)) = recognise(words, Check::Types)
    {
        // What does not check does not build; what checks may still fail to link.
        return Some((tool, Scope::Partial { reason: "check only".to_owned() }));
    }
    let first = base_name(&words.first()?.text);
    if matches!(first, "npm" | "pnpm" | "yarn" | "bun") {
        return script(words, wanted);
    }
    if wanted == Check::Format {
        let checked = words.iter().any(|word| matches!(word.text.as_str(), "--check" | "--diff"));
        let second = words.get(1).map_or("", |word| word.text.as_str());
        match (first, second) {
            ("cargo", "fmt") if checked => {
                return Some(("cargo fmt", options::scope(words.get(2..)?, &CARGO)?));
            }
            ("ruff", "format") if checked => {
                return Some(("ruff", options::scope(words.get(2..)?, &OVER_FILES)?));
            }
            _ => {}
        }
    }
    let found = ROWS.iter().filter(|row| row.check == wanted).find_map(|row| {
        let rest = words.get(row.words.len()..)?;
        let mut pairs = words.iter().zip(row.words).enumerate();
        let same = pairs.all(|(index, (word, name))| {
            let text = if index == 0 { base_name(&word.text) } else { word.text.as_str() };
            text == *name
        });
        let scope = if same { options::scope(rest, row.options)? } else { return None };
        Some((tool(row.words), scope))
    });
    // `cargo +nightly clippy` and `cargo -q clippy` are read without what stands between.
    found.or_else(|| match (first, words.get(1)) {
        // `python -m mypy .`
        (program, Some(word)) if is_python(program) && word.text == "-m" => {
            recognise(words.get(2..)?, wanted)
        }
        ("cargo", Some(word)) if word.text.starts_with(['+', '-']) && words.len() > 2 => {
            let without: Vec<Word> =
                words.iter().take(1).chain(words.iter().skip(2)).cloned().collect();
            recognise(&without, wanted)
        }
        _ => None,
    })
}

/// `npm run build`, `yarn lint`, `pnpm -r typecheck`.
fn script(words: &[Word], wanted: Check) -> Option<(&'static str, Scope)> {
    let plain: Vec<&str> = words.iter().skip(1).map(|word| word.text.as_str()).collect();
    let narrowed = plain.iter().any(|word| {
        matches!(*word, "-w" | "--workspace" | "--filter" | "-F" | "workspace" | "--prefix" | "-C")
    });
    let mut names = plain.iter().filter(|word| !word.starts_with('-'));
    let mut name = names.next()?;
    if matches!(*name, "run" | "run-script") {
        name = names.next()?;
    }
    let (_, known) = SCRIPTS.iter().find(|(check, _)| *check == wanted)?;
    let tool = match base_name(&words.first()?.text) {
        "npm" => "npm",
        "pnpm" => "pnpm",
        "yarn" => "yarn",
        _ => "bun",
    };
    let part = |reason: &str| Scope::Partial { reason: reason.to_owned() };
    if known.contains(name) {
        return Some((tool, if narrowed { part("one package") } else { Scope::Full }));
    }
    let is_part = known.iter().any(|k| name.strip_prefix(k).is_some_and(|r| r.starts_with(':')));
    is_part.then(|| (tool, part(name)))
}

#[cfg(test)]
mod tests {
    use super::super::{CommandText, TestRun, Wanted, runs_of};
    use super::*;

    fn read(line: &str, check: Check) -> Option<TestRun> {
        runs_of(&CommandText::Line(line.to_owned()), &Wanted::Check(check)).pop()
    }

    #[test]
    fn every_check_is_known_by_its_whole_words_and_its_scope() {
        let full = [
            (Build, "cargo build --release"),
            (Build, "npm run build"),
            (Build, "pnpm -r build"),
            (Build, "make"),
            (Build, "go build ./..."),
            (Build, "cd web && npx vite build"),
            (Lint, "cargo clippy --all-targets -- -D warnings"),
            (Lint, "cargo +nightly clippy"),
            (Lint, "npx eslint . --max-warnings 0"),
            (Lint, "uv run ruff check ."),
            (Lint, "yarn lint"),
            (Lint, "golangci-lint run ./..."),
            (Types, "npx tsc --noEmit"),
            (Types, "mypy src"),
            (Types, "python -m mypy ."),
            (Types, "npm run typecheck"),
            (Types, "cargo check --workspace"),
            (Format, "cargo fmt --check"),
            (Format, "cargo fmt --all -- --check"),
            (Format, "ruff format --check ."),
            (Format, "npx prettier --check ."),
            (Format, "black --check ."),
        ];
        for (check, line) in full {
            let run = read(line, check).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(run.scope, Scope::Full, "{line}");
            assert!(run.success_proves, "{line}");
        }
        let part = [
            (Build, "cargo build -p core"),
            (Build, "cargo check"),
            (Build, "npm run build:docs"),
            (Lint, "eslint src/one.ts"),
            (Lint, "npm run lint --workspace web"),
            (Types, "mypy one.py"),
            (Format, "prettier --check README.md"),
        ];
        for (check, line) in part {
            let run = read(line, check).unwrap_or_else(|| panic!("{line}"));
            assert!(matches!(run.scope, Scope::Partial { .. }), "{line}");
        }
    }

    #[test]
    fn what_only_looks_like_a_check_is_none() {
        for (check, line) in [
            (Build, "echo cargo build"),
            (Build, "cargo build --help"),
            (Build, "npm install build"),
            (Build, "gradle build"),
            (Build, "docker build ."),
            (Lint, "npm install eslint"),
            (Lint, "grep -r eslint ."),
            (Lint, "cargo test"),
            (Types, "pip install mypy"),
            (Format, "cargo fmt"),
            (Format, "prettier --write ."),
            (Format, "black ."),
        ] {
            assert!(read(line, check).is_none(), "{line}");
        }
    }

    #[test]
    fn a_status_that_does_not_reach_the_shell_proves_nothing() {
        for line in ["cargo clippy | tail", "cargo clippy || true", "cargo clippy; echo done"] {
            let run = read(line, Lint).unwrap();
            assert!(!run.success_proves && !run.failure_proves, "{line}");
        }
        let second = read("cargo fmt --check && cargo clippy", Lint).unwrap();
        assert!(second.success_proves && !second.failure_proves);
    }
}
