//! placeholder
pub(super) struct BuiltIn;
impl crate::conformance::subjects::SubjectFactory for BuiltIn {}
