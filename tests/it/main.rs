//! One integration binary: a module per subject.

mod conformance;
