//! Which commands are test runs, and how much they run.
//!
//! Compared are whole words at their place: the program, then its sub-command, then its options by
//! the tables. A word that merely looks like a runner elsewhere in the line says nothing.

use super::Scope;
use super::jobs::base_name;
use super::lexer::Word;
use super::options::{self, Options};
use super::runner_tables as table;

/// A runner and the scope of its run.
type Recognised = Option<(&'static str, Scope)>;

/// A program with a fixed sub-command.
struct Runner {
    name: &'static str,
    words: &'static [&'static str],
    options: &'static Options,
}

const fn runner(
    name: &'static str,
    words: &'static [&'static str],
    options: &'static Options,
) -> Runner {
    Runner { name, words, options }
}

const RUNNERS: &[Runner] = &[
    runner("pytest", &["pytest"], &table::PYTEST),
    runner("pytest", &["py.test"], &table::PYTEST),
    runner("pytest", &["-m", "pytest"], &table::PYTEST),
    runner("unittest", &["-m", "unittest"], &table::UNITTEST),
    runner("nose2", &["nose2"], &table::UNITTEST),
    runner("django", &["manage.py", "test"], &table::DJANGO),
    runner("tox", &["tox"], &table::TOX),
    runner("tox", &["-m", "tox"], &table::TOX),
    runner("nox", &["nox"], &table::TOX),
    runner("nox", &["-m", "nox"], &table::TOX),
    runner("hatch test", &["hatch", "test"], &table::PYTEST),
    runner("hatch test", &["hatch", "run", "test"], &table::PYTEST),
    runner("pdm test", &["pdm", "run", "test"], &table::PYTEST),
    runner("rye test", &["rye", "test"], &table::PYTEST),
    runner("pixi test", &["pixi", "run", "test"], &table::PYTEST),
    runner("poe test", &["poe", "test"], &table::PYTEST),
    runner("jest", &["jest"], &table::JS),
    runner("vitest", &["vitest"], &table::JS),
    runner("mocha", &["mocha"], &table::JS),
    runner("ava", &["ava"], &table::JS),
    runner("tap", &["tap"], &table::JS),
    runner("jasmine", &["jasmine"], &table::JS),
    runner("karma", &["karma", "start"], &table::JS),
    runner("playwright test", &["playwright", "test"], &table::JS),
    runner("cypress", &["cypress", "run"], &table::JS),
    runner("react-scripts test", &["react-scripts", "test"], &table::JS),
    runner("ng test", &["ng", "test"], &table::JS),
    runner("deno test", &["deno", "test"], &table::JS),
    runner("deno test", &["deno", "task", "test"], &table::JS),
    runner("turbo test", &["turbo", "test"], &table::NPM),
    runner("turbo test", &["turbo", "run", "test"], &table::NPM),
    runner("lerna test", &["lerna", "run", "test"], &table::NPM),
    runner("gotestsum", &["gotestsum"], &table::GO),
    runner("ginkgo", &["ginkgo"], &table::GO),
    runner("dotnet test", &["dotnet", "test"], &table::DOTNET),
    runner("ctest", &["ctest"], &table::CTEST),
    runner("mix test", &["mix", "test"], &table::MIX),
    runner("rspec", &["rspec"], &table::RUBY),
    runner("rails test", &["rails", "test"], &table::RUBY),
    runner("rake test", &["rake", "test"], &table::RUBY),
    runner("rake test", &["rake", "spec"], &table::RUBY),
    runner("phpunit", &["phpunit"], &table::PHP),
    runner("pest", &["pest"], &table::PHP),
    runner("artisan test", &["artisan", "test"], &table::PHP),
    runner("composer test", &["composer", "test"], &table::PHP),
    runner("composer test", &["composer", "run", "test"], &table::PHP),
    runner("swift test", &["swift", "test"], &table::SWIFT),
    runner("bazel test", &["bazel", "test"], &table::BAZEL),
    runner("bazel test", &["bazelisk", "test"], &table::BAZEL),
    runner("just test", &["just", "test"], &table::JUST),
    runner("just test", &["just", "tests"], &table::JUST),
    runner("task test", &["task", "test"], &table::JUST),
    runner("mise test", &["mise", "run", "test"], &table::JUST),
    runner("flutter test", &["flutter", "test"], &table::PLAIN),
    runner("dart test", &["dart", "test"], &table::PLAIN),
    runner("zig build test", &["zig", "build", "test"], &table::PLAIN),
    runner("zig test", &["zig", "test"], &table::PLAIN),
    runner("stack test", &["stack", "test"], &table::PLAIN),
    runner("cabal test", &["cabal", "test"], &table::PLAIN),
    runner("dune test", &["dune", "test"], &table::PLAIN),
    runner("dune test", &["dune", "runtest"], &table::PLAIN),
    runner("sbt test", &["sbt", "test"], &table::PLAIN),
    runner("lein test", &["lein", "test"], &table::PLAIN),
    runner("meson test", &["meson", "test"], &table::CTEST),
    runner("ninja test", &["ninja", "test"], &table::MAKE),
    runner("bats", &["bats"], &table::PLAIN),
    runner("busted", &["busted"], &table::PLAIN),
];

