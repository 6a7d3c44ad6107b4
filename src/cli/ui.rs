//! The only printer: results on stdout, talk on stderr, colour only on a terminal.
//!
//! Text that came from outside goes through `base::text` before it is printed, so that nothing an
//! agent wrote can steer the terminal.

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal as _, Write};

/// What a word means, for its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Good,
    Bad,
    Doubt,
    Dim,
    Strong,
}

/// The printer.
pub struct Ui {
    out: AutoStream<io::Stdout>,
    choice: ColorChoice,
    /// Print documented JSON instead of text.
    pub json: bool,
}

impl Ui {
    /// A printer; `color` is `auto`, `always` or `never`.
    pub fn new(color: &str, json: bool) -> Self {
        let choice = match color {
            "always" => ColorChoice::Always,
            "never" => ColorChoice::Never,
            _ => ColorChoice::Auto,
        };
        Self { out: AutoStream::new(io::stdout(), choice), choice, json }
    }

    /// One line of results.
    ///
    /// # Errors
    /// When stdout cannot be written (a broken pipe ends the program quietly).
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    /// One JSON document.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn json(&mut self, value: &serde_json::Value) -> io::Result<()> {
        writeln!(self.out, "{value}")
    }

    /// Columns of the terminal that stdout is; `None` when it is none.
    pub fn width(&self) -> Option<usize> {
        if !io::stdout().is_terminal() {
            return None;
        }
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
        Some(size.map(|size| usize::from(size.ws_col)).filter(|width| *width > 0).unwrap_or(80))
    }

    /// Pushes out what was printed.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// One line of talk on stderr; failing to talk is no failure.
    pub fn note(&self, text: &str) {
        let mut err = AutoStream::new(io::stderr(), self.choice);
        let _ = writeln!(err, "fornax: {text}");
    }

    /// Text in a tone.
    pub fn tone(tone: Tone, text: &str) -> String {
        let style = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Good => Style::new().fg_color(Some(AnsiColor::Green.into())),
            Tone::Bad => Style::new().fg_color(Some(AnsiColor::Red.into())).bold(),
            Tone::Doubt => Style::new().fg_color(Some(AnsiColor::Yellow.into())),
            Tone::Dim => Style::new().dimmed(),
            Tone::Strong => Style::new().bold(),
        };
        format!("{style}{text}{style:#}")
    }

    /// A progress bar over a number of things; hidden as the other.
    pub fn count_bar(&self, what: &'static str) -> ProgressBar {
        if self.json || !io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg} {pos}/{len} {wide_bar} {eta}") {
            bar.set_style(style);
        }
        bar.set_message(what);
        bar
    }

    /// A progress bar over bytes; hidden unless stderr is a terminal and text is wanted.
    pub fn bytes_bar(&self) -> ProgressBar {
        if self.json || !io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let template = "{spinner} {bytes}/{total_bytes} {wide_bar} {bytes_per_sec} {eta}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar
    }
}

/// Prints an error in one line on stderr.
pub fn print_error(error: &anyhow::Error) {
    let text = crate::base::text::one_line(&format!("{error:#}"));
    let mut err = AutoStream::new(io::stderr(), ColorChoice::Auto);
    let _ = writeln!(err, "fornax: {text}");
}
