//! placeholder
pub mod subjects {
    pub trait SubjectFactory {}
}