/// The test run that `words` are, without wrappers.
pub(super) fn recognise(words: &[Word]) -> Recognised {
    let (first, arguments) = words.split_first()?;
    match base_name(&first.text) {
        "cargo" | "cross" => cargo(arguments),
        "cargo-nextest" => cargo(words.get(1..)?),
        "npm" | "pnpm" | "yarn" | "bun" => package_manager(words),
        "node" => node(arguments),
        "go" => go(arguments),
        "mvn" | "mvnw" | "mvnd" => maven(arguments),
        "gradle" | "gradlew" => gradle(arguments),
        "make" | "gmake" => make(arguments),
        "cmake" => cmake(arguments),
        "nx" => nx(arguments),
        "xcodebuild" => xcodebuild(arguments),
        program if is_python(program) => python(arguments),
        _ => from_table(words),
    }
}

fn from_table(words: &[Word]) -> Recognised {
    RUNNERS.iter().find_map(|runner| {
        let rest = words.get(runner.words.len()..)?;
        let mut pairs = words.iter().zip(runner.words).enumerate();
        let same = pairs.all(|(index, (word, name))| {
            let text = if index == 0 { base_name(&word.text) } else { word.text.as_str() };
            text == *name
        });
        let scope = if same { options::scope(rest, runner.options)? } else { return None };
        Some((runner.name, scope))
    })
}

fn text(words: &[Word], at: usize) -> &str {
    words.get(at).map_or("", |word| word.text.as_str())
}

fn from(words: &[Word], at: usize) -> &[Word] {
    words.get(at..).unwrap_or_default()
}

fn cargo(arguments: &[Word]) -> Recognised {
    let global = |word: &&Word| {
        word.text.starts_with('+')
            || matches!(
                word.text.as_str(),
                "-q" | "--quiet" | "-v" | "--verbose" | "--locked" | "--offline" | "--frozen"
            )
    };
    let skip = arguments.iter().take_while(global).count();
    let arguments = from(arguments, skip);
    let (name, used) = match (text(arguments, 0), text(arguments, 1)) {
        ("test" | "t", _) => ("cargo test", 1),
        ("nextest", "run" | "r") => ("cargo nextest", 2),
        ("llvm-cov", "nextest") => ("cargo nextest", 2),
        ("llvm-cov" | "insta" | "xtask" | "make", "test") => ("cargo test", 2),
        ("llvm-cov", sub) if sub.is_empty() || sub.starts_with('-') => ("cargo test", 1),
        _ => return None,
    };
    Some((name, options::scope(from(arguments, used), &table::CARGO)?))
}

