//! How much a run covers.

use super::super::Scope;
use super::run;

const FULL: &[&str] = &[
    "cargo test",
    "cargo test --workspace -q -- --nocapture",
    "cargo test --all-features --release --no-fail-fast",
    "cargo test --features a,b -j 4",
    "cargo test --target-dir=x --color always",
    "cargo test -- --test-threads=1",
    "cargo test -- --test-threads 1 --include-ignored",
    "cargo test --all-targets",
    "cargo +nightly test --locked",
    "cargo nextest run --workspace --no-fail-fast",
    "cargo test 2>&1",
    "cargo test > log 2>/dev/null",
    "go test ./...",
    "go test -v -race -count=1 ./...",
    "go test -timeout 60s ./...",
    "pytest",
    "pytest .",
    "pytest -q --tb=short -n 4",
    "pytest -xvs",
    "pytest --tb short --maxfail 1 --durations 5",
    "pytest -n4 -rA --durations=10",
    "pytest --cov=src --cov-report=term-missing",
    "pytest -W ignore -p no:cacheprovider",
    "python -m pytest -vv",
    "python -m unittest",
    "python -m unittest discover -v",
    "npm test",
    "npm test -- --ci --coverage",
    "npm test --silent",
    "npm run test:ci",
    "yarn test --watchAll=false",
    "npx jest --runInBand",
    "npx vitest run --reporter dot",
    "pnpm test --coverage",
    "npx vitest run --reporter=verbose",
    "CI=1 pnpm test -- --run",
    "mvn -q -B test",
    "./gradlew clean test --info",
    "make test -j4",
    "dotnet test --no-build -v minimal",
    "ctest --output-on-failure -j 8",
    "rspec --format documentation",
    "mix test --trace",
    "bazel test //...",
    "tox -q",
];

const PARTIAL: &[&str] = &[
    "cargo test parser",
    "cargo test -p x",
    "cargo test --package=x",
    "cargo test --lib",
    "cargo test --bins",
    "cargo test --doc",
    "cargo test --test it",
    "cargo test --workspace --exclude x",
    "cargo test -- parser",
    "cargo test -- --skip slow",
    "cargo test -- --ignored",
    "cargo test -- --exact a::b",
    "cargo nextest run -E 'test(a)'",
    "cargo test $FILTER",
    "cargo test \"$(cat filter)\"",
    "cargo test --unknown-option",
    "pytest tests/x.py",
    "pytest tests/x.py::test_a",
    "pytest tests",
    "pytest -k e",
    "pytest -kexpr",
    "pytest -m slow",
    "pytest -m 'not slow'",
    "pytest --lf",
    "pytest --ignore=tests/a",
    "pytest --deselect tests/a",
    "python -m unittest tests.test_a",
    "go test",
    "go test .",
    "go test ./pkg",
    "go test ./pkg/...",
    "go test -run TestA ./...",
    "go test -short ./...",
    "npm test -- foo",
    "npm test foo",
    "npm test -- -t name",
    "npm test -w web",
    "npm run test:unit",
    "yarn workspace web test",
    "yarn test src/a",
    "pnpm test -t name",
    "pnpm --filter web test",
    "npx jest src/a.test.ts",
    "npx jest --testNamePattern=a",
    "npx vitest run src/a",
    "npx vitest related a.ts --run",
    "mvn test -Dtest=A",
    "mvn -pl web test",
    "./gradlew test --tests A",
    "./gradlew :app:test",
    "make test-unit",
    "make test FILTER=a",
    "dotnet test --filter A",
    "ctest -R a",
    "rspec spec/a_spec.rb",
    "rspec spec/a_spec.rb:12",
    "mix test test/a_test.exs",
    "bazel test //a:b",
    "tox -e py312",
    "nx test web",
];

#[test]
fn a_run_whose_arguments_are_all_known_to_leave_it_whole_is_full() {
    let wrong: Vec<_> = FULL
        .iter()
        .map(|line| (line, run(line).scope))
        .filter(|(_, scope)| *scope != Scope::Full)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_filter_a_path_a_package_or_an_unknown_option_makes_a_run_partial() {
    let wrong: Vec<_> = PARTIAL.iter().filter(|line| run(line).scope == Scope::Full).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_reason_of_a_partial_run_is_the_first_argument_that_narrows_it() {
    for (line, expected) in [
        ("cargo test -p x parser", "-p x"),
        ("cargo test -q parser other", "parser"),
        ("pytest -q tests/x.py", "tests/x.py"),
        ("go test", "current package"),
        ("npm run test:unit", "test:unit"),
    ] {
        assert_eq!(run(line).scope, Scope::Partial { reason: expected.to_owned() }, "{line}");
    }
}
