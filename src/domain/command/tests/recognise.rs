//! Which commands are test runs at all.

use super::super::{CommandText, Scope, test_runs};
use super::{run, runs};

/// Lines that merely name a runner, or ask it for something else than a run.
const NO_RUNS: &[&str] = &[
    "",
    "pip install pytest",
    "python -m pip install pytest",
    "uv pip install pytest",
    "uv add pytest",
    "poetry add pytest",
    "apt-get install -y pytest",
    "cat test.py",
    "grep -r \"cargo test\"",
    "grep -r cargo test",
    "rg 'npm test' .github",
    "echo cargo test",
    "echo \"cargo test && pytest\"",
    "printf 'cargo test\\n'",
    "cargo test --no-run",
    "cargo test -p x --no-run",
    "cargo test --help",
    "cargo test -- --list",
    "cargo help test",
    "cargo build",
    "cargo build --tests",
    "cargo check --tests",
    "cargo bench",
    "cargo nextest list",
    "cargo install cargo-nextest",
    "pytest --version",
    "pytest --collect-only",
    "pytest --co -q",
    "pytest --help",
    "pytest --fixtures",
    "npm install jest",
    "npm install --save-dev vitest",
    "npm i -D jest",
    "npm run build",
    "npm run lint",
    "npm ci",
    "npm view test",
    "yarn add jest",
    "yarn",
    "pnpm add -D vitest",
    "npx jest --version",
    "npx jest --listTests",
    "npx tsc",
    "npx eslint tests",
    "npx playwright install",
    "git commit -m \"run cargo test\"",
    "git log --grep 'cargo test'",
    "git add tests && git commit -m 'pytest passes'",
    "vim tests/x",
    "ls tests",
    "rm -rf tests",
    "mkdir -p pytest",
    "cd pytest",
    "which pytest",
    "command -v pytest",
    "type pytest",
    "man pytest",
    "whereis cargo",
    "test -f Cargo.toml",
    "[ -f Cargo.toml ]",
    "go build ./...",
    "go vet ./...",
    "go test -c ./pkg",
    "go test -list . ./...",
    "make",
    "make build",
    "make -n test",
    "mvn package -DskipTests",
    "mvn clean",
    "./gradlew build -x test",
    "./gradlew assemble",
    "gradle test --dry-run",
    "dotnet build",
    "dotnet test --list-tests",
    "ctest -N",
    "tox -l",
    "docker build -t pytest .",
    "docker run --rm alpine echo pytest",
    "docker ps",
    "sed -n 1,20p tests/test_x.py",
    "# cargo test",
    "cat <<EOF > run.sh\ncargo test\nEOF",
    "cat <<'EOF'\npytest\nnpm test\nEOF",
    "tee run.sh <<< 'cargo test'",
    "alias t='cargo test'",
    "export CMD='cargo test'",
    "TEST='cargo test'",
    "bash run-tests.sh",
    "./run-tests.sh",
    "python test_x.py",
    "python -c 'import pytest'",
    "node test.js",
    "watch ls",
    "true",
    "$RUNNER test",
];

