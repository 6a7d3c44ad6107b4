//! A small seeded generator for property cases, so that a printed seed repeats a run.

/// SplitMix64: enough for test inputs, and nothing else.
pub struct Random(u64);

impl Random {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % u64::try_from(bound.max(1)).unwrap_or(1)).unwrap_or(0)
    }

    /// A text of `length` characters out of `alphabet`.
    pub fn text(&mut self, alphabet: &[char], length: usize) -> String {
        (0..length).filter_map(|_| alphabet.get(self.below(alphabet.len()))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn one_seed_gives_one_sequence_and_stays_below_its_bound() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (0..50).map(|_| random.below(7)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!((0..7).all(|n| draw(1).contains(&n)) && draw(1).iter().all(|n| *n < 7));
        assert_eq!(Random::new(1).below(0), 0);
    }
}
