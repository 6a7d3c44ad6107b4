//! `fornax usage`.

use crate::app::lookup;
use crate::app::usage::{By, Query, Sum, Usage, UsageRow, keep_summary, usage};
use crate::base::text::{one_line, shorten};
use crate::base::time::Micros;
use crate::base::tz::{Day, Zone, ZoneTable};
use crate::base::when::when;
use crate::cli::args::{ByArg, UsageArgs};
use crate::cli::exit::Exit;
use crate::cli::parts::Parts;
use crate::cli::table;
use crate::cli::ui::{Tone, Ui};
use crate::domain::usage::prices::Prices;
use crate::domain::usage::tokens::{Amount, Confidence};
use crate::ports::reader::SeenAt;
use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};
use std::io::Read as _;
use std::path::Path;

/// Longest key in a table.
const KEY_CHARS: usize = 36;

/// Largest price table and zone file read.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Where systems keep compiled time zones.
const ZONE_FOLDERS: [&str; 3] =
    ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo"];

/// Counts tokens.
pub(super) fn run(args: &UsageArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let zone = zone(&args.tz, parts)?;
    let now = parts.clock.now();
    let since = args.since.as_deref().map(|text| moment(text, &zone, 0, now)).transpose()?;
    let until = args.until.as_deref().map(|text| moment(text, &zone, 1, now)).transpose()?;
    let prices = args.prices.as_deref().map(|path| price_table(path, parts)).transpose()?;
    let mut store =
        parts.store(false, None, &|text| ui.note(text)).context("cannot count usage")?;
    let session = match &args.session {
        Some(word) => Some(lookup::by_word(store.reader(), word)?.key),
        None => None,
    };
    let query = Query {
        by: by(args.by),
        zone: &zone,
        since,
        until,
        session: session.as_deref(),
        prices: prices.as_ref(),
        explain: args.explain,
    };
    if query.can_be_summed() {
        // Where it cannot be kept (a locked or read-only store) this question takes as long as the
        // first one.
        let _ = keep_summary(store.as_mut());
    }
    let answer = usage(store.reader(), &query)?;
    let currency = prices.as_ref().map(|table| table.currency.as_str());
    if ui.json {
        ui.json(&as_json(&answer, args, currency))?;
    } else {
        print(&answer, args, currency, ui)?;
    }
    for failed in &answer.failed {
        ui.note(&format!("row {} could not be read: {}", failed.id, failed.error));
    }
    Ok(u8::from(!answer.failed.is_empty()))
}

fn by(arg: ByArg) -> By {
    match arg {
        ByArg::Day => By::Day,
        ByArg::Session => By::Session,
        ByArg::Model => By::Model,
        ByArg::Provider => By::Provider,
        ByArg::Tree => By::Tree,
    }
}

/// A zone by offset, or by name from the system's compiled zones.
fn zone(text: &str, parts: &Parts) -> Result<Zone> {
    if let Some(zone) = Zone::parse(text) {
        return Ok(zone);
    }
    // A name is a relative path of plain words, so that it cannot lead out of the folder.
    let is_name = text.split('/').all(|word| {
        !word.is_empty()
            && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+'))
    });
    let named = || {
        let folders = ZONE_FOLDERS.iter().filter(|_| is_name);
        folders
            .map(|folder| Path::new(folder).join(text))
            .find_map(|path| ZoneTable::parse(&small_file(&path, parts).ok()?))
    };
    let unknown = || {
        let text = one_line(text);
        Exit::usage(format!(
            "no time zone '{text}'; use local, utc, an offset like +02:00 or a name like Europe/Berlin"
        ))
    };
    Ok(Zone::Table(named().ok_or_else(unknown)?))
}

/// An instant: RFC 3339, or the start of a day; `days` later where only a day is named.
fn moment(text: &str, zone: &Zone, days: i64, now: Micros) -> Result<Micros> {
    if let Some(day) = Day::parse(text.trim()) {
        return Ok(zone.start_of(Day(day.0 + days)));
    }
    when(text, now).ok_or_else(|| {
        let text = one_line(text);
        Exit::usage(format!(
            "'{text}' is no day (2026-11-01), no instant (2026-11-01T10:00:00Z) and no span (2d)"
        ))
        .into()
    })
}

