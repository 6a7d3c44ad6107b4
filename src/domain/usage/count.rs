//! What is a token count: a whole number from 0 to 2^53-1, and nothing else.

use super::TokenCounts;
use serde_json::Value;

/// Largest count believed: the largest whole number that every JSON reader keeps exactly.
pub const COUNT_MAX: i64 = 9_007_199_254_740_991;

/// Reads one stated count; `None` when the value is no plausible count (negative, fractional, not
/// a number, or beyond [`COUNT_MAX`]).
pub fn read(value: &Value) -> Option<i64> {
    value.as_i64().filter(|count| plausible(*count))
}

/// Whether a number can be a count of tokens.
pub fn plausible(count: i64) -> bool {
    (0..=COUNT_MAX).contains(&count)
}

impl TokenCounts {
    /// The counts without those that cannot be, and the names of the ones taken out.
    pub fn checked(mut self) -> (Self, Vec<&'static str>) {
        let mut broken = Vec::new();
        let fields = [
            ("input", &mut self.input),
            ("cached_input", &mut self.cached_input),
            ("cache_write_input", &mut self.cache_write_input),
            ("output", &mut self.output),
            ("reasoning_output", &mut self.reasoning_output),
            ("total", &mut self.total),
            ("uncached_input", &mut self.uncached_input),
        ];
        for (name, field) in fields {
            if field.is_some_and(|count| !plausible(count)) {
                *field = None;
                broken.push(name);
            }
        }
        (self, broken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_whole_numbers_from_zero_up_are_counts() {
        assert_eq!(read(&json!(0)), Some(0));
        assert_eq!(read(&json!(COUNT_MAX)), Some(COUNT_MAX));
        for odd in
            [json!(-1), json!(1.5), json!(1e300), json!(COUNT_MAX + 1), json!("7"), json!(null)]
        {
            assert_eq!(read(&odd), None, "{odd}");
        }
    }

    #[test]
    fn an_implausible_count_is_taken_out_and_named() {
        let counts = TokenCounts { input: Some(-1), output: Some(3), ..TokenCounts::default() };
        let (kept, broken) = counts.checked();
        assert_eq!((kept.input, kept.output), (None, Some(3)));
        assert_eq!(broken, ["input"]);
    }
}
