//! A price table, given by the user: whole micro-units of money for a million tokens.
//!
//! fornax knows no prices of its own. A model that the table does not name is unpriced, which is
//! not the same as free. Money is counted in whole numbers and rounded once, at the end.

use super::count::COUNT_MAX;
use super::tokens::{Amount, Confidence, Tokens};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Tokens that a price is for.
const PER_TOKENS: i128 = 1_000_000;

/// Prices of one model, in micro-units for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input beside the cache, and also what no price of its own is given for.
    pub input: u64,
    /// Input read from the cache; absent = priced as input.
    #[serde(default)]
    pub cached_input: Option<u64>,
    /// Input written to the cache; absent = priced as input.
    #[serde(default)]
    pub cache_write_input: Option<u64>,
    /// Output, reasoning included.
    pub output: u64,
}

/// The table: exact model names, then the longest prefix that fits.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    pub currency: String,
    #[serde(default)]
    pub models: BTreeMap<String, Price>,
    #[serde(default)]
    pub prefixes: BTreeMap<String, Price>,
}

impl Prices {
    /// Reads a table from JSON.
    ///
    /// # Errors
    /// What is wrong with the text, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let table: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let max = u64::try_from(COUNT_MAX).unwrap_or(u64::MAX);
        for (name, price) in table.models.iter().chain(&table.prefixes) {
            let all = [Some(price.input), price.cached_input, price.cache_write_input]
                .into_iter()
                .chain([Some(price.output)]);
            if all.flatten().any(|amount| amount > max) {
                return Err(format!("a price of {name} is too large"));
            }
        }
        Ok(table)
    }

    /// The price of a model.
    pub fn of(&self, model: &str) -> Option<&Price> {
        self.models.get(model).or_else(|| {
            let fitting = self.prefixes.iter().filter(|(prefix, _)| model.starts_with(*prefix));
            fitting.max_by_key(|(prefix, _)| prefix.len()).map(|(_, price)| price)
        })
    }
}

/// A sum of money with its unpriced part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Micro-units times a million: what known tokens times prices give.
    scaled: i128,
    confidence: Confidence,
    /// Whether tokens of a model without a price are among it.
    pub is_unpriced: bool,
}

impl Cost {
    /// Nothing spent.
    pub const ZERO: Self = Self { scaled: 0, confidence: Confidence::Exact, is_unpriced: false };

    /// What tokens of a model cost; without a price they are unpriced.
    pub fn of(tokens: &Tokens, price: Option<&Price>) -> Self {
        let Some(price) = price else {
            return Self { scaled: 0, confidence: Confidence::Unknown, is_unpriced: true };
        };
        let mut cost = Self::ZERO;
        let mut fresh = tokens.input;
        let apart = [
            (tokens.cached_input, price.cached_input),
            (tokens.cache_write_input, price.cache_write_input),
        ];
        // Without a price of its own a part costs what input costs, reported or not.
        for (part, each) in apart.into_iter().filter_map(|(part, each)| Some((part, each?))) {
            cost = cost.plus(Self::priced(part, each));
            fresh.known = fresh.known.saturating_sub(part.known).max(0);
        }
        cost.plus(Self::priced(fresh, price.input)).plus(Self::priced(tokens.output, price.output))
    }

    fn priced(tokens: Amount, each: u64) -> Self {
        let scaled = i128::from(tokens.known) * i128::from(each);
        Self { scaled, confidence: tokens.confidence, is_unpriced: false }
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            scaled: self.scaled.saturating_add(other.scaled),
            confidence: self.confidence.max(other.confidence),
            is_unpriced: self.is_unpriced || other.is_unpriced,
        }
    }

    /// Whole micro-units, rounded half up, and how far they can be trusted.
    pub fn micros(self) -> Amount {
        let rounded = (self.scaled.saturating_add(PER_TOKENS / 2)).div_euclid(PER_TOKENS);
        match i64::try_from(rounded) {
            Ok(known) => Amount { known, confidence: self.confidence },
            Err(_) => {
                Amount { known: i64::MAX, confidence: self.confidence.max(Confidence::LowerBound) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::TokenCounts;
    use super::*;

    const TABLE: &str = r#"{"currency": "USD",
        "models": {"big-1": {"input": 3000000, "cached_input": 300000,
                             "cache_write_input": 3750000, "output": 15000000}},
        "prefixes": {"big": {"input": 1000000, "output": 2000000},
                     "big-2": {"input": 5000000, "output": 6000000}}}"#;

    fn spent(input: i64, cached: i64, written: i64, output: i64) -> Tokens {
        let counts = TokenCounts {
            input: Some(input),
            cached_input: Some(cached),
            cache_write_input: Some(written),
            output: Some(output),
            ..TokenCounts::default()
        };
        Tokens::of(&counts, None)
    }

    #[test]
    fn an_exact_name_beats_a_prefix_and_a_longer_prefix_a_shorter_one() {
        let table = Prices::parse(TABLE).unwrap();
        assert_eq!(table.of("big-1").unwrap().output, 15_000_000);
        assert_eq!(table.of("big-2-mini").unwrap().input, 5_000_000);
        assert_eq!(table.of("big-3").unwrap().input, 1_000_000);
        assert_eq!(table.of("small"), None);
    }

    #[test]
    fn cached_and_written_input_have_prices_of_their_own_and_are_not_priced_twice() {
        let table = Prices::parse(TABLE).unwrap();
        let cost = Cost::of(&spent(1_000, 700, 200, 10), table.of("big-1"));
        // 100 * 3 + 700 * 0.3 + 200 * 3.75 + 10 * 15
        assert_eq!(cost.micros().value(), Some(1_410));
        let plain = Cost::of(&spent(1_000, 700, 200, 10), table.of("big-3"));
        assert_eq!(plain.micros().value(), Some(1_020));
    }

    #[test]
    fn a_model_without_a_price_is_unpriced_and_never_free() {
        let table = Prices::parse(TABLE).unwrap();
        let cost = Cost::of(&spent(10, 0, 0, 1), table.of("big-1"))
            .plus(Cost::of(&spent(10, 0, 0, 1), table.of("small")));
        assert!(cost.is_unpriced);
        assert_eq!((cost.micros().value(), cost.micros().known), (None, 45));
    }

    #[test]
    fn money_is_rounded_once_at_the_end() {
        let third =
            Price { input: 333_333, cached_input: None, cache_write_input: None, output: 0 };
        let one = Cost::of(&spent(1, 0, 0, 0), Some(&third));
        assert_eq!(one.micros().known, 0);
        assert_eq!(one.plus(one).plus(one).micros().known, 1);
    }

    #[test]
    fn a_fraction_or_an_unknown_key_is_refused() {
        let with = |price: &str| {
            Prices::parse(&format!("{{\"currency\": \"USD\", \"models\": {{\"m\": {price}}}}}"))
        };
        assert!(with(r#"{"input": 1.5, "output": 1}"#).is_err());
        assert!(with(r#"{"input": -1, "output": 1}"#).is_err());
        assert!(with(r#"{"input": 1, "output": 1, "ouptut": 2}"#).is_err());
        assert!(with(r#"{"input": 99999999999999999, "output": 1}"#).is_err());
        assert!(with(r#"{"input": 1, "output": 0}"#).is_ok());
    }
}