#[test]
fn a_command_that_only_names_a_runner_is_no_test_run() {
    let found: Vec<_> =
        NO_RUNS.iter().filter(|line| !runs(line).is_empty()).map(|l| (l, runs(l))).collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// A line and the runner it runs.
const RUNS: &[(&str, &str)] = &[
    ("cargo test", "cargo test"),
    ("cargo t", "cargo test"),
    ("cargo +nightly test", "cargo test"),
    ("cargo --locked test", "cargo test"),
    ("cargo nextest run", "cargo nextest"),
    ("cargo +stable nextest r", "cargo nextest"),
    ("cargo llvm-cov nextest", "cargo nextest"),
    ("cross test", "cargo test"),
    ("/usr/bin/cargo test", "cargo test"),
    ("pytest", "pytest"),
    ("py.test", "pytest"),
    ("python -m pytest", "pytest"),
    ("python3 -m pytest -q", "pytest"),
    ("python3.12 -u -m pytest", "pytest"),
    (".venv/bin/python -m pytest", "pytest"),
    (".venv/bin/pytest", "pytest"),
    ("python -m coverage run -m pytest", "pytest"),
    ("coverage run -m pytest", "pytest"),
    ("python -m unittest", "unittest"),
    ("python manage.py test", "django"),
    ("uv run pytest", "pytest"),
    ("uv run --with x pytest", "pytest"),
    ("uv run python -m pytest", "pytest"),
    ("uvx pytest", "pytest"),
    ("poetry run pytest", "pytest"),
    ("pipenv run pytest", "pytest"),
    ("pdm run pytest", "pytest"),
    ("hatch run pytest", "pytest"),
    ("hatch test", "hatch test"),
    ("conda run -n env pytest", "pytest"),
    ("tox", "tox"),
    ("nox", "nox"),
    ("npm test", "npm test"),
    ("npm t", "npm test"),
    ("npm run test", "npm test"),
    ("npm run test:unit", "npm test"),
    ("npm --prefix web test", "npm test"),
    ("npm run -s test", "npm test"),
    ("pnpm test", "pnpm test"),
    ("pnpm run test", "pnpm test"),
    ("pnpm -r test", "pnpm test"),
    ("pnpm vitest run", "vitest"),
    ("yarn test", "yarn test"),
    ("yarn run test", "yarn test"),
    ("yarn jest", "jest"),
    ("bun test", "bun test"),
    ("bun run test", "bun test"),
    ("bunx vitest run", "vitest"),
    ("npx jest", "jest"),
    ("npx vitest run", "vitest"),
    ("npx -y mocha", "mocha"),
    ("npx playwright test", "playwright test"),
    ("./node_modules/.bin/jest", "jest"),
    ("node --test", "node --test"),
    ("node node_modules/.bin/jest", "jest"),
    ("deno test", "deno test"),
    ("go test ./...", "go test"),
    ("gotestsum ./...", "gotestsum"),
    ("mvn test", "mvn test"),
    ("./mvnw -q clean test", "mvn test"),
    ("gradle test", "gradle test"),
    ("./gradlew test", "gradle test"),
    ("./gradlew :app:testDebugUnitTest", "gradle test"),
    ("make test", "make test"),
    ("make -C sub check", "make test"),
    ("just test", "just test"),
    ("task test", "task test"),
    ("dotnet test", "dotnet test"),
    ("ctest --test-dir build", "ctest"),
    ("mix test", "mix test"),
    ("rspec", "rspec"),
    ("bundle exec rspec", "rspec"),
    ("bin/rails test", "rails test"),
    ("bundle exec rake test", "rake test"),
    ("vendor/bin/phpunit", "phpunit"),
    ("php artisan test", "artisan test"),
    ("php vendor/bin/phpunit", "phpunit"),
    ("composer test", "composer test"),
    ("swift test", "swift test"),
    ("bazel test //...", "bazel test"),
    ("zig build test", "zig build test"),
    ("flutter test", "flutter test"),
    ("sbt test", "sbt test"),
    // Wrappers.
    ("bash -lc 'cargo test'", "cargo test"),
    ("bash -c \"cargo test\"", "cargo test"),
    ("sh -ec 'cargo test'", "cargo test"),
    ("/bin/zsh -lc 'cargo test'", "cargo test"),
    ("bash -lc \"bash -c 'cargo test'\"", "cargo test"),
    ("eval 'cargo test'", "cargo test"),
    ("cd x && cargo test", "cargo test"),
    ("(cd x && cargo test)", "cargo test"),
    ("{ cargo test; }", "cargo test"),
    ("timeout 60 cargo test", "cargo test"),
    ("timeout -s KILL 5m cargo test", "cargo test"),
    ("timeout --preserve-status 60s cargo test", "cargo test"),
    ("env A=b cargo test", "cargo test"),
    ("env -u A B=c cargo test", "cargo test"),
    ("A=b C='d e' cargo test", "cargo test"),
    ("RUST_BACKTRACE=1 timeout 60 nice -n 5 cargo test", "cargo test"),
    ("time cargo test", "cargo test"),
    ("nohup cargo test", "cargo test"),
    ("sudo -u app cargo test", "cargo test"),
    ("sudo -E env A=b cargo test", "cargo test"),
    ("stdbuf -oL cargo test", "cargo test"),
    ("xvfb-run -a npm test", "npm test"),
    ("exec cargo test", "cargo test"),
    ("docker exec app pytest", "pytest"),
    ("docker exec -it -w /src app pytest", "pytest"),
    ("docker run --rm -v .:/src image cargo test", "cargo test"),
    ("docker compose exec app pytest", "pytest"),
    ("docker compose -f dev.yml exec -T app pytest", "pytest"),
    ("docker-compose run --rm app npm test", "npm test"),
    ("docker exec app bash -lc 'cd /src && pytest'", "pytest"),
    ("mise exec -- cargo test", "cargo test"),
    ("cross-env CI=true jest", "jest"),
    ("\"cargo\" 'test'", "cargo test"),
    ("cargo \\\n  test", "cargo test"),
];

#[test]
fn the_common_runners_are_known_under_their_wrappers() {
    let wrong: Vec<_> = RUNS
        .iter()
        .filter(|(line, runner)| {
            let found = runs(line);
            found.len() != 1 || found[0].runner != *runner
        })
        .map(|(line, runner)| (line, runner, runs(line)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn several_runs_of_one_line_come_in_order() {
    let found = runs("cargo test && cd web && npm test; pytest -q");
    let names: Vec<_> = found.iter().map(|run| run.runner).collect();
    assert_eq!(names, ["cargo test", "npm test", "pytest"]);
}

#[test]
fn words_that_are_already_split_are_read_like_a_line() {
    let argv = |words: &[&str]| {
        test_runs(&CommandText::Argv(words.iter().map(|word| (*word).to_owned()).collect()))
    };
    for words in [
        &["cargo", "test"][..],
        &["bash", "-lc", "cargo test"],
        &["bash", "-lc", "cd x && cargo test"],
        &["/bin/bash", "-c", "timeout 60 cargo test"],
        &["env", "A=b", "cargo", "test"],
    ] {
        let found = argv(words);
        assert_eq!(found.len(), 1, "{words:?}");
        assert!(found[0].success_proves && found[0].failure_proves, "{words:?}");
    }
    for words in [&[][..], &["echo", "cargo test"], &["cargo test"], &["cargo", "test;echo"]] {
        assert_eq!(argv(words), vec![], "{words:?}");
    }
    // In split words `&&` is an argument, not an operator.
    assert!(matches!(argv(&["cargo", "test", "&&", "true"])[0].scope, Scope::Partial { .. }));
}

#[test]
fn the_directory_of_a_run_is_where_cd_went() {
    for (line, directory) in [
        ("cargo test", None),
        ("cd web && npm test", Some("web")),
        ("cd web; npm test", Some("web")),
        ("cd /a && cd b && npm test", Some("/a/b")),
        ("pushd web && npm test", Some("web")),
        ("cd web && bash -c 'npm test'", Some("web")),
        ("bash -lc 'cd web && npm test'", Some("web")),
        ("(cd web && make) && cargo test", None),
        ("(cd web && npm test)", Some("web")),
    ] {
        assert_eq!(run(line).directory.as_deref(), directory, "{line}");
    }
}

#[test]
fn a_command_shows_as_one_line() {
    let words = CommandText::Argv(vec!["cargo".to_owned(), "test".to_owned()]);
    assert_eq!(words.display(), "cargo test");
    assert_eq!(CommandText::Line("cargo test".to_owned()).display(), "cargo test");
    let read: CommandText = serde_json::from_str("[\"cargo\",\"test\"]").unwrap();
    assert_eq!(read, words);
}
