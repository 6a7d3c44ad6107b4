//! What a claim names: files, a command, a commit, a branch, a pull request, a package.
//!
//! Everything is as the sentence spells it; what it does not name is unknown, never empty by rule.

use serde::{Deserialize, Serialize};

/// The things that a claim names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Object {
    /// Files, in the order of the sentence, as the agent spells them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// A command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// A commit's hash, abbreviated or whole, in lower case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// A branch, without its remote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// A remote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// The number or the address of a pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<String>,
    /// The name of a package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The version of the package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl Object {
    /// True when the claim names nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
