//! Rows of an output shared among threads. Which thread computes a row does not change its bits.

use std::sync::OnceLock;
use std::thread;

/// Operations below which a thread costs more than it saves.
const ALONE: usize = 1 << 21;

fn threads() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

/// Calls `run(first row, rows)` on parts of `output`, whose rows have `width` elements; `work` is what a row costs.
pub fn rows<T: Send>(output: &mut [T], width: usize, work: usize, run: impl Fn(usize, &mut [T]) + Sync) {
    rows_of_two((output, width), (&mut [] as &mut [u8], 0), work, |first, rows, _| run(first, rows));
}

/// The same of two outputs that have as many rows.
pub fn rows_of_two<A: Send, B: Send>(
    (a, a_width): (&mut [A], usize),
    (b, b_width): (&mut [B], usize),
    work: usize,
    run: impl Fn(usize, &mut [A], &mut [B]) + Sync,
) {
    let count = a.len() / a_width;
    let parts = if count.saturating_mul(work) < ALONE { 1 } else { threads().min(count) };
    let each = count.div_ceil(parts.max(1));
    let run = &run;
    thread::scope(|scope| {
        let (mut a, mut b, mut first) = (a, b, 0);
        while count - first > each {
            let (a_part, a_rest) = a.split_at_mut(each * a_width);
            let (b_part, b_rest) = b.split_at_mut(each * b_width);
            let start = first;
            scope.spawn(move || run(start, a_part, b_part));
            (a, b, first) = (a_rest, b_rest, first + each);
        }
        run(first, a, b);
    });
}
