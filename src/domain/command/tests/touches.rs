//! Which commands may change the files under test.

use super::super::{CommandText, may_change_files};

fn changes(line: &str) -> bool {
    may_change_files(&CommandText::Line(line.to_owned()))
}

#[test]
fn the_usual_ways_of_changing_files_in_a_shell_are_known() {
    for line in [
        "sed -i s/a/b/ src/lib.rs",
        "sed -i.bak s/a/b/ src/lib.rs",
        "sed -n -i s/a/b/ src/lib.rs",
        "perl -pi -e s/a/b/ src/lib.rs",
        "git checkout -- src",
        "git stash",
        "git stash pop",
        "git reset --hard",
        "git -C sub checkout main",
        "git pull",
        "git apply fix.patch",
        "git rebase main",
        "patch -p1 < fix.patch",
        "mv a b",
        "rm src/a.rs",
        "cp a src/b",
        "cargo fmt",
        "cargo fmt --all",
        "cargo fix",
        "cargo clippy --fix",
        "cargo add serde",
        "black .",
        "gofmt -w .",
        "npx prettier --write .",
        "npx eslint --fix .",
        "ruff check --fix",
        "ruff format",
        "npm install left-pad",
        "echo x | tee src/a.rs",
        "cat > src/a.rs <<EOF\nfn a() {}\nEOF",
        "echo 'fn a() {}' >> src/a.rs",
        "printf x > src/a.rs",
        "bash -lc 'sed -i s/a/b/ c'",
        "cd x && rm y",
        "(cd x && mv a b)",
        "timeout 5 sed -i s/a/b/ c",
        "A=b rm y",
        "sudo rm y",
        "env A=b git checkout main",
        "find . -name '*.orig' -delete",
        "find . -name '*.rs' | xargs sed -i s/a/b/",
        "make fmt",
        "python - <<'EOF'\nopen('src/a.rs', 'w').write('')\nEOF",
    ] {
        assert!(changes(line), "{line}");
    }
    let words = ["git", "checkout", "main"].map(str::to_owned).to_vec();
    assert!(may_change_files(&CommandText::Argv(words)));
}

#[test]
fn reading_building_and_testing_change_no_files() {
    for line in [
        "",
        "ls",
        "cat src/lib.rs",
        "sed -n 1,20p src/lib.rs",
        "sed s/a/b/ src/lib.rs",
        "grep -i rm src",
        "echo rm",
        "git status",
        "git diff",
        "git log -p",
        "git add -A",
        "git commit -m 'mv things'",
        "git push",
        "git stash list",
        "cargo test",
        "cargo build",
        "cargo fmt --check",
        "cargo fmt --all -- --check",
        "black --check .",
        "npx prettier --check .",
        "npm test",
        "cargo test 2>&1",
        "cargo test > /dev/null",
        "cargo test > /dev/null 2>&1",
        "cargo test > /tmp/log 2>&1",
        "cargo test 2>/dev/null | tee /tmp/log",
        "cargo test &> test.log",
        "pytest < input",
        "rm -rf /tmp/scratch",
    ] {
        assert!(!changes(line), "{line}");
    }
}
