//! Lexemes into lists, pipelines and commands.
//!
//! Only as much grammar as exit statuses need: `&&`, `||`, `;`, `&`, `|`, `!`, groups. Conditions,
//! loops and function definitions are not modelled; a script that holds one is marked `compound`,
//! which makes every status in it unknown. Nesting is bounded.

use super::MAX_DEPTH;
use super::lexer::{Lexed, Lexeme, Word};

/// A list of pipelines and what stands after each.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Script {
    pub items: Vec<(Pipeline, Join)>,
    /// Holds a condition, a loop, a function, or something that could not be read.
    pub compound: bool,
}

/// What stands after a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    And,
    Or,
    /// `;`, a line break, or the end.
    Then,
    Background,
}

/// Commands joined by `|`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Pipeline {
    pub negated: bool,
    pub parts: Vec<Part>,
}

/// One part of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Simple(Vec<Word>),
    Group(Script),
}

/// Parses what the lexer found.
pub(super) fn parse(lexed: &Lexed) -> Script {
    let mut parser = Parser { lexemes: &lexed.lexemes, at: 0 };
    let mut script = parser.script(0, End::Input);
    while parser.at < lexed.lexemes.len() {
        // A stray `)`: what follows is still read, with unknown status.
        parser.at += 1;
        script.compound = true;
        script.items.extend(parser.script(0, End::Input).items);
    }
    script.compound |= !lexed.complete;
    script
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Input,
    Parenthesis,
    Brace,
}

struct Parser<'a> {
    lexemes: &'a [Lexeme],
    at: usize,
}

impl Parser<'_> {
    fn script(&mut self, depth: usize, end: End) -> Script {
        let mut script = Script::default();
        loop {
            let pipeline = self.pipeline(depth, &mut script.compound);
            let next = self.lexemes.get(self.at);
            let join = match next {
                Some(Lexeme::And) => Join::And,
                Some(Lexeme::Or) => Join::Or,
                Some(Lexeme::Background) => Join::Background,
                _ => Join::Then,
            };
            if !pipeline.parts.is_empty() {
                script.items.push((pipeline, join));
            }
            match next {
                None => break,
                Some(Lexeme::Close) => break,
                Some(Lexeme::Word(word)) if word.bare && word.text == "}" => {
                    if end == End::Brace {
                        break;
                    }
                    self.at += 1;
                    script.compound = true;
                }
                Some(Lexeme::Word(_) | Lexeme::Open) => script.compound = true,
                Some(_) => self.at += 1,
            }
        }
        script
    }

    fn pipeline(&mut self, depth: usize, compound: &mut bool) -> Pipeline {
        let mut pipeline = Pipeline::default();
        self.keywords(&mut pipeline.negated, compound);
        loop {
            if let Some(part) = self.part(depth, compound) {
                pipeline.parts.push(part);
            }
            if self.lexemes.get(self.at) != Some(&Lexeme::Pipe) {
                return pipeline;
            }
            self.at += 1;
            self.keywords(&mut false, compound);
        }
    }

    /// Takes `!` and the keywords of conditions and loops.
    fn keywords(&mut self, negated: &mut bool, compound: &mut bool) {
        while let Some(Lexeme::Word(word)) = self.lexemes.get(self.at) {
            match word.text.as_str() {
                "!" if word.bare => *negated = !*negated,
                "if" | "then" | "else" | "elif" | "fi" | "while" | "until" | "do" | "done"
                | "esac"
                    if word.bare =>
                {
                    *compound = true;
                }
                _ => return,
            }
            self.at += 1;
        }
    }

    fn part(&mut self, depth: usize, compound: &mut bool) -> Option<Part> {
        let end = match self.lexemes.get(self.at)? {
            Lexeme::Open => End::Parenthesis,
            Lexeme::Word(word) if word.bare && word.text == "{" => End::Brace,
            Lexeme::Word(_) => return self.simple(compound),
            _ => return None,
        };
        self.at += 1;
        if depth >= MAX_DEPTH {
            *compound = true;
            return None;
        }
        let group = self.script(depth + 1, end);
        // The closing sign, when there is one.
        *compound |= self.at >= self.lexemes.len();
        self.at += 1;
        Some(Part::Group(group))
    }

    fn simple(&mut self, compound: &mut bool) -> Option<Part> {
        let mut words = Vec::new();
        while let Some(Lexeme::Word(word)) = self.lexemes.get(self.at) {
            if words.is_empty() && word.bare {
                let text = word.text.as_str();
                if text == "}" {
                    return None;
                }
                *compound |= matches!(text, "for" | "case" | "select" | "function");
            }
            words.push(word.clone());
            self.at += 1;
        }
        // `name() {`: a definition runs nothing yet.
        *compound |= self.lexemes.get(self.at) == Some(&Lexeme::Open);
        Some(Part::Simple(words))
    }
}
