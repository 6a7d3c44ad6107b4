//! Sums of tokens that know how far they can be trusted.

use super::{Floor, TokenCounts};
use serde::Serialize;

/// How far a number can be trusted; the worst of its parts decides for a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// What was reported, all of it.
    Exact,
    /// At least so much was spent.
    LowerBound,
    /// A part was not reported; only the known part is a number.
    Unknown,
}

impl Confidence {
    /// The word in JSON and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LowerBound => "lower_bound",
            Self::Unknown => "unknown",
        }
    }
}

/// A number of tokens: its known part and how far that can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Amount {
    pub known: i64,
    pub confidence: Confidence,
}

impl Amount {
    /// The empty sum.
    pub const ZERO: Self = Self { known: 0, confidence: Confidence::Exact };

    /// A reported number, or nothing known.
    pub fn of(count: Option<i64>) -> Self {
        match count {
            Some(count) => Self { known: count, confidence: Confidence::Exact },
            None => Self { known: 0, confidence: Confidence::Unknown },
        }
    }

    /// The number; `None` where a part of it is unknown.
    pub fn value(self) -> Option<i64> {
        (self.confidence != Confidence::Unknown).then_some(self.known)
    }

    /// The same number, trusted no more than `confidence`.
    #[must_use]
    pub fn at_best(self, confidence: Confidence) -> Self {
        Self { confidence: self.confidence.max(confidence), ..self }
    }

    /// The sum of two; one beyond what a number can hold is at least the largest there is.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let confidence = self.confidence.max(other.confidence);
        match self.known.checked_add(other.known) {
            Some(known) => Self { known, confidence },
            None => Self { known: i64::MAX, confidence: confidence.max(Confidence::LowerBound) },
        }
    }
}

/// The six numbers of a row. Cached and cache-write input are parts of input, reasoning output is
/// a part of output, total is input and output: no two of them are ever added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tokens {
    pub input: Amount,
    pub cached_input: Amount,
    pub cache_write_input: Amount,
    pub output: Amount,
    pub reasoning_output: Amount,
    pub total: Amount,
}

impl Tokens {
    /// The empty sum.
    pub const ZERO: Self = Self {
        input: Amount::ZERO,
        cached_input: Amount::ZERO,
        cache_write_input: Amount::ZERO,
        output: Amount::ZERO,
        reasoning_output: Amount::ZERO,
        total: Amount::ZERO,
    };

    /// Names of the numbers, in the order of [`Tokens::named`].
    pub const NAMES: [&'static str; 6] =
        ["input", "cached_input", "cache_write_input", "output", "reasoning_output", "total"];

    /// What one report says.
    pub fn of(counts: &TokenCounts, floor: Option<Floor>) -> Self {
        let mut input = Amount::of(counts.input);
        if counts.input.is_none() {
            let parts = [counts.uncached_input, counts.cached_input, counts.cache_write_input];
            input.known = parts.into_iter().flatten().fold(0_i64, i64::saturating_add);
        }
        let output = Amount::of(counts.output);
        let mut total = input.plus(output);
        if let (Confidence::Unknown, Some(stated)) = (total.confidence, counts.total) {
            total = Amount::of(Some(stated));
        }
        let read = Self {
            input,
            cached_input: Amount::of(counts.cached_input),
            cache_write_input: Amount::of(counts.cache_write_input),
            output,
            reasoning_output: Amount::of(counts.reasoning_output),
            total,
        };
        match floor {
            None => read,
            Some(Floor::All) => read.at_best(Confidence::LowerBound),
            Some(Floor::Output) => Self {
                output: output.at_best(Confidence::LowerBound),
                reasoning_output: read.reasoning_output.at_best(Confidence::LowerBound),
                total: total.at_best(Confidence::LowerBound),
                ..read
            },
        }
    }

    /// The numbers with their names.
    pub fn named(&self) -> [(&'static str, Amount); 6] {
        let [a, b, c, d, e, f] = Self::NAMES;
        [
            (a, self.input),
            (b, self.cached_input),
            (c, self.cache_write_input),
            (d, self.output),
            (e, self.reasoning_output),
            (f, self.total),
        ]
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.zip(other, Amount::plus)
    }

    /// All numbers trusted no more than `confidence`.
    #[must_use]
    pub fn at_best(&self, confidence: Confidence) -> Self {
        self.zip(self, |amount, _| amount.at_best(confidence))
    }

    /// Number by number.
    #[must_use]
    pub fn zip(&self, other: &Self, of: impl Fn(Amount, Amount) -> Amount) -> Self {
        Self {
            input: of(self.input, other.input),
            cached_input: of(self.cached_input, other.cached_input),
            cache_write_input: of(self.cache_write_input, other.cache_write_input),
            output: of(self.output, other.output),
            reasoning_output: of(self.reasoning_output, other.reasoning_output),
            total: of(self.total, other.total),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(input: Option<i64>, output: Option<i64>) -> TokenCounts {
        TokenCounts { input, output, ..TokenCounts::default() }
    }

    #[test]
    fn a_sum_with_an_unknown_part_is_unknown_and_keeps_what_is_known() {
        let sum = Tokens::of(&counts(Some(5), Some(2)), None)
            .plus(&Tokens::of(&counts(None, Some(3)), None));
        assert_eq!((sum.input.value(), sum.input.known), (None, 5));
        assert_eq!((sum.output.value(), sum.total.value(), sum.total.known), (Some(5), None, 10));
    }

    #[test]
    fn an_unfinished_response_bounds_its_output_and_total_and_not_its_input() {
        let read = Tokens::of(&counts(Some(5), Some(2)), Some(Floor::Output));
        assert_eq!(read.input.confidence, Confidence::Exact);
        assert_eq!(read.output.confidence, Confidence::LowerBound);
        assert_eq!((read.total.value(), read.total.confidence), (Some(7), Confidence::LowerBound));
    }

    #[test]
    fn a_stated_total_stands_in_only_where_a_part_is_unknown() {
        let stated = |input| TokenCounts { total: Some(9), ..counts(input, Some(2)) };
        assert_eq!(Tokens::of(&stated(Some(5)), None).total.value(), Some(7));
        assert_eq!(Tokens::of(&stated(None), None).total.value(), Some(9));
    }

    #[test]
    fn the_known_part_of_an_input_is_what_was_stated_of_it() {
        let partly = TokenCounts {
            uncached_input: Some(4),
            cached_input: Some(30),
            ..TokenCounts::default()
        };
        let read = Tokens::of(&partly, None);
        assert_eq!((read.input.value(), read.input.known), (None, 34));
    }

    #[test]
    fn a_sum_too_large_for_a_number_is_a_lower_bound_and_never_wraps() {
        let huge = Amount { known: i64::MAX - 1, confidence: Confidence::Exact };
        let sum = huge.plus(Amount::of(Some(5)));
        assert_eq!((sum.known, sum.confidence), (i64::MAX, Confidence::LowerBound));
    }
}
