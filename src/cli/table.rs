//! Aligned columns, by the width a terminal gives each text.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Lines of a table: a column is as wide as its widest cell, the last one is not padded.
pub fn render(header: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let mut widths: Vec<usize> = header.iter().map(|h| h.width()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(visible_width(cell));
        }
    }
    let head: Vec<String> = header.iter().map(|h| (*h).to_owned()).collect();
    std::iter::once(&head).chain(rows).map(|row| line(row, &widths)).collect()
}

/// A column with what it is worth when the width does not do for all.
pub struct Column {
    pub header: &'static str,
    /// Of columns that do not fit, the lowest goes first; 0 never goes.
    pub worth: u8,
    pub cells: Vec<String>,
}

/// Characters that the last column needs at least.
const LAST_MIN: usize = 24;

/// As `render`, in at most `width` characters: columns of little worth go, then the cells of the
/// last column are shortened. Without a width nothing goes.
pub fn render_within(mut columns: Vec<Column>, width: Option<usize>) -> Vec<String> {
    let wide = |c: &Column| {
        let cells = c.cells.iter().map(|cell| visible_width(cell)).max().unwrap_or(0);
        cells.max(c.header.width()) + 2
    };
    let before_last =
        |columns: &[Column]| -> usize { columns.iter().rev().skip(1).map(wide).sum() };
    if let Some(width) = width {
        while before_last(&columns) + LAST_MIN > width {
            let least = columns.iter().map(|c| c.worth).filter(|worth| *worth > 0).min();
            let Some(least) = least else { break };
            columns.retain(|c| c.worth != least);
        }
        let left = width.saturating_sub(before_last(&columns)).max(8);
        if let Some(last) = columns.last_mut() {
            for cell in &mut last.cells {
                *cell = fit(cell, left);
            }
        }
    }
    let header: Vec<&str> = columns.iter().map(|c| c.header).collect();
    let count = columns.first().map_or(0, |c| c.cells.len());
    let cell = |c: &Column, n: usize| c.cells.get(n).cloned().unwrap_or_default();
    let rows: Vec<Vec<String>> =
        (0..count).map(|n| columns.iter().map(|c| cell(c, n)).collect()).collect();
    render(&header, &rows)
}

/// Text in at most `width` columns of a terminal, with `...` where some was left out. The text has
/// no colour codes.
pub fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used + 3 > width {
            break;
        }
        kept.push(c);
    }
    kept.push_str("...");
    kept
}

/// Pads the cells of every column from `from` on so that numbers stand under each other.
pub fn align_right(rows: &mut [Vec<String>], header: &[&str], from: usize) {
    for column in from..header.len() {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let head = header.get(column).map_or(0, |h| h.width());
        let width = cells.map(|cell| visible_width(cell)).max().unwrap_or(0).max(head);
        for cell in rows.iter_mut().filter_map(|row| row.get_mut(column)) {
            let missing = width.saturating_sub(visible_width(cell));
            cell.insert_str(0, &" ".repeat(missing));
        }
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut out = String::new();
    for (index, (cell, width)) in row.iter().zip(widths).enumerate() {
        if index > 0 {
            out.push_str("  ");
        }
        out.push_str(cell);
        if index + 1 < row.len() {
            out.push_str(&" ".repeat(width.saturating_sub(visible_width(cell))));
        }
    }
    out.trim_end().to_owned()
}

/// Width without colour codes (which only this program writes).
fn visible_width(cell: &str) -> usize {
    let mut plain = String::with_capacity(cell.len());
    let mut in_code = false;
    for c in cell.chars() {
        match c {
            '\u{1b}' => in_code = true,
            'm' if in_code => in_code = false,
            _ if in_code => {}
            c => plain.push(c),
        }
    }
    plain.width()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        let column = |header, worth, cell: &str| Column { header, worth, cells: vec![cell.into()] };
        vec![
            column("ID", 0, "abcdefgh"),
            column("MODEL", 1, "a-long-model-name"),
            column("AGENT", 2, "codex"),
            column("WHAT", 0, "a rather long title of a session"),
        ]
    }

    #[test]
    fn a_table_keeps_to_its_width_by_what_columns_are_worth() {
        assert_eq!(render_within(columns(), None)[1].width(), 10 + 19 + 7 + 32);
        let narrow = render_within(columns(), Some(50));
        assert_eq!(narrow[0], "ID        AGENT  WHAT");
        assert_eq!(narrow[1], "abcdefgh  codex  a rather long title of a session");
        let narrower = render_within(columns(), Some(36));
        assert_eq!(narrower[1], "abcdefgh  a rather long title of ...");
        assert_eq!(render_within(columns(), Some(1))[1], "abcdefgh  a rat...");
    }

    #[test]
    fn fitting_counts_what_a_terminal_shows() {
        assert_eq!(fit("\u{4e2d}\u{6587}\u{4e2d}\u{6587}", 7), "\u{4e2d}\u{6587}...");
        assert_eq!(fit("short", 5), "short");
    }

    #[test]
    fn wide_characters_and_colour_codes_do_not_shift_columns() {
        let rows = vec![
            vec!["\u{4e2d}\u{6587}".to_owned(), "x".to_owned()],
            vec!["\u{1b}[31mab\u{1b}[0m".to_owned(), "y".to_owned()],
        ];
        let lines = render(&["n", "v"], &rows);
        assert_eq!(lines[0], "n     v");
        assert_eq!(lines[1], "\u{4e2d}\u{6587}  x");
        assert_eq!(lines[2], "\u{1b}[31mab\u{1b}[0m    y");
    }
}
