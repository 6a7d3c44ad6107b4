//! The words that the grammar knows, by the part they play.
//!
//! Lists, not code: adding a word here is how the grammar grows. Each list says what its words do
//! to a claim. Contractions arrive split ("don't" is `do` `not`, "I'll" is `i` `will`).

/// Marks that say "done" before or after an item.
pub(super) const CHECK_MARKS: [char; 5] =
    ['\u{2705}', '\u{2714}', '\u{2713}', '\u{2611}', '\u{1f7e2}'];
/// Marks that say "failed".
pub(super) const CROSS_MARKS: [char; 6] =
    ['\u{274c}', '\u{2717}', '\u{2718}', '\u{2716}', '\u{1f534}', '\u{26a0}'];
/// Marks that say "not yet".
pub(super) const PENDING_MARKS: [char; 7] =
    ['\u{23f3}', '\u{231b}', '\u{1f504}', '\u{1f6a7}', '\u{2b1c}', '\u{2610}', '\u{1f7e1}'];

/// In a heading or an introduction: what follows is wanted, past or an example.
pub(super) const PLAN_WORDS: &[&str] = &[
    "plan", "plans", "planned", "next", "todo", "to-do", "goal", "goals", "will", "ll", "steps",
    "criteria", "criterion", "requirement", "requirements", "acceptance", "should", "need",
    "needs", "remaining", "expected", "expect", "must", "want", "before", "previously", "example",
    "examples", "if", "when", "checklist", "once", "would", "could", "might", "example", "usage",
    "objective", "objectives", "proposal", "proposed", "later", "future", "pending", "let",
];

/// A list item or sentence that opens with one of these is an order, not a report.
pub(super) const IMPERATIVES: &[&str] = &[
    "run", "rerun", "re-run", "fix", "add", "implement", "write", "update", "create", "make",
    "ensure", "verify", "check", "confirm", "remove", "refactor", "push", "install",
    "investigate", "read", "find", "look", "open", "use", "replace", "rename", "move", "delete",
    "set", "configure", "deploy", "start", "try", "get", "keep", "let", "please", "wait", "see",
    "validate", "execute", "continue", "repeat", "stop", "merge", "apply",
];

/// Nouns that mean the tests as a whole.
pub(super) const TEST_NOUNS: &[&str] = &["tests", "suite", "suites", "specs", "testsuite"];
/// After "test": still the tests as a whole.
pub(super) const AFTER_TEST: &[&str] =
    &["suite", "suites", "cases", "files", "specs", "run", "results", "result"];
/// After "test" and before a colon: what follows is about the tests as a whole.
pub(super) const TEST_LABELS: &[&str] = &["status", "output", "summary"];
/// Determiners that leave the scope whole.
pub(super) const WHOLE: &[&str] = &["the", "all", "every", "each", "our", "my", "100%", "'s"];
/// Determiners that point at some tests only.
pub(super) const POINTING: &[&str] =
    &["its", "their", "these", "those", "both", "your", "this", "that", "his", "her"];
/// Adjectives that leave the scope whole.
pub(super) const NEUTRAL: &[&str] =
    &["full", "whole", "entire", "complete", "project", "repo", "repository", "workspace"];
/// Quantifiers that make a statement about the tests no claim that they pass.
pub(super) const SOME: &[&str] = &[
    "some", "most", "many", "few", "several", "half", "majority", "only", "no", "none", "not",
    "part", "portion", "lot", "rest", "any", "almost", "nearly", "mostly", "roughly", "about",
    "zero", "except", "neither", "never",
];

