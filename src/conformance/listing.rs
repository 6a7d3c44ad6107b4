//! What there is: cases, modes, subjects, offers; one of them explained; who covers whom.
//!
//! Each answer is text for a reader, or one JSON value with the same content.

use serde_json::{Value, json};

use super::contract::{Case, Mode, Suite};
use super::options::{Listing, unknown};
use super::subjects::SubjectRow;
use super::teeth::Matrix;

/// A listing as one JSON array.
pub fn listed(what: Listing, suite: &Suite, subjects: &[SubjectRow]) -> Value {
    match what {
        Listing::Cases => suite.cases().map(|(_, case)| case_row(suite, case)).collect(),
        Listing::Modes => suite.breaks().map(mode_row).collect(),
        Listing::Subjects => subjects.iter().map(|row| subject_row(suite, row)).collect(),
        Listing::Claims => subjects.iter().map(claims_row).collect(),
    }
}

/// A listing as text, a line an entry, the name first.
pub fn listed_text(what: Listing, suite: &Suite, subjects: &[SubjectRow]) -> String {
    let line = |row: &Value| {
        let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let words = |key: &str| {
            let words = row.get(key).and_then(Value::as_array).into_iter().flatten();
            words.filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
        };
        match what {
            Listing::Cases => format!("{}  {}", text("id"), text("title")),
            Listing::Modes => {
                format!("{:<28} {:<7} {}", text("name"), words("must"), text("defect"))
            }
            Listing::Subjects | Listing::Claims => {
                format!("{:<22} {}", text("name"), words("claims"))
            }
        }
    };
    let rows = listed(what, suite, subjects);
    rows.as_array().into_iter().flatten().map(|row| line(row) + "\n").collect()
}

fn case_row(suite: &Suite, case: &Case) -> Value {
    json!({
        "id": case.id,
        "title": case.title,
        "clause": case.clause,
        "checks": case.checks,
        "modes": suite.modes_of(case.id),
        "waiver": waiver_of(suite, case.id),
    })
}

fn mode_row(mode: &Mode) -> Value {
    json!({"name": mode.name, "must": mode.must, "may": mode.may, "defect": mode.defect})
}

fn claims_row(row: &SubjectRow) -> Value {
    let offers: Vec<&str> = row.offers.iter().map(|offer| offer.as_str()).collect();
    json!({"name": row.name, "claims": offers})
}

fn subject_row(suite: &Suite, row: &SubjectRow) -> Value {
    let able = |case: &&Case| case.body.needs().is_some_and(|needs| row.offers.contains(&needs));
    let cases = suite.cases().map(|(_, case)| case).filter(able).count();
    let mut listed = claims_row(row);
    if let Some(object) = listed.as_object_mut() {
        object.insert("cases".to_owned(), json!(cases));
    }
    listed
}

fn waiver_of(suite: &Suite, case: &str) -> Option<&'static str> {
    suite.waivers.iter().find(|waiver| waiver.case == case).map(|waiver| waiver.reason)
}

/// Why a case or a mode exists.
///
/// # Errors
/// The refusal of a name that is neither.
pub fn explained(name: &str, suite: &Suite) -> Result<Value, String> {
    let case = suite.cases().map(|(_, case)| case).find(|c| c.id.eq_ignore_ascii_case(name));
    if let Some(case) = case {
        let mut row = case_row(suite, case);
        if let Some(object) = row.as_object_mut() {
            object.insert("why".to_owned(), json!(case.why));
        }
        return Ok(row);
    }
    if let Some(mode) = suite.breaks().find(|mode| mode.name.eq_ignore_ascii_case(name)) {
        let mut row = mode_row(mode);
        if let Some(object) = row.as_object_mut() {
            let seen = (!mode.seen.is_empty()).then_some(mode.seen);
            object.insert("seen".to_owned(), json!(seen));
        }
        return Ok(row);
    }
    let cases = suite.cases().map(|(_, case)| case.id);
    Err(unknown("case or mode", name, cases.chain(suite.breaks().map(|mode| mode.name))))
}

