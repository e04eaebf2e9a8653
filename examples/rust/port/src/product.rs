//! One routine for every product of matrices: blocks of both factors are packed, tiles of the result stay in registers.

use std::cell::RefCell;

/// A matrix that is read: element (i, j) is `data[i * row + j * column]`.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub data: &'a [f32],
    pub row: usize,
    pub column: usize,
}

impl<'a> View<'a> {
    /// Rows of `width` elements.
    pub fn plain(data: &'a [f32], width: usize) -> Self {
        View { data, row: width, column: 1 }
    }

    /// The transpose of a matrix whose rows have `width` elements.
    pub fn transposed(data: &'a [f32], width: usize) -> Self {
        View { data, row: 1, column: width }
    }

    /// Without its first `count` rows.
    pub fn below(self, count: usize) -> Self {
        View { data: &self.data[(count * self.row).min(self.data.len())..], ..self }
    }
}

const DEPTH: usize = 256; // of a block: a packed strip of rows stays in the first cache
const COLUMNS: usize = 1024; // of a block: its packed columns stay in the second
const LARGEST: usize = 8 * 32; // tile

/// A tile of `rows` x `columns`: the sums over the depth of a packed strip times a packed panel, written to the array.
struct Kernel {
    rows: usize,
    columns: usize,
    run: fn(&[f32], &[f32], &mut [f32; LARGEST]),
}