/// Words that never describe tests: they end a noun phrase.
pub(super) const FUNCTION_WORDS: &[&str] = &[
    "a", "an", "i", "we", "you", "it", "they", "he", "she", "there", "this", "that", "which",
    "who", "what", "where", "is", "are", "was", "were", "be", "been", "being", "am", "have", "has",
    "had", "do", "does", "did", "and", "or", "but", "so", "then", "now", "also", "still", "as",
    "at", "by", "for", "from", "in", "into", "of", "on", "onto", "to", "with", "via", "after",
    "because", "since", "though", "although", "than", "just", "all", "run", "ran", "running",
    "runs", "reran", "re-ran", "executed", "passes", "passed", "pass", "passing", "fail", "fails",
    "failed", "here", "yes", "great", "done", "finally", "again", "currently", "verified",
    "confirmed", "everything", "with", "my", "our", "the", "out", "like", "once", "up", "down",
    "over", "under", "meanwhile", "today", "however", "thus", "therefore", "hence", "got",
];

/// Before the claim, anywhere in the sentence: it is conditional, reported, past, or a wish.
pub(super) const HARD: &[&str] = &[
    "if", "unless", "until", "till", "once", "when", "whenever", "whether", "assuming",
    "provided", "while", "where", "wherever", "suppose", "supposing", "imagine", "pretend", "said",
    "say", "says", "saying", "claim", "claims", "claimed", "told", "asked", "asks", "wrote",
    "mentioned", "mentions", "according", "reported", "reports", "states", "stated", "previously",
    "earlier", "before", "originally", "initially", "yesterday", "used", "historically", "goal",
    "goals", "objective", "requirement", "requirements", "criteria", "criterion", "todo", "except",
    "excluding", "apart", "aside", "eventually", "sometimes", "usually", "often", "normally",
    "intermittently", "soon", "otherwise", "how", "why", "pretends", "lie", "lied", "falsely",
    "wrongly", "incorrectly", "instead", "wish", "unclear", "unsure", "unknown", "doubt", "prove",
    "suggests", "implies", "indicates", "baseline",
];

/// Before the claim: it is hedged, intended or to be found out. "but" and ";" end their reach.
pub(super) const SOFT: &[&str] = &[
    "should", "would", "could", "might", "may", "must", "will", "shall", "going", "gonna", "ought",
    "need", "needs", "want", "wants", "wanted", "require", "requires", "think", "believe", "hope",
    "hoping", "hopefully", "guess", "presumably", "probably", "likely", "possibly", "perhaps",
    "maybe", "seems", "seem", "seemed", "appears", "appear", "appeared", "apparently",
    "supposedly", "allegedly", "reportedly", "theoretically", "ideally", "ensure", "ensures",
    "ensuring", "ensured", "verify", "verifies", "verifying", "check", "checking", "confirm",
    "confirming", "validate", "validating", "let", "lets", "try", "trying", "guarantee",
    "guarantees", "guaranteeing", "aim", "aiming", "wait", "waiting", "assume", "expect",
    "expecting", "expected", "sure", "suspect", "supposed", "intend", "intended", "please",
    "afterwards", "wonder", "wondering", "looks",
];

/// Right before the subject: the claim is caused, wished for or waited for.
pub(super) const ADJACENT: &[&str] = &[
    "make", "makes", "making", "made", "get", "gets", "getting", "keep", "keeps", "keeping",
    "kept", "see", "watch", "letting", "help", "helps", "helping", "after", "than", "like", "of",
    "having", "or", "until", "without", "cause", "causes", "leave", "leaves",
];

/// In the same clause before the claim: negation or possibility.
pub(super) const NEGATIONS: &[&str] = &[
    "not", "no", "none", "never", "neither", "nor", "without", "cannot", "can", "hardly", "unable",
];
/// Verbs whose negation reaches to the end of the sentence ("I have not verified that ...").
pub(super) const KNOWING: &[&str] = &[
    "verify", "verified", "check", "checked", "confirm", "confirmed", "run", "ran", "think",
    "believe", "sure", "certain", "know", "see", "seen", "say", "guarantee", "mean", "test",
    "tested", "true", "case", "clear", "proven", "yet",
];

/// Labels: with a colon after them, what follows is wanted or past.
pub(super) const LABELS: &[&str] = &[
    "target", "plan", "next", "step", "steps", "acceptance", "before", "example", "expectation",
    "want", "task", "later", "remaining", "then", "expected", "definition", "pending", "commit",
    "message", "title", "quote", "prompt",
];