/// The same explanation as text.
///
/// # Errors
/// The refusal of a name that is neither.
pub fn explained_text(name: &str, suite: &Suite) -> Result<String, String> {
    let row = explained(name, suite)?;
    let text = |key: &str| row.get(key).and_then(Value::as_str);
    let words = |key: &str| {
        let words = row.get(key).and_then(Value::as_array).into_iter().flatten();
        words.filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
    };
    if let Some(id) = text("id") {
        let covered = match text("waiver") {
            Some(reason) => format!("no break mode: {reason}"),
            None => format!("reddened by {}", words("modes")),
        };
        let (title, why, clause) = (text("title"), text("why"), text("clause"));
        return Ok(format!(
            "{id}: {}\n\nWhy: {}\nDemanded by: {}\nBreak modes: {covered}\n\
             When it is red: the failing check says what was demanded and what was found; \
             change the subject, not the case.\n",
            title.unwrap_or_default(),
            why.unwrap_or_default(),
            clause.unwrap_or_default(),
        ));
    }
    let seen = text("seen").unwrap_or("no public report of this defect is known");
    Ok(format!(
        "{}: {}\n\nMust redden: {}\nSeen: {seen}\nTry: fornax conformance --mode {}\n\
         When it is not red: the case lost its teeth; look at its checks, or at a decorator \
         that fires no more.\n",
        text("name").unwrap_or_default(),
        text("defect").unwrap_or_default(),
        words("must"),
        text("name").unwrap_or_default(),
    ))
}

/// Which modes cover which case and which site, as one JSON object.
pub fn coverage(suite: &Suite, teeth: &Matrix) -> Value {
    let cases: Vec<Value> = suite
        .cases()
        .map(|(_, case)| {
            let modes = suite.modes_of(case.id);
            json!({"id": case.id, "modes": modes, "waiver": waiver_of(suite, case.id)})
        })
        .collect();
    json!({"cases": cases, "sites": teeth.0})
}

/// The same coverage as Markdown.
pub fn coverage_text(suite: &Suite, teeth: &Matrix) -> String {
    let mut text = String::from("# Coverage\n\n| case | modes | waiver |\n| --- | --- | --- |\n");
    for (_, case) in suite.cases() {
        let modes = suite.modes_of(case.id).join(", ");
        let waiver = waiver_of(suite, case.id).unwrap_or_default();
        text.push_str(&format!("| {} | {modes} | {waiver} |\n", case.id));
    }
    text.push_str("\n| site | tripped by |\n| --- | --- |\n");
    for (site, modes) in &teeth.0 {
        let modes: Vec<&str> = modes.iter().map(String::as_str).collect();
        let excuse = suite.untoothed.iter().find(|row| row.site == site.as_str());
        let by = match (modes.is_empty(), excuse) {
            (true, Some(row)) => format!("nothing: {}", row.reason),
            (true, None) => "nothing".to_owned(),
            (false, _) => modes.join(", "),
        };
        text.push_str(&format!("| {site} | {by} |\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::registry::suite;

    #[test]
    fn every_case_and_every_mode_can_be_explained() {
        let suite = suite();
        let cases = suite.cases().map(|(_, case)| case.id);
        for name in cases.chain(suite.breaks().map(|mode| mode.name)) {
            assert!(explained_text(name, &suite).unwrap().starts_with(name), "{name}");
        }
        assert!(explained("none", &suite).is_err());
    }

    #[test]
    fn an_unknown_name_is_refused_with_near_ones() {
        let refusal = explained("IDN-2", &suite()).unwrap_err();
        assert!(refusal.contains("IDN-02"), "{refusal}");
    }

    #[test]
    fn a_waived_case_shows_its_reason() {
        let text = coverage_text(&suite(), &Matrix::default());
        assert!(text.contains("| IDN-01 |  | the grammar itself"), "{text}");
        assert!(text.contains("| IDN-06 | idn_lowercases |  |"));
    }

    #[test]
    fn a_listing_has_a_line_an_entry_and_the_name_first() {
        let suite = suite();
        let text = listed_text(Listing::Modes, &suite, &[]);
        let names: Vec<_> = text.lines().map(|l| l.split(' ').next().unwrap()).collect();
        let known: Vec<_> = suite.breaks().map(|mode| mode.name).collect();
        assert_eq!(names, known);
        let cases = listed_text(Listing::Cases, &suite, &[]);
        assert!(cases.starts_with("IDN-01  a key names harness"), "{cases}");
    }
}
