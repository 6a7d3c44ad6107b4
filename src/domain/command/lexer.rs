//! Shell words.
//!
//! Quotes, escapes, operators, comments, redirections and here-documents are understood; what only
//! a running shell knows (`$(...)`, back-ticks, `$name`) makes a word non-literal. Redirections and
//! the bodies of here-documents are dropped: they change where output goes, not what runs. One
//! pass, no recursion, and an unterminated quote is reported rather than guessed.

use super::MAX_COMMAND_BYTES;

/// A shell word after quote removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub text: String,
    /// False when a part of it is known to a running shell only.
    pub literal: bool,
    /// True when no part of it was quoted, so that it may be a keyword.
    pub bare: bool,
}

impl Word {
    pub(super) fn literal(text: &str) -> Self {
        Self { text: text.to_owned(), literal: true, bare: false }
    }
}

/// A word or an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lexeme {
    Word(Word),
    And,
    Or,
    Semicolon,
    Background,
    Pipe,
    Open,
    Close,
}

/// The lexemes of a command line.
#[derive(Debug, Default)]
pub(super) struct Lexed {
    pub lexemes: Vec<Lexeme>,
    /// False when a quote or substitution does not end, or the line is too long.
    pub complete: bool,
    /// Files that redirections write to.
    pub writes: Vec<Word>,
    /// True when a here-document or here-string feeds a command.
    pub fed: bool,
}

/// Cuts a command line into lexemes.
pub(super) fn lex(line: &str) -> Lexed {
    if line.len() > MAX_COMMAND_BYTES {
        return Lexed::default();
    }
    let mut lexer = Lexer { text: line, pos: 0, found: Lexed::default(), heredocs: Vec::new() };
    lexer.found.complete = lexer.run().is_some();
    lexer.found
}

