//! Aligned columns, by the width a terminal gives each text.

use unicode_width::UnicodeWidthStr as _;

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