thread_local! {
    /// What `multiply` packs into: kept, as memory that is new costs more than a small product.
    static PACKED: RefCell<(Vec<f32>, Vec<f32>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

/// At least so many elements, whatever they hold.
fn room(memory: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if memory.len() < length {
        memory.resize(length, 0.0);
    }
    &mut memory[..length]
}

/// c = alpha * a . b + beta * c, of depth `k`; row i of c begins at `i * stride`. With beta = 0 c is not read.
pub fn multiply(
    a: View,
    b: View,
    (m, n, k): (usize, usize, usize),
    alpha: f32,
    beta: f32,
    c: &mut [f32],
    stride: usize,
) {
    let kernel = kernel();
    let mut packed = PACKED.take();
    let panels = room(&mut packed.0, DEPTH.min(k) * COLUMNS.min(n).next_multiple_of(kernel.columns));
    let strip = room(&mut packed.1, DEPTH.min(k) * kernel.rows);
    let mut tile = [0.0; LARGEST];
    if k == 0 {
        for row in c.chunks_mut(stride).take(m) {
            row[..n].iter_mut().for_each(|c| *c = if beta == 0.0 { 0.0 } else { beta * *c });
        }
    }
    for left in (0..n).step_by(COLUMNS) {
        let width = COLUMNS.min(n - left);
        for start in (0..k).step_by(DEPTH) {
            let depth = DEPTH.min(k - start);
            let beta = if start == 0 { beta } else { 1.0 };
            pack(b, left..left + width, start..start + depth, kernel.columns, panels);
            for top in (0..m).step_by(kernel.rows) {
                let height = kernel.rows.min(m - top);
                let turned = View { data: a.data, row: a.column, column: a.row };
                pack(turned, top..top + height, start..start + depth, kernel.rows, strip);
                for (number, panel) in
                    panels.chunks(depth * kernel.columns).take(width.div_ceil(kernel.columns)).enumerate()
                {
                    (kernel.run)(&strip[..depth * kernel.rows], panel, &mut tile);
                    let at = number * kernel.columns;
                    let columns = kernel.columns.min(width - at);
                    for (i, sums) in tile.chunks(kernel.columns).take(height).enumerate() {
                        let c = &mut c[(top + i) * stride + left + at..][..columns];
                        put(&sums[..columns], alpha, beta, c);
                    }
                }
            }
        }
    }
    PACKED.set(packed);
}

fn put(sums: &[f32], alpha: f32, beta: f32, c: &mut [f32]) {
    if beta == 0.0 {
        c.iter_mut().zip(sums).for_each(|(c, sum)| *c = alpha * sum);
    } else {
        c.iter_mut().zip(sums).for_each(|(c, sum)| *c = alpha * sum + beta * *c);
    }
}

/// Lays out `columns` of a matrix in panels of `width`, row by row, the last one filled with zeros.
fn pack(from: View, columns: std::ops::Range<usize>, rows: std::ops::Range<usize>, width: usize, to: &mut [f32]) {
    let depth = rows.len();
    for (first, panel) in columns.clone().step_by(width).zip(to.chunks_mut(depth * width)) {
        let count = width.min(columns.end - first);
        if count < width {
            panel.fill(0.0);
        }
        if from.column == 1 {
            for (row, to) in rows.clone().zip(panel.chunks_mut(width)) {
                to[..count].copy_from_slice(&from.data[row * from.row + first..][..count]);
            }
        } else {
            for j in 0..count {
                let column = &from.data[(first + j) * from.column + rows.start * from.row..];
                let values = column.iter().step_by(from.row);
                panel[j..].iter_mut().step_by(width).zip(values).for_each(|(to, value)| *to = *value);
            }
        }
    }
}

/// The largest tile that the registers of this machine hold.
fn kernel() -> Kernel {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: each is called where the machine has what it was compiled for.
        if is_x86_feature_detected!("avx512f") {
            return Kernel { rows: 8, columns: 32, run: |a, b, tile| unsafe { x86::avx512(a, b, tile) } };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Kernel { rows: 6, columns: 16, run: |a, b, tile| unsafe { x86::avx2(a, b, tile) } };
        }
    }
    Kernel { rows: 4, columns: 8, run: plain }
}

fn plain(a: &[f32], b: &[f32], tile: &mut [f32; LARGEST]) {
    let mut sums = [[0.0; 8]; 4];
    for (a, b) in a.chunks_exact(4).zip(b.chunks_exact(8)) {
        for (sums, a) in sums.iter_mut().zip(a) {
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
    }
    for (to, sums) in tile.chunks_mut(8).zip(sums) {
        to.copy_from_slice(&sums);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::LARGEST;
    use std::arch::x86_64::*;

    macro_rules! tile {
        ($name:ident, $features:literal, $lanes:literal, $rows:literal, $zero:ident, $load:ident, $spread:ident, $add:ident, $store:ident) => {
            #[target_feature(enable = $features)]
            pub unsafe fn $name(a: &[f32], b: &[f32], tile: &mut [f32; LARGEST]) {
                let mut sums = [[$zero(); 2]; $rows];
                for (a, b) in a.chunks_exact($rows).zip(b.chunks_exact(2 * $lanes)) {
                    // SAFETY: b has two vectors.
                    let (left, right) = unsafe { ($load(b.as_ptr()), $load(b.as_ptr().add($lanes))) };
                    for i in 0..$rows {
                        let factor = $spread(a[i]);
                        sums[i] = [$add(factor, left, sums[i][0]), $add(factor, right, sums[i][1])];
                    }
                }
                for (to, sums) in tile.chunks_exact_mut(2 * $lanes).zip(sums) {
                    // SAFETY: `to` has room for two vectors.
                    unsafe {
                        $store(to.as_mut_ptr(), sums[0]);
                        $store(to.as_mut_ptr().add($lanes), sums[1]);
                    }
                }
            }
        };
    }
    tile!(
        avx512,
        "avx512f",
        16,
        8,
        _mm512_setzero_ps,
        _mm512_loadu_ps,
        _mm512_set1_ps,
        _mm512_fmadd_ps,
        _mm512_storeu_ps
    );
    tile!(
        avx2,
        "avx2,fma",
        8,
        6,
        _mm256_setzero_ps,
        _mm256_loadu_ps,
        _mm256_set1_ps,
        _mm256_fmadd_ps,
        _mm256_storeu_ps
    );
}