/// After the claim, in the same clause: it is conditional or about another time.
pub(super) const TAIL_CONDITIONS: &[&str] = &[
    "if", "when", "whenever", "once", "until", "till", "unless", "before", "previously",
    "earlier", "yesterday", "only", "provided", "assuming", "sometimes", "usually", "eventually",
    "intermittently", "mostly", "individually", "alone", "isolation", "partially", "originally",
    "initially",
];
/// After the claim, anywhere in the sentence: exception, hedge or report.
pub(super) const TAIL_DOUBTS: &[&str] = &[
    "except", "excepting", "excluding", "apart", "aside", "barring", "exception", "exceptions",
    "think", "believe", "hope", "hopefully", "presumably", "probably", "supposedly", "guess",
    "seems", "appears", "apparently", "said", "says", "claims", "claimed", "according", "told",
    "reported", "allegedly", "theory", "maybe", "perhaps", "save", "minus", "likely", "underway",
    "waiting",
];

/// Words that may stand right after "pass" without changing what it means.
pub(super) const TAILS: &[&str] = &[
    "now", "again", "successfully", "locally", "with", "in", "on", "after", "and", "so", "but",
    "cleanly", "too", "as", "here", "for", "without", "under", "at", "across", "consistently",
    "fine", "green", "including", "since", "because", "though", "although", "both", "together",
    "throughout", "today", "overall", "already", "still", "everywhere", "using", "via", "against",
    "reliably", "well", "correctly",
];
/// Words between subject and verb.
pub(super) const ADVERBS: &[&str] = &[
    "now", "all", "also", "still", "both", "again", "currently", "successfully", "cleanly",
    "fully", "finally", "already", "each", "just", "do", "does", "are", "is", "'s", "have", "has",
    "been", "remain", "remains", "stay", "came", "back", "report", "completely", "100%",
];
/// Verbs that may be joined to the claim's verb ("compile and pass").
pub(super) const JOINED_VERBS: &[&str] =
    &["run", "ran", "compile", "compiled", "build", "built", "execute", "executed", "work"];
/// Verbs and adjectives that say success.
pub(super) const PASS_WORDS: &[&str] = &[
    "pass", "passes", "passed", "passing", "green", "succeed", "succeeds", "succeeded",
    "successful", "ok", "okay",
];
/// Verbs and adjectives that say failure.
pub(super) const FAIL_WORDS: &[&str] = &["fail", "fails", "failed", "failing", "red", "broken"];
/// "All tests pass on main" is about another place.
pub(super) const ELSEWHERE: &[&str] = &[
    "main", "master", "develop", "trunk", "upstream", "origin", "ci", "staging", "production",
    "baseline", "head",
];
/// After "pass in": the whole of it, or a duration.
pub(super) const WHOLE_PLACES: &[&str] = &[
    "total", "all", "every", "workspace", "repo", "repository", "project", "codebase", "branch",
    "under", "about", "less", "both", "me", "everything",
];
/// After "pass with": still the same statement.
pub(super) const OTHER_CODE: &[&str] =
    &["old", "previous", "original", "unmodified", "unpatched", "mocked"];
/// After "pass without": nothing is taken away.
pub(super) const NOTHING_BAD: &[&str] = &[
    "error", "errors", "failure", "failures", "issue", "issues", "warning", "warnings", "problem",
    "problems", "any", "regressions", "regression", "modification", "modifications",
];
/// First words of a test command written as plain words.
pub(super) const RUNNER_WORDS: &[&str] = &[
    "cargo", "npm", "npx", "yarn", "pnpm", "bun", "deno", "go", "make", "just", "mvn", "gradle",
    "dotnet", "mix", "swift", "bazel", "node", "rails", "pytest", "jest", "vitest", "mocha",
    "rspec", "phpunit", "ctest", "tox", "nox",
];
/// Small numbers in words.
pub(super) const NUMBERS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];
