//! `fornax search`.

use crate::app::lookup;
use crate::app::readback::ReadBack;
use crate::app::search::{Excerpt, catch_up, excerpt, phrases};
use crate::base::text::one_line;
use crate::base::time::Micros;
use crate::cli::args::{SearchArgs, SearchIn};
use crate::cli::command::sessions::since;
use crate::cli::exit::Exit;
use crate::cli::parts::Parts;
use crate::cli::ui::{Tone, Ui};
use crate::domain::event::EventKind;
use crate::domain::loss::LossReason;
use crate::ports::reader::Reader;
use crate::ports::search::{Field, Hit, SearchQuery};
use crate::ports::store::Store;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// Events told without `--limit`.
const SHOWN: usize = 20;
/// Characters of an excerpt.
const EXCERPT_CHARS: usize = 200;

/// Looks words up in what was recorded.
pub(super) fn run(args: &SearchArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let phrases = phrases(&args.words);
    if phrases.is_empty() && !args.rebuild && !args.drop {
        return Err(Exit::usage("no word to look for; try: fornax search rounding").into());
    }
    let mut store = parts.store(false, None, &|text| ui.note(text)).context("cannot search")?;
    if args.drop || args.rebuild {
        store.search_index().drop_index()?;
    }
    if !args.drop {
        bring_up_to_date(store.as_mut(), ui)?;
    }
    if phrases.is_empty() {
        return Ok(0);
    }
    let query = query(args, phrases, parts, store.reader())?;
    let found = store.search_index().search(&query)?;
    let mut readback = ReadBack::new(parts.files.as_ref(), &parts.families, store.reader(), false);
    let mut told = Vec::new();
    for hit in &found.hits {
        let around = excerpt(&mut readback, hit, &query, EXCERPT_CHARS);
        told.push((hit, around.map_err(super::read::failure)?));
    }
    let cut = cut_bytes(store.reader())?;
    if ui.json {
        let results: Vec<Value> = told.iter().map(|(hit, around)| as_json(hit, around)).collect();
        ui.json(&json!({ "results": results, "more": found.more, "cut_bytes": cut }))?;
    } else {
        print(&told, ui)?;
        if found.more {
            ui.note("more match; narrow the search or raise --limit");
        }
    }
    if told.is_empty() {
        let beyond = if cut == 0 {
            String::new()
        } else {
            format!("; {cut} bytes of text lay beyond what is stored, and are not searched")
        };
        return Err(Exit::no(format!("nothing matches{beyond}")).into());
    }
    Ok(0)
}

fn bring_up_to_date(store: &mut dyn Store, ui: &Ui) -> Result<()> {
    let bar = ui.count_bar("indexing");
    catch_up(store.search_index(), &mut |done, left| {
        bar.set_length(done + left);
        bar.set_position(done);
        true
    })
    .context("the index could not be brought up to date")?;
    bar.finish_and_clear();
    Ok(())
}

fn query(
    args: &SearchArgs,
    phrases: Vec<(String, bool)>,
    parts: &Parts,
    reader: &dyn Reader,
) -> Result<SearchQuery> {
    let conversation = match &args.session {
        Some(word) => Some(lookup::by_word(reader, word)?.id),
        None => None,
    };
    let kind = |kind: EventKind| Some(kind.as_str().to_owned());
    let (field, kind) = match args.place {
        None => (None, None),
        Some(SearchIn::Prompts) => (Some(Field::Said), kind(EventKind::UserPromptSubmit)),
        Some(SearchIn::Answers) => (Some(Field::Said), kind(EventKind::AssistantMessage)),
        Some(SearchIn::Inputs) => (Some(Field::Input), None),
        Some(SearchIn::Results) => (Some(Field::Result), None),
    };
    Ok(SearchQuery {
        phrases,
        field,
        kind,
        conversation,
        provider: args.provider.clone(),
        since_us: since(args.since.as_deref(), parts)?,
        until_us: since(args.until.as_deref(), parts)?,
        limit: args.limit.unwrap_or(SHOWN),
    })
}

/// Bytes of text that were cut when they were stored: what lies beyond the cut cannot be found.
fn cut_bytes(reader: &dyn Reader) -> Result<i64> {
    let cut = LossReason::TextCut;
    let losses = reader.losses(None)?;
    Ok(losses.iter().filter(|loss| loss.reason == cut.as_str()).map(|loss| loss.count).sum())
}

fn print(told: &[(&Hit, Excerpt)], ui: &mut Ui) -> Result<()> {
    for (hit, around) in told {
        let id: String = hit.native_id.chars().take(8).collect();
        let what = match &hit.tool_name {
            Some(tool) => format!("{} {}", one_line(tool), hit.field.as_str()),
            None => hit.kind.clone(),
        };
        let head = format!(
            "{}  {} {}  {}",
            Micros(hit.at_us).human(),
            one_line(&hit.provider),
            one_line(&id),
            one_line(&what),
        );
        ui.line(&Ui::tone(Tone::Strong, &head))?;
        ui.line(&format!("  {}", one_line(&around.text)))?;
        if let Some(locator) = hit.seen.locator() {
            let stored = match &around.unavailable {
                Some(reason) => format!(" (as stored: {})", reason.as_str()),
                None => String::new(),
            };
            let place = format!("  {}{stored}", one_line(&locator.to_string()));
            ui.line(&Ui::tone(Tone::Dim, &place))?;
        }
    }
    Ok(())
}

fn as_json(hit: &Hit, around: &Excerpt) -> Value {
    json!({
        "conversation": hit.conversation,
        "provider": hit.provider,
        "native_id": hit.native_id,
        "event_id": hit.event_id,
        "kind": hit.kind,
        "tool_name": hit.tool_name,
        "at": Micros(hit.at_us).rfc3339(),
        "field": hit.field.as_str(),
        "excerpt": around.text,
        "unavailable": around.unavailable.as_ref().map(|reason| reason.as_str()),
        "seen": hit.seen,
    })
}