fn small_file(path: &Path, parts: &Parts) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    parts.files.open(path, 0)?.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn price_table(path: &Path, parts: &Parts) -> Result<Prices> {
    let path = parts.absolute(path);
    let bytes = small_file(&path, parts)
        .with_context(|| format!("cannot read the price table {}", path.display()))?;
    let read = String::from_utf8(bytes).map_err(|e| e.to_string()).and_then(|t| Prices::parse(&t));
    read.map_err(|why| {
        Exit::bad_data(format!("{} is no price table: {why}", path.display())).into()
    })
}

fn as_json(answer: &Usage, args: &UsageArgs, currency: Option<&str>) -> Value {
    let rows: Vec<Value> = answer
        .rows
        .iter()
        .map(|row| {
            let mut object = sum_json(Some(&row.sum), currency);
            object.insert("key".to_owned(), json!(row.key));
            Value::Object(object)
        })
        .collect();
    let excluded: Map<String, Value> = answer
        .excluded
        .iter()
        .map(|(reason, left)| {
            let counts = json!({ "responses": left.reports, "tokens": number(left.tokens) });
            (reason.as_str().to_owned(), counts)
        })
        .collect();
    let mut out = json!({
        "by": by(args.by).as_str(),
        "rows": rows,
        "totals": sum_json(answer.totals.as_ref(), currency),
        "excluded": excluded,
        "failed": answer.failed,
    });
    if let (true, Some(object)) = (args.explain, out.as_object_mut()) {
        let explained: Vec<Value> = answer
            .explained
            .iter()
            .map(|one| {
                json!({
                    "reason": one.reason.as_str(), "conversation": one.conversation,
                    "response": one.response, "tokens": number(one.tokens), "seen": one.seen,
                })
            })
            .collect();
        object.insert("explained".to_owned(), Value::Array(explained));
    }
    out
}

/// The numbers of a sum; without any report none is known and the confidence says so.
fn sum_json(sum: Option<&Sum>, currency: Option<&str>) -> Map<String, Value> {
    let unknown = Amount { known: 0, confidence: Confidence::Unknown };
    let named: Vec<(&str, Amount)> = match sum {
        Some(sum) => sum.tokens.named().to_vec(),
        None => crate::domain::usage::tokens::Tokens::NAMES.map(|name| (name, unknown)).to_vec(),
    };
    let mut out = Map::new();
    let mut known = Map::new();
    let mut confidence = Map::new();
    for (name, amount) in named {
        out.insert(name.to_owned(), amount.value().map_or(Value::Null, number));
        confidence.insert(name.to_owned(), json!(amount.confidence));
        if amount.confidence == Confidence::Unknown {
            known.insert(name.to_owned(), number(amount.known));
        }
    }
    out.insert("confidence".to_owned(), Value::Object(confidence));
    out.insert("known".to_owned(), Value::Object(known));
    out.insert("responses".to_owned(), json!(sum.map_or(0, |sum| sum.responses)));
    if let Some(currency) = currency {
        out.insert("cost".to_owned(), sum.map_or(Value::Null, |sum| cost_json(sum, currency)));
    }
    out
}

fn cost_json(sum: &Sum, currency: &str) -> Value {
    let Some(cost) = sum.cost else { return Value::Null };
    let micros = cost.micros();
    json!({
        "currency": currency,
        "micros": micros.value().map(number),
        "known_micros": number(micros.known),
        "confidence": micros.confidence,
        "unpriced_models": sum.unpriced,
    })
}

/// A whole number; beyond what a number in JSON can hold exactly, its digits as a text.
fn number(number: impl Into<i128>) -> Value {
    let number = number.into();
    i64::try_from(number).map_or_else(|_| Value::String(number.to_string()), Value::from)
}