struct Lexer<'a> {
    text: &'a str,
    pos: usize,
    found: Lexed,
    /// Here-documents whose bodies begin after the next line break.
    heredocs: Vec<String>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.pos..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, prefix: &str) -> bool {
        let eaten = self.rest().starts_with(prefix);
        if eaten {
            self.pos += prefix.len();
        }
        eaten
    }

    /// Moves past everything up to and with `end`; `None` when it does not come.
    fn past(&mut self, end: &str) -> Option<&'a str> {
        let rest = self.rest();
        let length = rest.find(end)?;
        self.pos += length + end.len();
        rest.get(..length)
    }

    fn run(&mut self) -> Option<()> {
        while let Some(c) = self.peek() {
            match c {
                '\n' => {
                    self.pos += 1;
                    self.found.lexemes.push(Lexeme::Semicolon);
                    self.skip_heredocs();
                }
                _ if c.is_whitespace() => self.pos += c.len_utf8(),
                '\\' if self.eat("\\\n") || self.eat("\\\r\n") => {}
                '#' => self.pos += self.rest().find('\n').unwrap_or(self.rest().len()),
                '<' | '>' => self.redirection()?,
                '&' if self.rest().starts_with("&>") => {
                    self.pos += 1;
                    self.redirection()?;
                }
                ';' | '&' | '|' | '(' | ')' => self.operator(),
                _ => self.word_or_descriptor()?,
            }
        }
        Some(())
    }

    fn operator(&mut self) {
        const OPERATORS: [(&str, Lexeme); 10] = [
            ("&&", Lexeme::And),
            ("||", Lexeme::Or),
            (";;", Lexeme::Semicolon),
            (";&", Lexeme::Semicolon),
            ("|&", Lexeme::Pipe),
            (";", Lexeme::Semicolon),
            ("&", Lexeme::Background),
            ("|", Lexeme::Pipe),
            ("(", Lexeme::Open),
            (")", Lexeme::Close),
        ];
        for (sign, lexeme) in OPERATORS {
            if self.eat(sign) {
                self.found.lexemes.push(lexeme);
                return;
            }
        }
        self.pos += 1;
    }

    /// `>file`, `2>&1`, `<<EOF`, `<<<word`, `>(command)`.
    fn redirection(&mut self) -> Option<()> {
        const SIGNS: [&str; 9] = ["<<<", "<<-", ">>", ">&", ">|", "<&", "<>", "<<", ">"];
        let sign = SIGNS.into_iter().find(|sign| self.eat(sign));
        if sign.is_none() {
            self.pos += 1;
        }
        if self.peek() == Some('(') {
            self.pos += 1;
            return self.substitution();
        }
        while self.peek().is_some_and(|c| c == ' ' || c == '\t') {
            self.pos += 1;
        }
        if self.peek().is_none_or(is_meta) {
            return (self.peek() != Some('(')).then_some(()).or_else(|| self.parenthesised());
        }
        let target = self.word()?;
        let descriptor =
            target.text == "-" || target.text.bytes().all(|byte| byte.is_ascii_digit());
        self.found.fed |= matches!(sign, Some("<<" | "<<-" | "<<<"));
        match sign {
            Some("<<" | "<<-") => self.heredocs.push(target.text),
            Some(">>" | ">|" | ">" | "<>") => self.found.writes.push(target),
            Some(">&") if !descriptor => self.found.writes.push(target),
            _ => {}
        }
        Some(())
    }

    /// `> >(tee log)`: a process as the target.
    fn parenthesised(&mut self) -> Option<()> {
        self.pos += 1;
        self.substitution()
    }

    fn skip_heredocs(&mut self) {
        for end in std::mem::take(&mut self.heredocs) {
            while !self.rest().is_empty() {
                let rest = self.rest();
                let length = rest.find('\n').map_or(rest.len(), |at| at + 1);
                self.pos += length;
                if rest.get(..length).is_some_and(|line| line.trim() == end) {
                    break;
                }
            }
        }
    }

    fn word_or_descriptor(&mut self) -> Option<()> {
        let word = self.word()?;
        let descriptor = word.bare && !word.text.is_empty();
        let descriptor = descriptor && word.text.bytes().all(|byte| byte.is_ascii_digit());
        if !(descriptor && matches!(self.peek(), Some('<' | '>'))) {
            self.found.lexemes.push(Lexeme::Word(word));
        }
        Some(())
    }

    fn word(&mut self) -> Option<Word> {
        let mut word = Word { text: String::new(), literal: true, bare: true };
        while let Some(c) = self.peek() {
            if is_meta(c) {
                break;
            }
            self.pos += c.len_utf8();
            word.bare &= !matches!(c, '\\' | '\'' | '"');
            match c {
                '\\' => self.escape(&mut word),
                '\'' => word.text.push_str(self.past("'")?),
                '"' => self.double_quoted(&mut word)?,
                '$' => self.dollar(&mut word)?,
                '`' => {
                    word.literal = false;
                    word.text.push_str(self.past("`")?);
                }
                _ => word.text.push(c),
            }
        }
        Some(word)
    }

    fn escape(&mut self, word: &mut Word) {
        let Some(c) = self.peek() else { return };
        self.pos += c.len_utf8();
        if c != '\n' {
            word.text.push(c);
        }
    }

    fn double_quoted(&mut self, word: &mut Word) -> Option<()> {
        loop {
            let c = self.peek()?;
            self.pos += c.len_utf8();
            match c {
                '"' => return Some(()),
                '\\' if matches!(self.peek(), Some('"' | '\\' | '$' | '`' | '\n')) => {
                    self.escape(word);
                }
                '$' if self.peek() == Some('\'') => word.text.push('$'),
                '$' => self.dollar(word)?,
                '`' => {
                    word.literal = false;
                    self.past("`")?;
                }
                _ => word.text.push(c),
            }
        }
    }

    /// After a `$`.
    fn dollar(&mut self, word: &mut Word) -> Option<()> {
        match self.peek() {
            Some('(') => {
                self.pos += 1;
                word.literal = false;
                let start = self.pos;
                self.substitution()?;
                word.text.push_str("$(");
                word.text.push_str(self.text.get(start..self.pos).unwrap_or_default());
            }
            Some('{') => {
                word.literal = false;
                word.text.push('$');
                word.text.push_str(self.past("}")?);
            }
            Some('\'') => {
                self.pos += 1;
                word.bare = false;
                word.text.push_str(self.past("'")?);
            }
            Some(c) if c.is_alphanumeric() || matches!(c, '_' | '@' | '*' | '#' | '?' | '!') => {
                word.literal = false;
                word.text.push('$');
            }
            _ => word.text.push('$'),
        }
        Some(())
    }

    /// After `$(` or `<(`: moves past the matching parenthesis, quotes respected.
    fn substitution(&mut self) -> Option<()> {
        let mut open = 1_usize;
        while open > 0 {
            let c = self.peek()?;
            self.pos += c.len_utf8();
            match c {
                '(' => open += 1,
                ')' => open -= 1,
                '\'' => {
                    self.past("'")?;
                }
                '"' => {
                    let mut skipped = Word::literal("");
                    self.double_quoted_flat(&mut skipped)?;
                }
                '\\' => self.pos += self.peek().map_or(0, char::len_utf8),
                _ => {}
            }
        }
        Some(())
    }

    /// A double-quoted part inside a substitution, without looking into it (no recursion).
    fn double_quoted_flat(&mut self, skipped: &mut Word) -> Option<()> {
        loop {
            let c = self.peek()?;
            self.pos += c.len_utf8();
            match c {
                '"' => return Some(()),
                '\\' => self.escape(skipped),
                _ => {}
            }
        }
    }
}

fn is_meta(c: char) -> bool {
    c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>' | '(' | ')')
}
