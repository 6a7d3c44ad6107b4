//! One integration binary: a module per subject.