fn print(answer: &Usage, args: &UsageArgs, currency: Option<&str>, ui: &mut Ui) -> Result<()> {
    if answer.totals.is_none() && answer.excluded.is_empty() {
        return Ok(ui.line("no usage recorded for that")?);
    }
    let title = by(args.by).as_str().to_uppercase();
    let mut header = vec![title.as_str(), "INPUT", "CACHED", "WRITTEN", "OUTPUT", "TOTAL"];
    header.extend(currency.map(|_| "COST"));
    let is_key = matches!(args.by, ByArg::Session | ByArg::Tree);
    let mut cells: Vec<Vec<String>> =
        answer.rows.iter().map(|row| row_cells(row, is_key, currency)).collect();
    if let Some(totals) = &answer.totals {
        cells.push(sum_cells("total", totals, currency));
    }
    table::align_right(&mut cells, &header, 1);
    for line in table::render(&header, &cells) {
        ui.line(&line)?;
    }
    let unpriced = answer.totals.iter().flat_map(|sum| &sum.unpriced);
    let unpriced: Vec<String> = unpriced
        .map(|model| one_line(model.as_deref().unwrap_or("a model that was not stated")))
        .collect();
    if !unpriced.is_empty() {
        ui.line(&format!("unpriced: {}", unpriced.join(", ")))?;
    }
    print_excluded(answer, args.explain, ui)
}

/// A conversation is shown by its native id, the last part of its key, as `sessions` does.
fn row_cells(row: &UsageRow, is_key: bool, currency: Option<&str>) -> Vec<String> {
    let key = row.key.as_deref().unwrap_or("not stated");
    let shown = if is_key { key.rsplit(':').next().unwrap_or(key) } else { key };
    sum_cells(&shorten(&one_line(shown), KEY_CHARS), &row.sum, currency)
}

fn sum_cells(key: &str, sum: &Sum, currency: Option<&str>) -> Vec<String> {
    let t = &sum.tokens;
    let shown = [t.input, t.cached_input, t.cache_write_input, t.output, t.total];
    let mut cells = vec![key.to_owned()];
    cells.extend(shown.into_iter().map(|amount| marked(amount, amount.known.to_string())));
    if let (Some(currency), Some(cost)) = (currency, sum.cost) {
        let micros = cost.micros();
        let (whole, part) = (micros.known / 1_000_000, micros.known % 1_000_000 / 100);
        cells.push(marked(micros, format!("{whole}.{part:04} {}", one_line(currency))));
    }
    cells
}

/// A number with the mark of its confidence.
fn marked(amount: Amount, text: String) -> String {
    match amount.confidence {
        Confidence::Exact => text,
        Confidence::LowerBound => Ui::tone(Tone::Doubt, &format!(">={text}")),
        Confidence::Unknown if amount.known == 0 => Ui::tone(Tone::Dim, "?"),
        Confidence::Unknown => Ui::tone(Tone::Doubt, &format!("{text}+?")),
    }
}

fn print_excluded(answer: &Usage, explain: bool, ui: &mut Ui) -> Result<()> {
    if answer.excluded.is_empty() {
        return Ok(());
    }
    let words: Vec<String> = answer
        .excluded
        .iter()
        .map(|(reason, left)| format!("{} {}", left.reports, reason.as_str().replace('_', " ")))
        .collect();
    let hint = if explain { "" } else { " (--explain lists them)" };
    ui.line(&Ui::tone(Tone::Dim, &format!("left out: {}{hint}", words.join(", "))))?;
    for one in &answer.explained {
        let place = one.seen.as_ref().map_or_else(|| "place unknown".to_owned(), place);
        let response = one.response.as_deref().map(|id| format!(" {id}")).unwrap_or_default();
        let text = format!("  {}{response}  {} tokens  {place}", one.reason.as_str(), one.tokens);
        ui.line(&one_line(&text))?;
    }
    Ok(())
}

fn place(seen: &SeenAt) -> String {
    format!("{}:{}+{} {}", seen.source, seen.offset, seen.length, seen.path)
}
