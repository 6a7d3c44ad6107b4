//! What a repository is asked about a claim, and what it can testify.
//!
//! A repository is a witness, not a record: it tells how things stand when it is asked. Whatever it
//! cannot tell has a typed reason; nothing is concluded from its silence.

use serde::{Deserialize, Serialize};

/// What is asked on behalf of one claim.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// The folder in which the work was done; the repository is the one that holds it.
    pub folder: String,
    /// A commit's hash or the beginning of one, in hex. Without one the branch's tip is meant.
    pub commit: Option<String>,
    /// A branch by its short name. Without one the branch that is checked out is meant.
    pub branch: Option<String>,
    /// A remote by its name. Without one every remote counts.
    pub remote: Option<String>,
    /// Files that the commit is said to hold, absolute or relative to the folder.
    pub paths: Vec<String>,
    /// When the commit may have been made, in seconds since 1970, both ends included.
    pub between: Option<(i64, i64)>,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Testimony {
    /// The repository could be asked.
    Facts(Facts),
    /// It could not.
    Unavailable(Unavailable),
}

crate::open_tag! {
    /// Why a repository could not be asked.
    pub enum Unavailable {
        /// The folder is gone.
        FolderMissing = "folder_missing",
        /// No repository holds the folder.
        NotARepository = "not_a_repository",
        /// The repository or its configuration cannot be read.
        Unreadable = "repository_unreadable",
        /// The answer did not come in time.
        TimedOut = "timed_out",
    }
}

/// What a repository shows at the moment of asking.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The commit that is checked out; absent while there is none.
    pub head: Option<String>,
    /// The branch that is checked out, by its short name; absent when none is.
    pub head_branch: Option<String>,
    /// What became of the commit that was asked about.
    pub commit: Found,
    /// Whether the commit is in the history of the branch that was asked about, or else of the
    /// commit that is checked out. Absent where that cannot be told.
    pub on_branch: Option<bool>,
    /// Remote-tracking references whose history holds the commit, such as `origin/main`.
    pub on_remotes: Vec<String>,
    /// Whether there is a remote-tracking reference that the question is about at all.
    pub remote_known: bool,
    /// The files that were asked about, and whether the commit changed them. Absent where that
    /// cannot be told.
    pub touches: Vec<(String, Option<bool>)>,
    /// The files that were asked about whose content in the work tree is not that of `head`. A
    /// filter or a line-end conversion can make a file differ that `git status` calls clean.
    pub differing: Vec<String>,
    /// Commits in the history of the branch made between the times that were asked about, newest
    /// first, at most [`MADE_MAX`].
    pub made_between: Vec<String>,
    /// True when the history is cut: what is not found may lie beyond the cut.
    pub shallow: bool,
    /// True when there is no work tree to look at.
    pub bare: bool,
    /// True when a walk of the history ended at its bound before its end.
    pub cut_short: bool,
}

/// At most so many commits are named of those made in a span of time.
pub const MADE_MAX: usize = 8;

/// What became of the commit that was asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Found {
    /// There is no commit to speak of: none was named and no branch has a tip.
    #[default]
    Nothing,
    /// The repository holds it.
    Commit(CommitFacts),
    /// No object has that hash.
    Missing,
    /// Several objects begin so.
    Ambiguous,
    /// The object is no commit.
    OtherObject,
}

/// A commit that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitFacts {
    /// Its whole hash, in hex.
    pub id: String,
    /// When it was made by its own word, in seconds since 1970.
    pub committed_at: i64,
    /// True when the question named it; false when it is the branch's tip.
    pub named: bool,
}

impl Facts {
    /// The commit, when it is there.
    pub fn found(&self) -> Option<&CommitFacts> {
        match &self.commit {
            Found::Commit(commit) => Some(commit),
            _ => None,
        }
    }
}