/// `npm test`, `pnpm run test:unit`, `yarn workspace web test`, `bun test`.
fn package_manager(words: &[Word]) -> Recognised {
    let name = match base_name(text(words, 0)) {
        "npm" => "npm test",
        "pnpm" => "pnpm test",
        "yarn" => "yarn test",
        _ => "bun test",
    };
    // Options may stand on both sides of the script's name.
    let mut before: Vec<Word> = Vec::new();
    let mut at = 1;
    while text(words, at).starts_with('-') {
        let takes_value = [table::NPM.values, table::NPM.narrowing].concat();
        let used = 1 + usize::from(takes_value.contains(&text(words, at)));
        before.extend(words.iter().skip(at).take(used).cloned());
        at += used;
    }
    let mut part = None;
    if name == "yarn test" && text(words, at) == "workspace" {
        part = Some(format!("workspace {}", text(words, at + 1)));
        at += 2;
    }
    let native = name == "bun test" && text(words, at) == "test";
    let ran = matches!(text(words, at), "run" | "run-script" | "rum");
    at += usize::from(ran);
    while ran && text(words, at).starts_with('-') {
        before.extend(words.get(at).cloned());
        at += 1;
    }
    let script = text(words, at);
    let short = matches!(script, "t" | "tst") && !ran && name == "npm test";
    let part = match script {
        "test" | "tests" | "test:ci" | "test:all" | "test:run" | "test:coverage" | "test:cov" => {
            part
        }
        _ if short => part,
        _ if script.starts_with("test:") || script.starts_with("test-") => Some(script.to_owned()),
        _ => return None,
    };
    let after = from(words, at + 1);
    let scope = if name == "npm test" {
        before.extend(after.iter().cloned());
        options::scope(&before, &table::NPM)?
    } else {
        // The others hand everything behind the script's name to the script.
        let own = options::scope(&before, if native { &table::JS } else { &table::NPM })?;
        let handed = options::scope(after, &table::JS)?;
        if own == Scope::Full { handed } else { own }
    };
    Some((name, part.map_or(scope, |reason| Scope::Partial { reason })))
}

fn node(arguments: &[Word]) -> Recognised {
    if arguments.iter().any(|word| word.text == "--test") {
        return Some(("node --test", options::scope(arguments, &table::JS)?));
    }
    // `node node_modules/.bin/jest`
    let program = base_name(text(arguments, 0)).trim_end_matches(".js");
    let name = ["jest", "vitest", "mocha"].into_iter().find(|name| *name == program)?;
    Some((name, options::scope(from(arguments, 1), &table::JS)?))
}

fn go(arguments: &[Word]) -> Recognised {
    let skip = if text(arguments, 0) == "-C" { 2 } else { 0 };
    if text(arguments, skip) != "test" {
        return None;
    }
    let arguments = from(arguments, skip + 1);
    let scope = options::scope(arguments, &table::GO)?;
    let whole = arguments.iter().any(|word| table::GO.whole.contains(&word.text.as_str()));
    let scope = match scope {
        // Without a pattern only the package of the current directory is tested.
        Scope::Full if !whole => Scope::Partial { reason: "current package".to_owned() },
        scope => scope,
    };
    Some(("go test", scope))
}

fn maven(arguments: &[Word]) -> Recognised {
    let goals = ["test", "verify", "integration-test", "install", "package"];
    if !arguments.iter().any(|word| goals.contains(&word.text.as_str())) {
        return None;
    }
    // `-Dkey=value` and `-Pprofile` set properties; only those about tests matter.
    let property = |word: &&Word| {
        let text = word.text.as_str();
        let narrows = text.starts_with("-Dtest") || text.starts_with("-Dit.test");
        let skips = text.starts_with("-DskipTests") || text.starts_with("-Dmaven.test.skip");
        (text.starts_with("-D") || text.starts_with("-P") && text.len() > 2) && !narrows && !skips
    };
    let rest: Vec<Word> = arguments.iter().filter(|word| !property(word)).cloned().collect();
    Some(("mvn test", options::scope(&rest, &table::MAVEN)?))
}

