//! Names that were nearly typed, and shell-like patterns over case ids.
//!
//! An unknown name is always an error here; the nearest known ones make it a short one.

/// At most three of `names`, nearest to `word` first; never empty while there are names.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut ranked: Vec<(usize, &str)> =
        names.into_iter().map(|name| (distance(word, name), name)).collect();
    ranked.sort_unstable();
    let best = ranked.first().map_or(0, |(distance, _)| *distance);
    ranked.retain(|(distance, _)| *distance <= best + 2);
    ranked.truncate(3);
    ranked.into_iter().map(|(_, name)| name).collect()
}

/// Edit distance over characters: insertions, deletions, substitutions; letter case is free.
fn distance(one: &str, two: &str) -> usize {
    let two: Vec<char> = two.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (index, left) in one.to_lowercase().chars().enumerate() {
        let mut diagonal = index;
        let mut previous = index + 1;
        for (cell, right) in row.iter_mut().skip(1).zip(&two) {
            let substituted = diagonal + usize::from(left != *right);
            diagonal = *cell;
            *cell = substituted.min(diagonal + 1).min(previous + 1);
            previous = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = index + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

/// Whether a name matches a pattern in which `*` is any text and `?` any character.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut pattern_rest = pattern;
    let mut name_rest = name;
    let mut retry: Option<(&str, &str)> = None;
    loop {
        let step = match (pattern_rest.chars().next(), name_rest.chars().next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                pattern_rest = after_first(pattern_rest);
                retry = Some((pattern_rest, name_rest));
                continue;
            }
            (Some(p), Some(n)) => p == '?' || p.eq_ignore_ascii_case(&n),
            _ => false,
        };
        if step {
            pattern_rest = after_first(pattern_rest);
            name_rest = after_first(name_rest);
            continue;
        }
        match retry {
            Some((after_star, from)) if !from.is_empty() => {
                pattern_rest = after_star;
                name_rest = after_first(from);
                retry = Some((after_star, name_rest));
            }
            _ => return false,
        }
    }
}

fn after_first(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    chars.as_str()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_edit_distance_is_the_usual_one() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("IDN-01", "idn-01"), 0);
    }

    #[test]
    fn the_nearest_name_comes_first() {
        let names = ["idn_lowercases", "idn_lowercase_hex", "ext_unbounded"];
        assert_eq!(nearest("idn_lowercase", names).first(), Some(&"idn_lowercases"));
        assert!(!nearest("zzz", names).is_empty());
        assert!(nearest("x", []).is_empty());
    }

    #[test]
    fn patterns_match_like_a_shell() {
        assert!(matches("IDN-*", "IDN-07"));
        assert!(matches("*-0?", "EXT-04"));
        assert!(matches("idn-01", "IDN-01"));
        assert!(matches("*a*b", "xaayab"));
        assert!(!matches("IDN-0", "IDN-01"));
        assert!(!matches("*x", "IDN-01"));
        assert!(!matches("", "a"));
    }

    proptest! {
        #[test]
        fn the_distance_is_symmetric(a in ".{0,8}", b in ".{0,8}") {
            prop_assert_eq!(distance(&a, &b), distance(&b, &a));
        }

        #[test]
        fn a_star_matches_everything(name in ".{0,12}") {
            prop_assert!(matches("*", &name));
            let pattern = format!("{}*", "?".repeat(name.chars().count()));
            prop_assert!(matches(&pattern, &name));
        }
    }
}