fn gradle(arguments: &[Word]) -> Recognised {
    let is_task = |text: &str| {
        let task = text.rsplit(':').next().unwrap_or(text);
        matches!(task, "test" | "check" | "allTests" | "jvmTest")
            || task.len() > 4 && (task.ends_with("Test") || task.starts_with("test"))
            || task.ends_with("UnitTest")
    };
    let mut tasks = arguments.iter().filter(|word| !word.text.starts_with('-'));
    if !tasks.any(|word| is_task(&word.text)) {
        return None;
    }
    let excluded = arguments
        .windows(2)
        .any(|pair| matches!(pair, [flag, task] if flag.text == "-x" && is_task(&task.text)));
    let property = |word: &&Word| word.text.starts_with("-P") || word.text.starts_with("-D");
    let rest: Vec<Word> = arguments.iter().filter(|word| !property(word)).cloned().collect();
    if excluded {
        return None;
    }
    Some(("gradle test", options::scope(&rest, &table::GRADLE)?))
}

fn make(arguments: &[Word]) -> Recognised {
    let is_target = |text: &str| {
        matches!(text, "test" | "tests" | "check")
            || text.starts_with("test-")
            || text.starts_with("test_")
            || text.starts_with("tests-")
            || text.ends_with("-test")
            || text.ends_with("-tests")
    };
    if !arguments.iter().any(|word| is_target(&word.text)) {
        return None;
    }
    // `NAME=value` may be a filter; other targets may fail on their own.
    Some(("make test", options::scope(arguments, &table::MAKE)?))
}

fn cmake(arguments: &[Word]) -> Recognised {
    let target = arguments.windows(2).any(|pair| {
        matches!(pair, [flag, name] if matches!(flag.text.as_str(), "--target" | "-t")
            && matches!(name.text.as_str(), "test" | "check" | "RUN_TESTS"))
    });
    let build = text(arguments, 0) == "--build" && target;
    build.then_some(("ctest", Scope::Full))
}

fn nx(arguments: &[Word]) -> Recognised {
    match text(arguments, 0) {
        "test" => {
            let reason = text(arguments, 1).to_owned();
            Some(("nx test", Scope::Partial { reason }))
        }
        "run-many" | "affected" => {
            let mut rest = arguments.iter().skip(1);
            let tests = rest.any(|word| {
                matches!(word.text.as_str(), "test" | "--target=test" | "--targets=test")
            });
            let whole = text(arguments, 0) == "run-many" && arguments.len() <= 4;
            let scope = if whole {
                Scope::Full
            } else {
                Scope::Partial { reason: text(arguments, 0).to_owned() }
            };
            tests.then_some(("nx test", scope))
        }
        _ => None,
    }
}

fn xcodebuild(arguments: &[Word]) -> Recognised {
    let tests =
        arguments.iter().any(|word| matches!(word.text.as_str(), "test" | "test-without-building"));
    let narrowed = arguments.iter().find(|word| {
        word.text.starts_with("-only-testing") || word.text.starts_with("-skip-testing")
    });
    let scope = match narrowed {
        Some(word) => Scope::Partial { reason: word.text.clone() },
        None => Scope::Full,
    };
    tests.then_some(("xcodebuild test", scope))
}

pub(super) fn is_python(program: &str) -> bool {
    let version = program.strip_prefix("python").or_else(|| program.strip_prefix("pypy"));
    program == "py"
        || version.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// `python -m pytest`, `python manage.py test`, `python -m coverage run -m pytest`.
fn python(arguments: &[Word]) -> Recognised {
    let flags = ["-u", "-B", "-O", "-I", "-E", "-s", "-bb", "-X", "-W"];
    let mut rest = arguments;
    while flags.contains(&text(rest, 0)) {
        let used = if matches!(text(rest, 0), "-X" | "-W") { 2 } else { 1 };
        rest = from(rest, used);
    }
    if text(rest, 0) == "-m" && text(rest, 1) == "coverage" && text(rest, 2) == "run" {
        let module = rest.iter().skip(3).position(|word| word.text == "-m")?;
        rest = from(rest, module + 3);
    }
    if text(rest, 0) == "-m" && text(rest, 1) == "py.test" {
        return Some(("pytest", options::scope(from(rest, 2), &table::PYTEST)?));
    }
    if text(rest, 0) == "setup.py" && text(rest, 1) == "test" {
        return Some(("unittest", options::scope(from(rest, 2), &table::UNITTEST)?));
    }
    from_table(rest)
}
